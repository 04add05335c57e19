"""Zip files that are written."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
import zarr
import zarr_rust


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_each_call_leaves_a_whole_file(tmp_path: Path) -> None:
    url = f"zip:{tmp_path}/z.zip"
    group = zarr_rust.create_group(url, attributes={"title": "t"})
    assert names(tmp_path) == ["z.zip"] and zarr_rust.open(url).attrs["title"] == "t"
    array = zarr_rust.create_array(url, "a", data=np.arange(10, dtype="i4"), chunks=(4,))
    assert list(group) == ["a"], "a handle that has written sees what others write"
    array[3:6] = 7
    array.attrs["units"] = "K"
    array.append(np.array([1, 2], "i4"))
    expected = [0, 1, 2, 7, 7, 7, 6, 7, 8, 9, 1, 2]
    assert zarr_rust.open(tmp_path / "z.zip", "a")[:].tolist() == expected
    with zipfile.ZipFile(tmp_path / "z.zip") as file:
        assert file.testzip() is None and all(member.compress_type == zipfile.ZIP_STORED for member in file.infolist())
    with zarr.storage.ZipStore(tmp_path / "z.zip", mode="r") as store:
        theirs = zarr.open_array(store, path="a", mode="r")
        assert theirs[:].tolist() == expected and theirs.attrs["units"] == "K"
    del group["a"]
    assert list(zarr_rust.open(url)) == [] and names(tmp_path) == ["z.zip"]


def test_names_and_modes(tmp_path: Path) -> None:
    for name in ("x.zip", "x.ozx"):
        zarr_rust.create_array(tmp_path / name, "a", data=np.ones(3))
        assert zipfile.is_zipfile(tmp_path / name)
        for mode in ("r+", "a"):
            zarr_rust.open(tmp_path / name, "a", mode=mode)[0] = 5
        assert zarr_rust.open(tmp_path / name, "a", mode="r")[:].tolist() == [5, 1, 1]
        with pytest.raises(OSError):
            zarr_rust.open(tmp_path / name, "a", mode="r")[0] = 6
        with pytest.raises(FileExistsError):
            zarr_rust.open_group(tmp_path / name, mode="w-")
        assert list(zarr_rust.open_group(tmp_path / name, mode="w")) == []
    with pytest.raises(FileNotFoundError):
        zarr_rust.open(tmp_path / "none.zip", mode="r+")
    with pytest.raises(ValueError, match="on this machine alone"):
        zarr_rust.create_group("zip:https://host/x.zip")
    assert names(tmp_path) == ["x.ozx", "x.zip"]


def test_what_fails_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises((ValueError, TypeError)):
        zarr_rust.create_array(tmp_path / "x.zip", "a", shape=(3,), dtype="no such type")
    source = tmp_path / "a.zarr"
    zarr_rust.create_array(source, "a", data=np.arange(100, dtype="i4"), chunks=(10,))
    for options in ({"resume": True}, {"part": (1, 2)}):
        with pytest.raises(ValueError):
            zarr_rust.convert(source, tmp_path / "x.zip", **options)  # type: ignore[arg-type]
    (source / "a" / "c" / "3").write_bytes(b"damaged")
    with pytest.raises(Exception, match="chunk"):
        zarr_rust.convert(source, tmp_path / "x.zip", chunks=(50,))
    assert names(tmp_path) == ["a.zarr"]
    (source / "a" / "c" / "3").unlink()
    zarr_rust.convert(source, tmp_path / "x.zip", chunks=(50,))
    before = (tmp_path / "x.zip").read_bytes()
    with pytest.raises(FileExistsError):
        zarr_rust.convert(source, tmp_path / "x.zip")
    assert (tmp_path / "x.zip").read_bytes() == before and names(tmp_path) == ["a.zarr", "x.zip"]


def test_data_sets_are_written(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    backend = pytest.importorskip("zarr_rust.xarray").ZarrRustBackend
    data = zarr_rust.create_dataset(
        tmp_path / "x.zip", variables={"t": ("x", np.arange(4.0))}, coords={"x": ("x", np.arange(4))}
    )
    data.append("x", {"t": ("x", [9.0])}, {"x": ("x", [4])})
    found = xarray.open_dataset(tmp_path / "x.zip", engine=backend).load()
    assert found.t.values.tolist() == [0, 1, 2, 3, 9] and found.x.values.tolist() == [0, 1, 2, 3, 4]
