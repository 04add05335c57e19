"""Files of tifffile in all forms that are read, and what tifffile reads from them.

``python tiff_files.py FOLDER`` writes those that are the fixtures of the tests in Rust.
"""

from __future__ import annotations

import base64
import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tifffile

Case = tuple[str, list[dict[str, Any]], dict[str, Any]]


def pixels(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray[Any, Any]:
    """Smooth values with some noise, which compress as pictures do."""
    random = np.random.default_rng(seed)
    count = int(np.prod(shape))
    base = (np.arange(count).reshape(shape) // 3 + random.integers(0, 9, shape)) % 251
    if dtype == "bool":
        return base % 2 == 0
    if np.dtype(dtype).kind == "c":
        return (base + 1j * base[..., ::-1]).astype(dtype)
    if np.dtype(dtype).kind == "f":
        return (base / 7 - 9).astype(dtype)
    return (base * 3 - (90 if np.dtype(dtype).kind == "i" and np.dtype(dtype).itemsize > 1 else 0)).astype(dtype)


def cases() -> Iterator[Case]:
    """Names, the arguments of each ``write``, and those of the file."""

    def one(name: str, data: Any, file: dict[str, Any] | None = None, **arguments: Any) -> Case:
        return name, [{"data": data, **arguments}], file or {}

    types = "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()
    for dtype in types:
        yield one(f"strips_{dtype}", pixels(dtype, (37, 29)), metadata=None)
    for dtype in ["uint16", "float32", "complex64", "float16"]:
        yield one(f"big_endian_{dtype}", pixels(dtype, (37, 29)), {"byteorder": ">"}, metadata=None)
        yield one(f"bigtiff_{dtype}", pixels(dtype, (37, 29)), {"bigtiff": True}, tile=(16, 32), metadata=None)
    for compression in ["lzw", "zlib", "deflate", "packbits", "zstd"]:
        for order in "<>":
            named = {"<": "little", ">": "big"}[order]
            file = {"byteorder": order, "bigtiff": order == ">"}
            yield one(f"{compression}_{named}_strips", pixels("uint16", (45, 61)), file, compression=compression, rowsperstrip=10)
            yield one(f"{compression}_{named}_tiles", pixels("uint16", (45, 61, 3)), file, compression=compression, tile=(16, 32), photometric="rgb")
    for dtype in ["uint8", "uint16", "uint32", "int64"]:
        yield one(f"differences_{dtype}", pixels(dtype, (33, 40, 3)), compression="lzw", predictor=2, tile=(16, 16), photometric="rgb")
    yield one("differences_big", pixels("uint16", (33, 40)), {"byteorder": ">"}, compression="zlib", predictor=2, rowsperstrip=7)
    yield one("differences_zstd", pixels("uint32", (33, 40)), compression="zstd", predictor=2, rowsperstrip=7)
    for dtype in ["float16", "float32", "float64"]:
        yield one(f"floats_{dtype}", pixels(dtype, (33, 40)), compression="zlib", predictor=3, tile=(16, 16))
        yield one(f"floats_{dtype}_big", pixels(dtype, (33, 40, 2)), {"byteorder": ">"}, compression="lzw", predictor=3, planarconfig="contig")
    yield one("planes", pixels("uint8", (3, 33, 40)), planarconfig="separate", photometric="rgb")
    yield one("planes_tiles", pixels("uint16", (3, 33, 40)), planarconfig="separate", photometric="rgb", tile=(16, 16), compression="zlib")
    yield one("planes_differences", pixels("uint16", (2, 33, 40)), planarconfig="separate", compression="lzw", predictor=2, rowsperstrip=8)
    yield one("samples", pixels("uint16", (33, 40, 5)), planarconfig="contig", photometric="minisblack")
    yield one("bits_packed", pixels("bool", (33, 45)), compression="packbits")
    yield one("bits_tiles", pixels("bool", (33, 45)), tile=(16, 16))
    yield one("palette", pixels("uint8", (20, 30)), photometric="palette", colormap=np.arange(768, dtype="uint16").reshape(3, 256) * 80)
    yield one("pages", pixels("uint16", (5, 20, 30)), compression="zlib", metadata=None)
    yield one("shaped", pixels("uint8", (2, 3, 20, 30)))
    yield one("shaped_axes", pixels("uint8", (2, 3, 4, 12, 16)), metadata={"axes": "TZCYX"}, photometric="minisblack")
    yield one("shaped_uint8_planes", pixels("uint8", (3, 20, 30)), photometric="minisblack")
    yield one("shaped_rgb", pixels("uint8", (4, 20, 30, 3)), photometric="rgb")
    yield one("shaped_one_directory", pixels("uint16", (6, 20, 30)), truncate=True)
    yield "series", [{"data": pixels("uint8", (20, 30))}, {"data": pixels("uint16", (3, 10, 12)), "photometric": "minisblack"}, {"data": pixels("float32", (7, 9))}], {}
    yield "different_pages", [{"data": pixels("uint8", (20, 30)), "metadata": None}, {"data": pixels("uint8", (9, 7)), "metadata": None}], {}
    levels = [pixels("uint16", (64 >> level, 48 >> level), level) for level in range(3)]
    tiles = {"tile": (16, 16), "compression": "zlib"}
    yield "levels_below", [{"data": levels[0], "subifds": 2, **tiles}, *({"data": level, "subfiletype": 1, **tiles} for level in levels[1:])], {}
    yield "levels_after", [{"data": level, "subfiletype": int(number > 0), "metadata": None, **tiles} for number, level in enumerate(levels)], {}
    stack = {"unit": "um", "spacing": 0.5, "finterval": 0.25}
    yield one("imagej", pixels("uint16", (2, 3, 2, 12, 16)), {"imagej": True}, metadata={"axes": "TZCYX", **stack}, resolution=(4.0, 4.0))
    yield one("imagej_rgb", pixels("uint8", (3, 20, 30, 3)), {"imagej": True}, metadata={"axes": "ZYXS"})
    yield one("imagej_one_directory", pixels("uint16", (4, 20, 30)), {"imagej": True}, metadata={"axes": "TYX"}, truncate=True)
    yield one("imagej_plane", pixels("float32", (20, 30)), {"imagej": True}, metadata={"min": 0.0, "max": 9.0})
    sizes = {"PhysicalSizeX": 0.25, "PhysicalSizeY": 0.5, "PhysicalSizeZ": 2.0, "TimeIncrement": 0.1}
    ome = {"ome": True}
    yield one("ome_tczyx", pixels("uint16", (2, 2, 3, 12, 16)), ome, metadata={"axes": "TCZYX", **sizes, "Channel": {"Name": ["DAPI", "GFP"]}})
    yield one("ome_zctyx", pixels("uint8", (3, 2, 4, 20, 30)), ome, metadata={"axes": "ZCTYX"}, compression="lzw")
    yield one("ome_rgb", pixels("uint8", (4, 20, 30, 3)), ome, metadata={"axes": "ZYXS"}, photometric="rgb", compression="zlib")
    yield one("ome_planes", pixels("uint16", (2, 3, 20, 30)), ome, metadata={"axes": "TCYX"}, photometric="minisblack")
    yield "ome_levels", [{"data": pixels("uint16", (2, 32, 48)), "subifds": 1, "metadata": {"axes": "CYX"}, **tiles}, {"data": pixels("uint16", (2, 16, 24)), "subfiletype": 1, **tiles}], {"ome": True, "bigtiff": True}
    yield "ome_images", [{"data": pixels("uint8", (3, 20, 30)), "metadata": {"axes": "ZYX", "Name": "one"}}, {"data": pixels("uint16", (12, 14)), "metadata": {"axes": "YX", "Name": "two"}}], ome
    for name, number in [("gray", 1), ("rgb", 3)]:
        data = np.clip(np.add.outer(np.arange(48) * 2, np.arange(64)) + 20, 0, 255).astype("uint8")
        data = np.stack([data, data[::-1], 255 - data], axis=-1) if number == 3 else data
        photometric = {"photometric": "rgb"} if number == 3 else {}
        yield one(f"jpeg_{name}", data, compression="jpeg", compressionargs={"level": 95}, tile=(16, 32), **photometric)
        yield one(f"jpeg_{name}_strips", data, compression="jpeg", compressionargs={"level": 95}, rowsperstrip=16, **photometric)
    yield one("jpeg_rgb_whole", data, compression="jpeg", compressionargs={"level": 95}, subsampling=(1, 1), photometric="rgb")
    keys = (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32633)
    geo = [(33550, "d", 3, (10.0, 10.0, 0.0), True), (33922, "d", 6, (0.0, 0.0, 0.0, 5e5, 4.6e6, 0.0), True), (34735, "H", 16, keys, True), (42113, "s", 0, "-9999", True)]
    yield one("geotiff", pixels("int16", (48, 64)), extratags=geo, tile=(16, 32), compression="zlib", metadata=None)
    yield one("one_pixel", pixels("uint8", (1, 1)))
    yield one("long", pixels("uint8", (70000, 3)), compression="zstd", rowsperstrip=999)


# Where decoders of JPEG differ: in their last bits, and in how they make colours that are stored at half the resolution.
TOLERANCE = {"jpeg_gray": 1, "jpeg_gray_strips": 1, "jpeg_rgb": 4, "jpeg_rgb_strips": 4, "jpeg_rgb_whole": 2}


def write(path: Path, case: Case) -> None:
    _, writes, file = case
    with tifffile.TiffWriter(path, **file) as writer:
        for arguments in writes:
            arguments = dict(arguments)
            if file.get("ome") and arguments.get("subfiletype") is None:
                # The same bytes each time.
                arguments["metadata"] = {"UUID": "urn:uuid:0c8f6a3e-0000-4000-8000-7a61727231", **arguments["metadata"]}
            writer.write(**arguments)


def sparse(path: Path) -> np.ndarray[Any, Any]:
    """A file of tiles, of which the second is not stored."""
    data = pixels("uint16", (32, 48))
    tifffile.imwrite(path, data, tile=(16, 16), compression="zlib", metadata=None)
    with tifffile.TiffFile(path, mode="r+b") as file:
        tags = file.pages[0].tags
        for name in ["TileOffsets", "TileByteCounts"]:
            values = list(tags[name].value)
            values[1] = 0
            tags[name].overwrite(values)
    data[:16, 16:32] = 0
    return data


def in_order(axes: str, data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array with samples before rows, and with times, channels and slices in this order, without axes of length 1."""
    kept = [(axis, length) for axis, length in zip(axes, data.shape, strict=True) if length != 1 or axis in "YX"]
    data = data.reshape([length for _, length in kept])
    named = [axis for axis, _ in kept]
    is_plain = all(axis in "TCZ" for axis in named if axis not in "YXS")
    place = {"T": 0, "C": 1, "Z": 3, "Y": 5, "X": 6}
    rank = {axis: float(place.get(axis, 0)) if is_plain or axis in "YX" else 0.0 for axis in named}
    rank["S"] = 2.0 if is_plain else 4.0
    order = sorted(range(len(named)), key=lambda at: (rank[named[at]], at))
    data = data.transpose(order)
    if "S" in named and "C" in named:
        at = [named[one] for one in order].index("S")
        shape = [*data.shape[: at - 1], data.shape[at - 1] * data.shape[at], *data.shape[at + 1 :]]
        data = data.reshape(shape)
    return data


def expected(path: Path) -> list[list[np.ndarray[Any, Any]]]:
    """The levels of each series as tifffile reads them."""
    with tifffile.TiffFile(path) as file:
        return [[in_order(level.axes, level.asarray()) for level in series.levels] for series in file.series]


FIXTURES = [
    "strips_bool", "strips_int16", "big_endian_float32", "bigtiff_uint16", "lzw_big_tiles", "zlib_little_strips", "zlib_big_tiles", "packbits_little_strips",
    "zstd_big_strips", "differences_uint16", "differences_big", "floats_float32", "floats_float16_big", "planes_tiles", "palette", "series", "levels_below",
    "levels_after", "imagej", "imagej_one_directory", "ome_tczyx", "ome_rgb", "ome_levels", "ome_images", "jpeg_rgb", "geotiff", "shaped_axes",
]  # fmt: skip


def checksum(data: np.ndarray[Any, Any]) -> int:
    """The CRC-32 of the elements in C order, little-endian."""
    return zlib.crc32(np.ascontiguousarray(data.astype(data.dtype.newbyteorder("<"))).tobytes())


def main(folder: Path) -> None:
    """Writes the fixtures, and ``expected.json``: shapes, types and checksums of the arrays, of JPEG also elements."""
    found = {}
    for case in [*cases(), ("sparse", [], {})]:
        path = folder / f"{case[0]}.tif"
        if case[0] == "sparse":
            sparse(path)
        elif case[0] in FIXTURES:
            write(path, case)
        else:
            continue
        series = expected(path)
        names = [f"{number}/{level}" if len(series) > 1 else str(level) for number, levels in enumerate(series) for level in range(len(levels))]
        arrays = [level for levels in series for level in levels]
        found[case[0]] = {
            name: {
                **{"shape": list(data.shape), "type": data.dtype.name, "crc32": checksum(data), "sum": float(data.real.astype("float64").sum())},
                # Decoders differ by a few units, so that elements are compared.
                **({"elements": base64.b64encode(data.tobytes()).decode()} if case[0] in TOLERANCE else {}),
            }
            for name, data in zip(names, arrays, strict=True)
        }
    (folder / "expected.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
