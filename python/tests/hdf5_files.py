"""HDF5 files of each layout, filter, type, version and form of groups, as h5py writes them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

h5py = pytest.importorskip("h5py")

try:
    import hdf5plugin
except ImportError:
    hdf5plugin = None

#: The shape of each data set, and of its chunks, which are cut off at both ends.
SHAPE, CHUNKS = (11, 7), (4, 3)

ENUM = h5py.enum_dtype({"low": -3, "high": 300}, "<i2")
POINT = np.dtype([("x", "<i4"), ("y", "<f8")])
GAPS = np.dtype([("a", "<i2"), ("b", ">f8"), ("c", "S3"), ("d", "u1")], align=True)

NUMBERS = [f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)] + ["f2", "f4", "f8"]

#: Types of elements, by name.
TYPES: dict[str, Any] = {
    **{f"{name}le": np.dtype(f"<{name}") for name in NUMBERS},
    **{f"{name}be": np.dtype(f">{name}") for name in NUMBERS},
    "c8": np.dtype("<c8"),
    "c16be": np.dtype(">c16"),
    "bool": np.dtype("?"),
    "enum": ENUM,
    "S6": np.dtype("S6"),
    "point": POINT,
    "gaps": GAPS,
    "V5": np.dtype("V5"),
    "text": h5py.string_dtype(),
    "ascii": h5py.string_dtype("ascii"),
    "fixed_utf8": h5py.string_dtype("utf-8", 9),
    "list": h5py.vlen_dtype(np.dtype("<i4")),
}

#: Arguments of ``create_dataset`` for layouts without filters, and for those that take them.
PLAIN: dict[str, dict[str, Any]] = {"contiguous": {}, "compact": {"compact": True}}
CHUNKED: dict[str, dict[str, Any]] = {
    "one": {"chunks": SHAPE},
    "fixed": {"chunks": CHUNKS},
    "fixed_larger": {"chunks": CHUNKS, "maxshape": (20, 7)},
    "growing": {"chunks": CHUNKS, "maxshape": (None, 7)},
    "growing_both": {"chunks": CHUNKS, "maxshape": (None, None)},
}


def filters() -> dict[str, dict[str, Any]]:
    """Arguments of ``create_dataset`` for filters."""
    found: dict[str, dict[str, Any]] = {
        "none": {},
        "gzip": {"compression": "gzip"},
        "shuffle_gzip": {"compression": "gzip", "shuffle": True, "compression_opts": 9},
        "lzf": {"compression": "lzf"},
        "shuffle_lzf_fletcher32": {"compression": "lzf", "shuffle": True, "fletcher32": True},
        "fletcher32": {"fletcher32": True},
        "scaleoffset": {"scaleoffset": 0},
    }
    if h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
        found["szip"] = {"compression": "szip"}
    if hdf5plugin is not None:
        found["zstd"] = dict(hdf5plugin.Zstd())
        found["shuffle_zstd"] = {"shuffle": True, **hdf5plugin.Zstd()}
        found["bz2"] = dict(hdf5plugin.BZip2())
        found["lz4"] = dict(hdf5plugin.LZ4(nbytes=64))
        found["shuffle_lz4"] = {"shuffle": True, **hdf5plugin.LZ4()}
        found |= {f"bitshuffle_{name}": dict(hdf5plugin.Bitshuffle(cname=name)) for name in ("none", "lz4", "zstd")}
        found["bitshuffle_small"] = dict(hdf5plugin.Bitshuffle(nelems=8))
        found |= {f"blosc_{name}": dict(hdf5plugin.Blosc(cname=name, shuffle=2)) for name in ("blosclz", "lz4", "zlib", "zstd")}
    return found


def is_list(dtype: Any) -> bool:
    """Whether elements are lists of numbers."""
    return h5py.check_vlen_dtype(dtype) is not None and h5py.check_string_dtype(dtype) is None


def values(dtype: Any, random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Random elements of a type."""
    count = int(np.prod(SHAPE))
    if is_list(dtype):
        made = np.empty(count, object)
        for index in range(count):
            made[index] = random.integers(-9, 9, random.integers(0, 5)).astype("<i4")
        return made.reshape(SHAPE)
    form = h5py.check_string_dtype(dtype)
    if form is not None and dtype.metadata is not None:
        letters = list("abc xyz") if form.encoding == "ascii" else list("aé€ z")
        texts = ["".join(random.choice(letters, random.integers(0, 4 if form.length else 30))).strip() for _ in range(count)]
        if form.length:
            return np.array([text.encode() for text in texts], dtype).reshape(SHAPE)
        return np.array(texts, object).reshape(SHAPE)
    if h5py.check_enum_dtype(dtype) is not None:
        return random.choice(np.array([-3, 300], "<i2"), SHAPE)
    if dtype.names:
        made = np.zeros(SHAPE, dtype)
        for name in dtype.names:
            made[name] = values(dtype[name], random)
        return made
    if dtype.kind == "b":
        return random.integers(0, 2, SHAPE).astype(bool)
    if dtype.kind in "SV":
        return random.integers(97, 123, (count, dtype.itemsize), "u1").view(dtype).reshape(SHAPE)
    if dtype.kind in "fc":
        made = random.standard_normal(SHAPE).round(2)
        return (made + 1j * made[::-1] if dtype.kind == "c" else made).astype(dtype)
    bits = min(dtype.itemsize * 8, 20) - 1
    return random.integers(0 if dtype.kind == "u" else -(2**bits), 2**bits, SHAPE).astype(dtype)


