"""Levels of pyramids beside numpy."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr_rust

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]


def block_of(values: np.ndarray[Any, Any], method: str) -> Any:
    """The element that a block becomes, by numpy."""
    wide = values.astype("f8") if values.dtype.kind == "f" else values.astype(object)
    if method == "mean":
        if values.dtype.kind == "f":
            return wide.mean()
        total, count = sum(wide.ravel().tolist()), wide.size
        low, rest = divmod(total, count)
        return low + (1 if 2 * rest > count or (2 * rest == count and low % 2) else 0)
    if method == "median":
        if values.dtype.kind == "f":
            return np.median(wide)
        middle = sorted(wide.ravel().tolist())
        return block_of(np.array(middle[(len(middle) - 1) // 2 : len(middle) // 2 + 1], values.dtype), "mean")
    if method == "mode":
        found, counts = np.unique(values, return_counts=True)
        return found[counts.argmax()]
    if method == "nearest":
        return values[tuple((length - 1) // 2 for length in values.shape)]
    return getattr(values, method)()


def level_of(array: np.ndarray[Any, Any], factors: tuple[int, ...], method: str) -> np.ndarray[Any, Any]:
    shape = tuple(math.ceil(length / factor) for length, factor in zip(array.shape, factors))
    out = np.empty(shape, array.dtype)
    for index in itertools.product(*map(range, shape)):
        block = array[tuple(slice(at * factor, (at + 1) * factor) for at, factor in zip(index, factors))]
        out[index] = block_of(block, method)
    return out


SHAPES = [((13,), (4,), (3,)), ((9, 11), (4, 3), (2, 2)), ((5, 6, 7), (2, 4, 3), (1, 2, 3)), ((2, 3, 4, 5, 3), (1, 2, 2, 3, 3), (2, 1, 2, 2, 1))]


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, "?"])
@pytest.mark.parametrize("method", ["mean", "median", "min", "max", "mode", "nearest"])
def test_levels_are_as_numpy_computes_them(tmp_path: Path, dtype: str, method: str) -> None:
    rng = np.random.default_rng(5)
    for number, (shape, chunks, factors) in enumerate(SHAPES):
        store = tmp_path / f"{number}.zarr"
        array = zarr_rust.create_array(store, "0", shape=shape, dtype=dtype, chunks=chunks)
        info = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else None
        low, high = (max(info.min, -(2**40)), min(info.max, 2**40)) if info else (-99, 100)
        values = (rng.integers(low, high, size=shape) if method != "mode" else rng.integers(0, 3, size=shape)).astype(dtype)
        array[...] = values
        arguments: dict[str, Any] = {"factors": dict(enumerate(factors)), "levels": 2, "method": method}
        if (dtype == "?" and method in ("mean", "median")) or (dtype in FLOATS and method == "mode"):
            with pytest.raises(ValueError, match="expected one that"):
                zarr_rust.pyramid(array, **arguments)
            continue
        levels = zarr_rust.pyramid(array, **arguments)
        for level in levels:
            values = level_of(values, factors, method)
            found = zarr_rust.open(store, level.path)[...]
            assert level.shape == values.shape
            if np.dtype(dtype).kind == "f":
                np.testing.assert_allclose(found, values, rtol=1e-12 if dtype == "f8" else 0)
            else:
                np.testing.assert_array_equal(found, values)


def test_missing_elements_are_left_out(tmp_path: Path) -> None:
    array = zarr_rust.create_array(tmp_path / "a.zarr", "0", shape=(4, 4), dtype="f4", chunks=(2, 2), fill_value=-1)
    values = np.array([[1, np.nan, -1, -1], [3, -1, np.nan, -1], [0, 0, 5, 7], [0, 2, 6, 6]], "f4")
    array[...] = values
    zarr_rust.pyramid(array, skip_missing=True, levels=1)
    np.testing.assert_array_equal(zarr_rust.open(tmp_path / "a.zarr", "1")[...], [[2, -1], [0.5, 6]])
    zarr_rust.pyramid(array, levels=1, overwrite=True)
    assert np.isnan(zarr_rust.open(tmp_path / "a.zarr", "1")[0, 0])


def test_levels_elsewhere_and_again(tmp_path: Path) -> None:
    values = np.arange(48 * 60, dtype="u2").reshape(48, 60)
    array = zarr_rust.create_array(tmp_path / "a.zarr", "t", shape=(48, 60), dtype="u2", chunks=(8, 8), dimension_names=("y", "x"))
    array[...] = values
    told: list[tuple[int, int]] = []
    levels = zarr_rust.pyramid(array, tmp_path / "b.zarr", to="/levels", factors={"y": 2, "x": 3}, progress=lambda *it: told.append(it))
    assert [level.path for level in levels][:2] == ["/levels/0", "/levels/1"]
    assert levels[1].factors == (2, 3)
    assert told[-1] == (values.nbytes, values.nbytes)
    np.testing.assert_array_equal(zarr_rust.open(tmp_path / "b.zarr", "levels/0")[...], values)
    with pytest.raises((zarr_rust.ZarrError, ValueError, OSError), match="already"):
        zarr_rust.pyramid(array, tmp_path / "b.zarr", to="/levels", factors={"y": 2, "x": 3})
    values[:2, :3] = 7
    array[:2, :3] = 7
    zarr_rust.pyramid(array, tmp_path / "b.zarr", to="/levels", factors={"y": 2, "x": 3}, region=(slice(0, 2), slice(0, 3)))
    assert zarr_rust.open(tmp_path / "b.zarr", "levels/1")[0, 0] == 7
    with pytest.raises(ValueError, match="number at the end"):
        zarr_rust.pyramid(array)
    assert zarr_rust.pyramid(array, tmp_path / "c.zarr", dry_run=True)
    assert not (tmp_path / "c.zarr").exists()


def test_levels_in_parts(tmp_path: Path) -> None:
    values = np.arange(64 * 64, dtype="u2").reshape(64, 64)
    arguments: dict[str, Any] = {"levels": 3, "memory": 60_000}
    for name in ("a.zarr", "b.zarr"):
        zarr_rust.create_array(tmp_path / name, "0", shape=(64, 64), dtype="u2", chunks=(4, 4))[...] = values
    zarr_rust.pyramid(tmp_path / "a.zarr", path="0", **arguments)
    told: list[tuple[int, int]] = []
    zarr_rust.pyramid(tmp_path / "b.zarr", path="0", part=(2, 2), **arguments)
    with pytest.raises(ValueError, match="not done: 1"):
        zarr_rust.pyramid(tmp_path / "b.zarr", path="0", finish=True, **arguments)
    zarr_rust.pyramid(tmp_path / "b.zarr", path="0", abandon=True, **arguments)
    for number in (1, 2):
        zarr_rust.pyramid(tmp_path / "b.zarr", path="0", part=(number, 2), progress=lambda *it: told.append(it), **arguments)
        assert 0 < told[-1][0] == told[-1][1] < values.nbytes
    zarr_rust.pyramid(tmp_path / "b.zarr", path="0", finish=True, **arguments)
    for level in ("1", "2", "3"):
        np.testing.assert_array_equal(zarr_rust.open(tmp_path / "b.zarr", level)[...], zarr_rust.open(tmp_path / "a.zarr", level)[...])
    with pytest.raises(ValueError, match="overwrite"):
        zarr_rust.pyramid(tmp_path / "b.zarr", path="0", part=(1, 2), overwrite=True)
