"""References of this library beside those of kerchunk and VirtualiZarr, for every file of the tests of netCDF and HDF5: run where both are
installed, ``pip install kerchunk virtualizarr`` (Python 3.12 or later). ``ZARR_RUST_REFERENCES=1`` takes all files, else one of sixteen."""

from __future__ import annotations

import json
import logging
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust

h5py = pytest.importorskip("h5py")
pytest.importorskip("kerchunk")
pytest.importorskip("virtualizarr")

import hdf5_files  # noqa: E402
import references  # noqa: E402
import test_netcdf_files  # noqa: E402
from references import Array, Place  # noqa: E402

STEP = 1 if os.environ.get("ZARR_RUST_REFERENCES") else 16
#: Attributes that this library makes of enumerations, and those that kerchunk moves into the document.
OURS_ALONE, IN_DOCUMENT = {"flag_values", "flag_meanings"}, {"_FillValue", "missing_value"}


def dtype_of(document: dict[str, Any]) -> Any:
    """The type of elements in the words of numpy; for v3 with the order of bytes that the codec ``bytes`` has."""
    if "dtype" in document:
        return of_v2(document["dtype"])
    kind = document["data_type"]
    kind = kind.to_json(zarr_format=3) if hasattr(kind, "to_json") else kind
    order = "="
    for codec in document["codecs"]:
        codec = codec if isinstance(codec, dict) else codec.to_dict()
        if codec["name"] == "bytes":
            order = {"big": ">", "little": "<"}.get((codec.get("configuration") or {}).get("endian"), "=")
    return of_v3(kind, order)


def of_v2(kind: Any) -> Any:
    if isinstance(kind, list):
        return [(name, of_v2(inner)) for name, inner, *_ in kind]
    return "text" if kind == "|O" else kind


def of_v3(kind: Any, order: str) -> Any:
    if isinstance(kind, str):
        if kind in ("string", "variable_length_utf8"):
            return "text"
        if re.fullmatch(r"r\d+", kind):
            return f"|V{int(kind[1:]) // 8}"
        return np.dtype(kind).newbyteorder(order).str
    configuration = kind.get("configuration", {})
    if kind["name"] in ("null_terminated_bytes", "raw_bytes"):
        return f"|{'S' if kind['name'][0] == 'n' else 'V'}{configuration['length_bytes']}"
    if kind["name"] in ("struct", "structured"):
        fields = [(field["name"], field["data_type"]) if isinstance(field, dict) else field for field in configuration["fields"]]
        return [(name, of_v3(inner, order)) for name, inner in fields]
    return str(kind)


def same_attribute(ours: Any, theirs: Any) -> bool:
    """Whether values are equal; kerchunk has lists as text, and both have texts without letters otherwise."""
    if ours == theirs or (ours in ("", []) and theirs in ("", " ", [])):
        return True
    if isinstance(theirs, float) and isinstance(ours, float):
        return np.float32(theirs) == np.float32(ours)
    if isinstance(theirs, str) and not isinstance(ours, str):
        numbers = [float(text) for text in re.findall(r"-?[\d.]+(?:e[+-]?\d+)?", theirs)]
        return bool(np.allclose(np.ravel(ours), numbers, rtol=1e-6))
    return np.array_equal(ours, theirs)


def same_fill(ours: Array, theirs: Array, who: str) -> bool:
    """Whether fill values are equal. Where all chunks are stored none is needed: kerchunk has none then, or the missing value, and VirtualiZarr 0."""
    one, other = ours.document["fill_value"], theirs.document["fill_value"]
    if json.dumps(one) == json.dumps(other) or one in ("", []):
        return True
    if isinstance(one, float) and isinstance(other, float) and np.float32(one) == np.float32(other):
        return True
    return other is None or other == (0 if who == "virtualizarr" else ours.attributes.get("missing_value"))