def takes(name: str, dtype: Any) -> bool:
    """Whether a filter takes elements of a type."""
    is_number = isinstance(dtype, np.dtype) and dtype.kind in "iuf" and dtype.metadata is None
    if name == "scaleoffset":
        return is_number and dtype.kind in "iu"
    if name == "szip":
        return is_number and dtype.itemsize > 1
    if "fletcher32" in name and getattr(dtype, "kind", "") == "O":
        return False
    if name.startswith("blosc") or name == "bz2":
        # Elements in other forms are not read behind these; blosc fails on references.
        return is_number
    return True


def attributes(node: Any, random: np.random.Generator) -> None:
    """Attributes of many types."""
    node.attrs["int"] = np.int32(random.integers(-99, 99))
    node.attrs["floats"] = random.standard_normal(3).astype(random.choice(["<f4", ">f8"]))
    node.attrs["text"] = str(random.choice(["", "a text", "zwölf €"]))
    node.attrs["texts"] = ["a", "", "ü"]
    node.attrs["fixed"] = np.bytes_(b"fixed")
    node.attrs["flag"] = bool(random.integers(2))
    node.attrs["matrix"] = random.integers(0, 9, (2, 3))
    node.attrs["empty"] = h5py.Empty("<f4")


def create(group: Any, name: str, dtype: Any, arguments: dict[str, Any], random: np.random.Generator) -> None:
    """A data set, of which a part may be left unwritten."""
    if arguments.get("compact"):
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        kind = h5py.h5t.py_create(dtype, logical=True)
        h5py.h5d.create(group.id, name.encode(), kind, h5py.h5s.create_simple(SHAPE), plist)
        elements = values(dtype, random)
        if is_list(dtype):
            for index in np.ndindex(2, 7):
                group[name][index] = elements[index]
        else:
            group[name][...] = elements
        return
    fill = None
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf" and random.integers(2):
        fill = 7
    made = group.create_dataset(name, SHAPE, dtype, fillvalue=fill, **arguments)
    elements = values(dtype, random)
    if is_list(dtype):
        for index in np.ndindex(4, 7):
            made[index] = elements[index]
    elif random.integers(3) == 0 and "scaleoffset" not in arguments:
        made[4:9, :5] = elements[4:9, :5]
    else:
        made[...] = elements
    if random.integers(2):
        attributes(made, random)


def cases() -> Iterator[tuple[str, str, dict[str, Any], str]]:
    """Each file: the version of the library, the name of layout and filter, the arguments of its data sets, the form of its groups."""
    layouts = [(name, arguments) for name, arguments in PLAIN.items()]
    for (layout, first), (name, second) in itertools.product(CHUNKED.items(), filters().items()):
        layouts.append((f"{layout}-{name}", {**first, **second}))
    forms = itertools.cycle(["flat", "deep", "many"])
    for (name, arguments), libver in itertools.product(layouts, ["earliest", "latest", "v110"]):
        yield libver, name, arguments, next(forms)


def write(path: Path, libver: str, name: str, arguments: dict[str, Any], form: str, random: np.random.Generator) -> None:
    """Writes a file with a data set of each type that the filter takes, and the groups and links of a form."""
    taken = [kind for kind, dtype in TYPES.items() if takes(name.split("-")[-1], dtype)]
    with h5py.File(path, "w", libver=libver if libver != "v110" else ("v110", "v110")) as file:
        attributes(file, random)
        group = file.create_group("a/b/c", track_order=bool(random.integers(2))) if form == "deep" else file
        if form == "many":
            for number in range(30):
                file[f"small {number:02}"] = np.int16(number)
            for number in range(20):
                file.attrs[f"attribute {number:02}"] = number
        for kind in random.choice(taken, min(9, len(taken)), replace=False):
            create(group, str(kind), TYPES[str(kind)], arguments, random)
        first = next(iter(group))
        file["again"] = group[first]
        file["soft"] = h5py.SoftLink(group[first].name)
