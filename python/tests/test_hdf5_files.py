"""HDF5 and netCDF-4 files beside h5py, netCDF4 and xarray: each element and each attribute."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr_rust

h5py = pytest.importorskip("h5py")

import hdf5_files  # noqa: E402


def plain(value: Any) -> Any:
    """The value of an attribute as JSON has it."""
    if isinstance(value, h5py.Empty):
        return "" if value.dtype.kind in "SO" else []
    if isinstance(value, (np.ndarray, list)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    return value.item() if isinstance(value, np.generic) else value


def packed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A type without gaps, in the order of this machine."""
    if dtype.names:
        return np.dtype([(name, packed(dtype[name])) for name in dtype.names])
    return np.dtype(dtype.str).newbyteorder("=")


def expected(dataset: Any) -> np.ndarray[Any, Any]:
    """The elements of a data set as h5py reads them."""
    text = h5py.check_string_dtype(dataset.dtype)
    if text is not None and text.length is None:
        return np.asarray(dataset.asstr()[()], object)
    found = np.asarray(dataset[()])
    return found if found.dtype == object else found.astype(packed(found.dtype))


def same(ours: Any, theirs: np.ndarray[Any, Any]) -> bool:
    ours = np.asarray(ours)
    if theirs.dtype == object:
        flat, others = ours.reshape(-1), theirs.reshape(-1)
        return ours.shape == theirs.shape and all(np.array_equal(one, other) for one, other in zip(flat, others, strict=True))
    return ours.shape == theirs.shape and ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes()


def compare(path: Path) -> int:
    """Compares all of a file; returns the number of data sets."""
    count = 0
    opened = zarr_rust.open_group(path)
    with h5py.File(path) as file:
        names: list[str] = []

        def visit(above: str, group: Any) -> None:
            for name in group:
                names.append(f"{above}{name}")
                if isinstance(group[name], h5py.Group):
                    visit(f"{above}{name}/", group[name])

        visit("", file)
        for name in ["", *names]:
            theirs = file[name or "/"]
            ours = opened[name] if name else opened
            kept = dict(ours.attrs.asdict())
            if isinstance(theirs, h5py.Dataset) and h5py.check_enum_dtype(theirs.dtype):
                kept.pop("flag_values", None)
                kept.pop("flag_meanings", None)
            assert kept == {key: plain(value) for key, value in theirs.attrs.items()}, name
            if isinstance(theirs, h5py.Dataset):
                assert same(ours[...], expected(theirs)), name
                count += 1
    return count


CASES = list(hdf5_files.cases())


@pytest.mark.parametrize("part", range(10))
def test_files_of_h5py(tmp_path: Path, part: int) -> None:
    faults, count = [], 0
    for number in range(part, len(CASES), 10):
        path = tmp_path / f"{number}.h5"
        libver, name, arguments, form = CASES[number]
        hdf5_files.write(path, libver, name, arguments, form, np.random.default_rng(number))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                count += compare(path)
        except Exception as error:  # noqa: BLE001
            faults.append(f"{libver} {name} {form}: {error!r}")
        path.unlink()
    assert not faults, "\n".join(faults)
    assert count > 10 * len(range(part, len(CASES), 10))