def masked_chunks(path: Path, name: str) -> set[tuple[int, ...]]:
    """The chunks of a data set that are stored without some of the filters, which no codec says."""
    with h5py.File(path) as file:
        dataset = file[name]
        if dataset.chunks is None:
            return set()
        infos = [dataset.id.get_chunk_info(number) for number in range(dataset.id.get_num_chunks())]
        return {tuple(at // of for at, of in zip(info.chunk_offset, dataset.chunks, strict=True)) for info in infos if info.filter_mask}


def place_fault(path: Path, ours: Place, theirs: Place, is_trimmed: bool, is_masked: bool) -> str | None:
    """Why two places of a chunk differ; ``None`` if they do not, or as they should."""
    if ours == theirs or isinstance(theirs, bytes) or is_masked:
        return None
    if isinstance(ours, bytes):
        offset, length = theirs
        return None if path.read_bytes()[offset : offset + length] == ours else f"other bytes than at {theirs}"
    if is_trimmed and ours[0] == theirs[0] and ours[1] > theirs[1]:
        return None
    return f"at {ours}, expected {theirs}"


def faults_of(path: Path, who: str, name: str, ours: Array, theirs: Array, counts: Counter[str]) -> Iterator[str]:
    is_longer = ours.shape != theirs.shape
    if is_longer:
        # A variable that ends before the unlimited dimension does is as long as the dimension, as in netCDF.
        if path.suffix == ".nc" and len(ours.shape) == len(theirs.shape) and ours.shape[0] > theirs.shape[0] and ours.shape[1:] == theirs.shape[1:]:
            counts[f"{who}: shorter than the dimension"] += 1
        else:
            yield f"shape {ours.shape}, expected {theirs.shape}"
            return
    is_trimmed = ours.chunk_shape != theirs.chunk_shape
    if is_trimmed:
        counts[f"{who}: chunks cut off at the shape"] += 1
        if theirs.chunk_shape != (min(ours.chunk_shape[0], theirs.shape[0]), *ours.chunk_shape[1:]) and not is_longer:
            yield f"chunks {ours.chunk_shape}, expected {theirs.chunk_shape}"
    # kerchunk has lists as texts.
    is_list = who == "kerchunk" and "vlen-array" in str(ours.document["data_type"])
    if dtype_of(ours.document) != dtype_of(theirs.document) and not is_list:
        yield f"data type {dtype_of(ours.document)}, expected {dtype_of(theirs.document)}"
    if not same_fill(ours, theirs, who):
        yield f"fill value {ours.document['fill_value']!r}, expected {theirs.document['fill_value']!r}"
    masked = masked_chunks(path, name) if path.read_bytes()[:4] == b"\x89HDF" else set()
    for at, place in theirs.chunks.items():
        found = ours.chunks.get(at)
        if found is None:
            # kerchunk writes chunks of fill values for what has no chunks.
            if not isinstance(place, bytes):
                yield f"chunk {at} missing, expected {place}"
            continue
        fault = place_fault(path, found, place, is_trimmed, at in masked)
        if fault:
            yield f"chunk {at} {fault}"
        if at in masked:
            counts[f"{who}: chunks whose filters were left out"] += 1
        elif isinstance(found, tuple) and isinstance(place, tuple):
            counts[f"{who}: chunks"] += 1
    more = {at for at, place in ours.chunks.items() if at not in theirs.chunks and not isinstance(place, bytes)}
    if more and not is_longer and not all(isinstance(place, bytes) for place in theirs.chunks.values()):
        yield f"chunks {sorted(more)[:3]} more"
    one, other = dict(ours.attributes), dict(theirs.attributes)
    names = ours.document.get("dimension_names")
    others = other.pop("_ARRAY_DIMENSIONS", theirs.document.get("dimension_names"))
    if names and others and len(set(others)) == len(others):
        # Theirs have names of dimensions in other groups with their paths.
        if list(names) != [text.rpartition("/")[2] for text in others]:
            yield f"dimensions {names}, expected {others}"
    for key in (one.keys() | other.keys()) - OURS_ALONE - IN_DOCUMENT:
        if key not in one or key not in other or not same_attribute(one[key], other[key]):
            yield f"attribute {key} is {one.get(key)!r}, expected {other.get(key)!r}"


def compare(path: Path, counts: Counter[str]) -> list[str]:
    is_hdf5 = path.read_bytes()[:4] == b"\x89HDF"
    faults = []
    ours = references.of_ours(path, "v3")
    for who in ("kerchunk", "virtualizarr"):
        try:
            if who == "kerchunk":
                theirs = references.of_kerchunk(path, is_hdf5)
            else:
                theirs = references.of_virtualizarr(path, is_hdf5, lambda *_: counts.update(["virtualizarr: refused"]))
        except Exception:  # noqa: BLE001
            counts[f"{who}: files not taken"] += 1
            continue
        for name, array in theirs.items():
            counts[f"{who}: arrays"] += 1
            found = ours.get(name)
            named = [f"{path.name} {who} {name}: {fault}" for fault in (faults_of(path, who, name, found, array, counts) if found else ["missing"])]
            faults += named
    return faults


def elements(array: Any) -> np.ndarray[Any, Any]:
    """Elements that can be compared: texts and lists as Python has them."""
    found = np.asarray(array)
    if found.dtype.kind not in "TUO":
        return found
    made = np.empty(found.size, object)
    for index, item in enumerate(found.astype(object).flat):
        made[index] = item.tolist() if isinstance(item, np.ndarray) else item
    return made.reshape(found.shape)


def same_elements(ours: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any]) -> bool:
    if ours.dtype.kind == "f" or ours.dtype.kind == "c":
        return np.array_equal(ours, theirs, equal_nan=True)
    return ours.shape == theirs.shape and (ours.tolist() == theirs.tolist())


def read_by_zarr_python(path: Path, counts: Counter[str]) -> list[str]:
    """What this library wrote, opened by fsspec and zarr-python: each array that it has a data type and codecs for."""
    import fsspec

    target = path.with_suffix(".ours-v3.json")
    files = fsspec.filesystem("reference", fo=str(target), remote_protocol="file", asynchronous=True)
    group = zarr.open_group(zarr.storage.FsspecStore(files, read_only=True, path=""), mode="r", zarr_format=3, use_consolidated=False)
    opened = zarr_rust.open_group(path)
    faults = []
    for name in references.of_json(json.loads(target.read_text()), str(path)):
        try:
            found = elements(group[name][...])
        except Exception as error:  # noqa: BLE001
            counts[f"zarr-python: not read: {type(error).__name__} {str(error)[:60]}"] += 1
            continue
        counts["zarr-python: arrays"] += 1
        if not same_elements(elements(opened[name][...]), found):
            faults.append(f"{path.name} {name}: zarr-python reads other elements")
    return faults


def read_theirs(path: Path, counts: Counter[str]) -> list[str]:
    """What kerchunk wrote, opened by this library: the elements of the file."""
    is_hdf5 = path.read_bytes()[:4] == b"\x89HDF"
    target = path.with_suffix(".kerchunk.json")
    try:
        made = references.kerchunk(path, is_hdf5)
    except Exception:  # noqa: BLE001
        return []
    target.write_text(json.dumps(made))
    faults = []
    opened = zarr_rust.open_group(path)
    for name, array in references.of_json(made, str(path)).items():
        masked = masked_chunks(path, name) if is_hdf5 else set()
        if masked or any(at in array.chunks for at in masked):
            continue
        expected = elements(opened[name][...])
        try:
            found = elements(zarr_rust.open(target, name)[...])
        except Exception as error:  # noqa: BLE001
            counts[f"kerchunk's: not read: {str(error)[-70:]}"] += 1
            continue
        counts["kerchunk's: arrays read"] += 1
        part = expected[tuple(map(slice, found.shape))]
        is_whole = len(array.chunks) == int(np.prod(-(-np.array(array.shape) // np.array(array.chunk_shape))))
        if expected.dtype == object and isinstance(expected.flat[0], list):
            counts["kerchunk's: lists as texts"] += 1
        elif not is_whole and not array.chunks:
            counts["kerchunk's: no chunks, of the layout compact"] += 1
        elif not is_whole and (array.document["fill_value"] is None or expected.dtype.kind == "S"):
            counts["kerchunk's: no fill value of the file"] += 1
        elif not same_elements(part, found):
            faults.append(f"{path.name} {name}: kerchunk's references have other elements")
    return faults


def check(paths: Iterator[Path]) -> Counter[str]:
    counts: Counter[str] = Counter()
    faults = []
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for path in paths:
                counts["files"] += 1
                faults += compare(path, counts)
                faults += read_by_zarr_python(path, counts)
                faults += read_theirs(path, counts)
    finally:
        logging.disable(logging.NOTSET)
    print(*(f"{count:6} {what}" for what, count in sorted(counts.items())), sep="\n")
    assert not faults, f"{len(faults)} faults\n" + "\n".join(faults[:60])
    return counts


def hdf5_paths(folder: Path) -> Iterator[Path]:
    cases = list(hdf5_files.cases())
    for number in range(0, len(cases), STEP):
        path = folder / f"{number}.h5"
        libver, name, arguments, form = cases[number]
        hdf5_files.write(path, libver, name, arguments, form, np.random.default_rng(number))
        yield path


def netcdf_paths(folder: Path) -> Iterator[Path]:
    for number in range(0, 56, min(STEP, 5)):
        path = folder / f"{number}.nc"
        test_netcdf_files.write(path, number)
        yield path


def test_references_to_hdf5_files(tmp_path: Path) -> None:
    counts = check(hdf5_paths(tmp_path))
    assert counts["kerchunk: arrays"] > counts["files"] and counts["virtualizarr: arrays"] > 5 * counts["files"]
    assert counts["zarr-python: arrays"] > 5 * counts["files"]


def test_references_to_netcdf_files(tmp_path: Path) -> None:
    counts = check(netcdf_paths(tmp_path))
    assert counts["kerchunk: arrays"] > 8 * counts["files"] and counts["virtualizarr: arrays"] > 8 * counts["files"]
    assert counts["zarr-python: arrays"] > 8 * counts["files"]


def write_parts(folder: Path) -> list[Path]:
    """Files of netCDF-4 that are parts of a data set along ``time``."""
    import netCDF4

    paths = []
    for number in range(4):
        random = np.random.default_rng(number)
        paths.append(folder / f"part{number}.nc")
        with netCDF4.Dataset(paths[-1], "w") as file:
            for name, size in (("time", 6), ("y", 5), ("x", 7)):
                file.createDimension(name, size)
                file.createVariable(name, "f8" if name == "time" else "f4", (name,))[:] = np.arange(size) + (6 * number if name == "time" else 0)
            file["time"].units = "days since 2000-01-01"
            made = file.createVariable("t", "i2", ("time", "y", "x"), zlib=True, shuffle=True, chunksizes=(2, 3, 7), fill_value=-1)
            made.set_auto_maskandscale(False)
            made[:], made.units = random.integers(0, 100, made.shape), "K"
            file.createVariable("u", "f4", ("time", "x"), chunksizes=(3, 4))[:] = random.standard_normal((6, 7))
            file.createVariable("area", "f8", ("y", "x"))[:] = 1.5
    return paths


def joined_by_kerchunk(paths: list[Path]) -> dict[str, Any]:
    from kerchunk.combine import MultiZarrToZarr

    singles = [references.kerchunk(path, is_hdf5=True) for path in paths]
    return dict(MultiZarrToZarr(singles, concat_dims=["time"], identical_dims=["x", "y", "area"], inline_threshold=0).translate())


def joined_by_virtualizarr(paths: list[Path]) -> dict[str, Any]:
    import virtualizarr
    import xarray
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore
    from virtualizarr.parsers import HDFParser

    options: dict[str, Any] = {"registry": ObjectStoreRegistry({"file://": LocalStore()}), "parser": HDFParser(), "decode_times": False}
    parts = [virtualizarr.open_virtual_dataset(f"file://{path}", loadable_variables=["time", "x", "y"], **options) for path in paths]
    joined = xarray.concat(parts, dim="time", coords="minimal", compat="override", data_vars="minimal")
    return dict(joined.vz.to_kerchunk(format="dict"))


@pytest.mark.parametrize("join", [joined_by_kerchunk, joined_by_virtualizarr])
def test_references_to_joined_files(tmp_path: Path, join: Any) -> None:
    paths = write_parts(tmp_path)
    target = tmp_path / "ours.json"
    zarr_rust.virtualize(paths, target, concat="time", inline=0)

    def places(found: dict[str, Any]) -> dict[str, tuple[str, int, int]]:
        chunks = {key: value for key, value in found["refs"].items() if isinstance(value, list)}
        return {key: (file.removeprefix("file://"), offset, length) for key, (file, offset, length) in chunks.items()}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = join(paths)
    ours = json.loads(target.read_text())
    # Coordinates are in our references.
    expected = {key: place for key, place in places(theirs).items() if key not in ("x/0", "y/0")}
    assert places(ours) == expected and len(expected) == 41
    for name in ("t", "u", "area", "time", "x", "y"):
        one, other = (references.parsed(found["refs"][f"{name}/.zarray"]) for found in (ours, theirs))
        assert [one[key] for key in ("shape", "chunks", "dtype")] == [other[key] for key in ("shape", "chunks", "dtype")]
