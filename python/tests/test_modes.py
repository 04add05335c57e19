"""How nodes are opened and made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust


def test_groups_by_mode(tmp_path: Path) -> None:
    url = tmp_path / "x.zarr"
    for mode in ("r", "r+"):
        with pytest.raises(FileNotFoundError):
            zarr_rust.open(url, mode=mode)
    assert not url.exists()
    made = zarr_rust.open(url, mode="a")
    assert isinstance(made, zarr_rust.Group) and not made.read_only
    made.create_array("t", shape=(3,), dtype="i2")
    assert list(zarr_rust.open(url, mode="a")) == ["t"] and isinstance(zarr_rust.open(url, "t", mode="a"), zarr_rust.Array)
    for open in (zarr_rust.open, zarr_rust.open_group):
        with pytest.raises(FileExistsError):
            open(url, mode="w-")
    assert list(zarr_rust.open(url)) == ["t"]
    assert list(zarr_rust.open_group(url, mode="w", attributes={"a": 1})) == [] and dict(zarr.open(url).attrs) == {"a": 1}
    assert zarr_rust.open_group(url, mode="a", attributes={"a": 1}).attrs["a"] == 1
    with pytest.raises(ValueError, match="'a'"):
        zarr_rust.open_group(url, mode="a", attributes={"a": 2})
    assert zarr_rust.open_group(url, "g/h", mode="w-", dialect="v3").path == "g/h"
    with pytest.raises(TypeError):
        zarr_rust.open_array(url, mode="r")
    for mode in ("x", "", "rw"):
        with pytest.raises(ValueError, match="expected one of"):
            zarr_rust.open(url, mode=mode)


def test_arrays_by_mode(tmp_path: Path) -> None:
    url = tmp_path / "x.zarr"
    with pytest.raises(ValueError, match="shape and dtype"):
        zarr_rust.open_array(url, "t", mode="a")
    assert not url.exists()
    for _ in range(2):
        array = zarr_rust.open_array(url, "t", mode="a", shape=(4, 6), dtype="f4", chunks=(2, 3), codecs="gzip(2)",
                                     fill_value=float("nan"), dimension_names=["y", "x"], attributes={"units": "K"})
    array[0] = 1
    with pytest.raises(FileExistsError):
        zarr_rust.open_array(url, "t", mode="w-", shape=(4,), dtype="f4")
    for wrong in ({"shape": (4, 5)}, {"dtype": "f8"}, {"chunks": (2, 2)}, {"shards": (4, 6)}, {"codecs": "gzip(3)"}, {"fill_value": 0},
                  {"dimension_names": ["y", "z"]}, {"separator": "."}, {"attributes": {"units": "m"}}):
        for mode in ("r", "a"):
            with pytest.raises(ValueError, match="is there, with"):
                zarr_rust.open_array(url, "t", mode=mode, **wrong)  # type: ignore[arg-type]
    for same in ({"shape": (4, 6)}, {"dtype": "float32"}, {"codecs": "gzip(2)"}, {"fill_value": np.nan}, {"separator": "/"}):
        assert zarr_rust.open_array(url, "t", mode="r+", **same)[0, 0] == 1  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        zarr_rust.open_group(url, "t", mode="a")
    assert zarr_rust.open_array(url, "t", mode="w", shape=5, dtype="i2").shape == (5,)
    assert zarr.open(url, path="t", mode="r").dtype == np.dtype("i2")


def test_arrays_of_data(tmp_path: Path) -> None:
    data = np.arange(12, dtype=">i2").reshape(3, 4)
    for array in (zarr_rust.create_array(tmp_path / "x.zarr", data=data, chunks=2),
                  zarr_rust.create_group(tmp_path / "y.zarr").create_array("a", shape=(3, 4), data=data, dtype="f8")):
        assert (array[:] == data).all()
    assert zarr_rust.create_array("memory:", data=["a", "bc"], dtype="string")[1] == "bc"
    for wrong in ({"shape": (3, 5), "data": data}, {"shape": (3,)}, {"dtype": "i2"}, {}):
        with pytest.raises((TypeError, ValueError)):
            zarr_rust.create_array(tmp_path / "z.zarr", **wrong)
    assert not (tmp_path / "z.zarr").exists()


def test_an_array_that_is_there_is_compared_by_what_is_given(tmp_path: Path) -> None:
    shape: dict[str, Any] = {"shape": (8, 8), "dtype": "i4", "chunks": (2, 2)}
    for dialect in ("v2", "v3"):
        url = tmp_path / f"{dialect}.zarr"
        zarr_rust.create_array(url, "plain", codecs="gzip(2)", dialect=dialect, **shape)
        assert zarr_rust.open_array(url, "plain", mode="a", **shape).chunks == (2, 2)
        with pytest.raises(ValueError, match="codecs"):
            zarr_rust.open_array(url, "plain", mode="a", codecs="gzip(3)", **shape)
        with pytest.raises(ValueError, match="chunk_grid"):
            zarr_rust.open_array(url, "plain", mode="a", **shape | {"chunks": (4, 2)})
    zarr_rust.create_array(url, "sharded", codecs="gzip(2)", shards=(4, 4), **shape)
    assert zarr_rust.open_array(url, "sharded", mode="a", shards=(4, 4), **shape).shards == (4, 4)
    for other in ({"chunks": (4, 2)}, {"shards": (8, 8)}):
        with pytest.raises(ValueError, match="chunk"):
            zarr_rust.open_array(url, "sharded", mode="a", **shape | {"shards": (4, 4)} | other)
    with pytest.raises(ValueError, match="chunk_grid"):
        zarr_rust.open_array(url, "plain", mode="a", shards=(4, 4), **shape)
