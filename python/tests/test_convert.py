"""Conversions, compared with what is read of their sources."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust
from zarr_rust.errors import ZarrError, ZarrWarning


def source(folder: Path, **settings: object) -> np.ndarray:
    data = np.arange(90 * 70, dtype="i4").reshape(90, 70)
    array = zarr_rust.create_array(
        folder / "a.zarr", "g/t", shape=data.shape, dtype="i4", chunks=(20, 70), dialect="v2", attributes={"units": "K"}, **settings
    )
    array[:] = data
    return data


def test_chunks_shards_codecs_and_dialects(tmp_path: Path) -> None:
    data = source(tmp_path)
    done = zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", dialect="v3", chunks=(10, 10), shards=(50, 20), codecs="gzip(2)")
    assert [(node.path, node.how, node.dialect) for node in done.nodes] == [
        ("/", "group", "v3"), ("/g", "group", "v3"), ("/g/t", "recoded", "v3")
    ]
    assert done.nbytes == data.nbytes and done.skipped == () and done.refused == ()
    theirs = zarr.open_array(tmp_path / "b.zarr", path="g/t", mode="r")
    assert (theirs.chunks, theirs.shards, dict(theirs.attrs)) == ((10, 10), (50, 20), {"units": "K"})
    assert (theirs[:] == data).all()
    zarr_rust.convert(tmp_path / "b.zarr/g/t", f"{tmp_path}/c.zip.zarr/t2", shards=False, codecs=[{"name": "zstd"}])
    theirs = zarr.open_array(f"{tmp_path}/c.zip.zarr", path="t2", mode="r")
    assert theirs.shards is None and (theirs[:] == data).all()


def test_nodes_that_are_open_and_paths(tmp_path: Path) -> None:
    array = zarr_rust.create_array("memory:", "x/y", shape=(5,), dtype="f8", fill_value=2)
    array[1:3] = 7
    zarr_rust.convert(array, tmp_path / "b.zarr", to="z")
    assert zarr_rust.open(tmp_path / "b.zarr", "z")[:].tolist() == [2, 7, 7, 2, 2]
    source(tmp_path)
    zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "c.zarr", path="g")
    assert zarr_rust.open(tmp_path / "c.zarr").tree() == "/\n└── g\n    └── t (90, 70) int32"
    with pytest.raises(TypeError, match="open"):
        zarr_rust.convert(array, tmp_path / "d.zarr", path="x")


def test_progress_and_dry_runs(tmp_path: Path) -> None:
    data = source(tmp_path)
    seen: list[tuple[int, int]] = []
    threads: set[int] = set()

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        threads.add(threading.get_ident())

    examined = zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", chunks=(7, 7), dry_run=True, progress=progress)
    assert examined.nbytes == data.nbytes and not (tmp_path / "b.zarr").exists() and not seen
    zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", chunks=(7, 7), progress=progress)
    assert seen[-1] == (data.nbytes, data.nbytes) and seen == sorted(seen) and threads == {threading.get_ident()}


def test_refusals(tmp_path: Path) -> None:
    source(tmp_path)
    a, b = tmp_path / "a.zarr", tmp_path / "b.zarr"
    for wrong in ({"codecs": "zlid"}, {"dialect": "v9"}, {"chunks": (3, 3, 3)}, {"part": (3, 2)}, {"memory": "much"},
                  {"convention": "mine"}, {"part": (1, 2), "finish": True}, {"part": (1, 2), "overwrite": True}):
        with pytest.raises((ValueError, ZarrError)):
            zarr_rust.convert(a, b, **wrong)  # type: ignore[arg-type]
        assert not b.exists()
    with pytest.raises(TypeError, match="compressor"):
        zarr_rust.convert(a, b, target_options={"compressor": 1})
    with pytest.raises(FileNotFoundError):
        zarr_rust.convert(tmp_path / "none.zarr", b)
    zarr_rust.convert(a, b)
    with pytest.raises(FileExistsError):
        zarr_rust.convert(a, b)
    zarr_rust.convert(a, b, overwrite=True)
    with pytest.raises(ValueError):
        zarr_rust.convert(a, a, overwrite=True)
    with pytest.raises(FileNotFoundError):
        zarr_rust.convert(a, tmp_path / "c.zarr", finish=True)


def test_chunks_by_names_and_files_of_no_node(tmp_path: Path) -> None:
    store = tmp_path / "a.zarr"
    data = np.arange(20 * 30, dtype="i2").reshape(20, 30)
    for name, shape, dims in [("t", (20, 30), ("time", "lat")), ("time", (20,), ("time",))]:
        array = zarr_rust.create_array(store, name, shape=shape, dtype="i2", chunks=shape, dimension_names=dims)
        array[:] = data if name == "t" else data[:, 0]
    (store / "OME").mkdir()
    (store / "OME/METADATA.ome.xml").write_text("<OME/>")
    zarr_rust.convert(store, tmp_path / "b.zarr", chunks={"time": 5}, shards="auto")
    chunks = {name: zarr.open_array(tmp_path / "b.zarr", path=name, mode="r") for name in ("t", "time")}
    assert [(array.chunks, array.shards) for array in chunks.values()] == [((5, 30), (20, 30)), ((5,), (20,))]
    assert (chunks["t"][:] == data).all()
    assert (tmp_path / "b.zarr/OME/METADATA.ome.xml").read_text() == "<OME/>"
    zarr_rust.convert(store, tmp_path / "c.zarr", shards={"time": 40}, chunks={"time": 10}, exclude=["t"], other_files=False)
    assert zarr.open_array(tmp_path / "c.zarr", path="time", mode="r").shards == (20,)
    assert not (tmp_path / "c.zarr/t").exists() and not (tmp_path / "c.zarr/OME").exists()
    with pytest.raises(ValueError, match="tim"):
        zarr_rust.convert(store, tmp_path / "d.zarr", chunks={"tim": 5})
    with pytest.raises(ValueError, match="expected lengths"):
        zarr_rust.convert(store, tmp_path / "d.zarr", chunks="auto")


def test_nodes_that_cannot_be_read_are_left_out(tmp_path: Path) -> None:
    data = source(tmp_path)
    broken = tmp_path / "a.zarr/g/b"
    broken.mkdir()
    (broken / ".zarray").write_text("{")
    with pytest.raises(ValueError, match="keep_going"):
        zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", dialect="v3")
    with pytest.warns(ZarrWarning, match="left out: .*/g/b"):
        done = zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", dialect="v3", keep_going=True)
    assert len(done.refused) == 1 and (zarr_rust.open(tmp_path / "b.zarr", "g/t")[:] == data).all()


def test_parts_by_processes(tmp_path: Path) -> None:
    data = source(tmp_path)
    script = (
        "import sys, zarr_rust; folder, i = sys.argv[1:];"
        "zarr_rust.convert(folder + '/a.zarr', folder + '/b.zarr', chunks=(8, 9), part=(int(i), 3))"
    )
    with pytest.raises(FileNotFoundError):
        zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", chunks=(8, 9), finish=True)
    started = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(i)]) for i in (1, 2)]
    assert [process.wait(60) for process in started] == [0, 0]
    with pytest.raises(ValueError, match="3"):
        zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", chunks=(8, 9), finish=True)
    zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", chunks=(8, 9), part=(3, 3))
    zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", chunks=(8, 9), finish=True)
    assert (zarr_rust.open(tmp_path / "b.zarr", "g/t")[:] == data).all()


def test_broken_chunks(tmp_path: Path) -> None:
    data = source(tmp_path)
    (tmp_path / "a.zarr/g/t/1.0").write_bytes(b"broken")
    with pytest.raises(ValueError):
        zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", chunks=(30, 30))
    with pytest.warns(ZarrWarning, match="left out"):
        done = zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "c.zarr", chunks=(30, 30), keep_going=True)
    assert [(one.path, one.chunk) for one in done.skipped] == [("/g/t", (1, 0))]
    data[20:40] = 0
    assert (zarr_rust.open(tmp_path / "c.zarr", "g/t")[:] == data).all()


def test_losses_are_warnings(tmp_path: Path) -> None:
    zarr_rust.create_array(tmp_path / "a.zarr", shape=(4,), dtype="i2", dimension_names=["x"], attributes={"_FillValue": 3})
    with pytest.warns(ZarrWarning):
        done = zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", dialect="v2", literal=True)
    assert done.nodes[-1].notes or done.nodes[-1].warning


def test_resumed_after_an_exception_of_progress(tmp_path: Path) -> None:
    data = np.random.default_rng(1).integers(0, 9, (400, 4000), dtype="u1")
    array = zarr_rust.create_array(tmp_path / "a.zarr", shape=data.shape, dtype="u1", chunks=(1, 4000))
    array[:] = data
    interruptions = 0

    def progress(done: int, total: int) -> None:
        if 0 < done < total:
            raise LookupError("enough")

    # So little memory that there are many slabs, after each of which is a report.
    arguments: dict[str, Any] = {"chunks": (2, 40), "memory": "200 kB", "resume": True}
    for _ in range(5):
        try:
            zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", progress=progress, **arguments)
            break
        except LookupError:
            interruptions += 1
            assert not (tmp_path / "b.zarr/zarr.json").exists()
    else:
        zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", **arguments)
    assert interruptions > 0, "20,000 files take longer than the first report"
    assert (zarr_rust.open(tmp_path / "b.zarr")[:] == data).all()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.usefixtures("interruptible")
def test_interrupted_at_once(tmp_path: Path) -> None:
    array = zarr_rust.create_array(tmp_path / "a.zarr", shape=(2000, 4000), dtype="u1", chunks=(1, 4000))
    array[:] = 1
    begun: list[float] = []

    def progress(done: int, total: int) -> None:
        if not begun:
            begun.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", chunks=(2, 4), progress=progress)
    # The bar is 100 ms; a loaded machine is slower.
    assert time.monotonic() - begun[0] < 20
    assert not (tmp_path / "b.zarr/zarr.json").exists()


def test_a_region_of_a_data_set(tmp_path: Path) -> None:
    import xarray as xr

    times = np.array(["2020-01-01", "2020-01-02", "2020-02-01", "2020-02-02"], "datetime64[ns]")
    weather = xr.Dataset(
        {"t": (("time", "lat"), np.arange(12.0).reshape(4, 3)), "height": ((), 2.0)}, coords={"time": times, "lat": [60.0, 50.0, 40.0]}
    )
    weather.to_zarr(tmp_path / "a.zarr", zarr_format=2)
    done = zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", dialect="v3", sel={"time": "2020-02", "lat": slice(50, 40)})
    assert done.nbytes == 4 * 8 + 8 + 2 * 8 + 2 * 8
    xr.testing.assert_identical(xr.open_zarr(tmp_path / "b.zarr").load(), weather.sel(time="2020-02", lat=slice(50, 40)))
    zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "c.zarr", isel={"time": slice(None, None, 2), "lat": -1})
    xr.testing.assert_identical(xr.open_zarr(tmp_path / "c.zarr").load(), weather.isel(time=slice(None, None, 2), lat=[-1]))
    with pytest.raises(ValueError, match="expected a range"):
        zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "d.zarr", isel={"time": [0, 1, 3]})
    with pytest.raises(ValueError, match="no dimension tme"):
        zarr_rust.convert(tmp_path / "a.zarr", tmp_path / "d.zarr", sel={"tme": "2020"})


def test_regions_of_dimensions_that_netcdf_c_defines_in_several_groups(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")

    def opened(name: str, mode: str) -> Any:
        return netcdf.Dataset(f"file://{tmp_path}/{name}#mode=nczarr,file", mode)

    with opened("n", "w") as root:
        group = root.createGroup("g")
        for node, length in ((root, 6), (group, 3)):
            node.createDimension("x", length)
            node.createVariable("a", "i4", ("x",))[:] = np.arange(length)
    zarr_rust.convert(tmp_path / "n", tmp_path / "half", isel={"x": slice(None, None, 2)})
    with opened("half", "r") as root:
        group = root["g"]
        assert (len(root.dimensions["x"]), len(group.dimensions["x"])) == (3, 2)
        assert root["a"][:].tolist() == [0, 2, 4] and group["a"][:].tolist() == [0, 2]
