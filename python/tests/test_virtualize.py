"""References to the chunks of files, compared with the files."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr
import zarr_rust
from zarr_rust.errors import ZarrWarning
from zarr_rust.xarray import ZarrRustBackend

FILES = Path(os.environ.get("ZARR_FIXTURES", Path(__file__).parents[2] / "tests" / "fixtures")) / "join"
ALIKE = [FILES / name for name in ("a.nc", "b.nc", "c.nc")]
DAYS = np.arange(11).astype("datetime64[D]") - np.datetime64("1970-01-01") + np.datetime64("2000-01-01")


def expected(set_name: str, name: str) -> np.ndarray:
    found = json.loads((FILES / "expected.json").read_text())[set_name]["variables"][name]
    return np.array(found["values"], None if found["dtype"] == "object" else found["dtype"]).reshape(found["shape"])


@pytest.mark.parametrize("dialect", ["v2", "v3"])
def test_files_joined(tmp_path: Path, dialect: str) -> None:
    with pytest.warns(ZarrWarning, match="history"):
        done = zarr_rust.virtualize(ALIKE, tmp_path / "refs.json", concat="time", dialect=dialect, inline=0)
    assert done.references > 0 and done.nbytes == (tmp_path / "refs.json").stat().st_size
    assert done.elsewhere == (str(FILES.resolve()),)
    options = {"allow": str(FILES.resolve())}
    for name in ("t", "packed", "time", "time_bnds", "lat", "area", "more/count", "texts", "names"):
        array = zarr_rust.open(tmp_path / "refs.json", name, storage_options=options)
        assert np.array_equal(np.asarray(array[:]).astype(object), expected("alike", name).astype(object)), name
    dataset = xr.open_dataset(tmp_path / "refs.json", engine=ZarrRustBackend, storage_options=options)
    assert (dataset.time.values == DAYS.astype("datetime64[ns]")).all()
    assert dataset.packed.dtype.kind == "f" and (dataset.packed.values == expected("alike", "packed") * 0.5 + 3).all()


def test_fsspec_and_zarr_python(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    with pytest.warns(ZarrWarning):
        zarr_rust.virtualize(ALIKE, tmp_path / "refs.json", concat="time")
    files = fsspec.filesystem("reference", fo=str(tmp_path / "refs.json"), remote_protocol="file", asynchronous=True)
    group = zarr.open_group(zarr.storage.FsspecStore(files, read_only=True, path=""), mode="r", zarr_format=2)
    for name in ("t", "packed", "time", "time_bnds", "lat", "area", "more/count"):
        assert np.array_equal(group[name][:], expected("alike", name)), name
    dataset = xr.open_dataset(zarr.storage.FsspecStore(files, read_only=True, path=""), engine="zarr", consolidated=True, drop_variables=["texts", "names"])
    assert (dataset.time.values == DAYS.astype("datetime64[ns]")).all()
    assert dataset.t.dims == ("time", "lat", "lon") and dataset.t.attrs["units"] == "K"


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="bad_scale.nc: /packed: found the attribute scale_factor"):
        zarr_rust.virtualize([FILES / "a.nc", FILES / "bad_scale.nc"], tmp_path / "refs.json", concat="time")
    assert not (tmp_path / "refs.json").exists()
    with pytest.raises(ValueError, match="no dimension to join"):
        zarr_rust.virtualize(ALIKE, tmp_path / "refs.json")
    zarr_rust.virtualize(ALIKE[0], tmp_path / "refs.json")
    with pytest.raises(Exception, match="found a file"):
        zarr_rust.virtualize(ALIKE[0], tmp_path / "refs.json")
    zarr_rust.virtualize(ALIKE[0], tmp_path / "refs.json", overwrite=True)
    with pytest.raises(ValueError, match="grid"):
        zarr_rust.virtualize(ALIKE[0], tmp_path / "refs.json", grid="round", overwrite=True)  # type: ignore[arg-type]


def test_progress(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with pytest.warns(ZarrWarning):
        zarr_rust.virtualize(ALIKE, tmp_path / "refs.json", concat="time", progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (6, 6) and told == sorted(set(told))


def test_an_exception_of_progress_ends_the_call(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise Enough

    # So many files take longer than the time between two calls.
    with pytest.raises(Enough):
        zarr_rust.virtualize([ALIKE[0]] * 2000, tmp_path / "refs.json", concat="time", progress=stop)
    assert not (tmp_path / "refs.json").exists()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.usefixtures("interruptible")
def test_a_signal_ends_the_call(tmp_path: Path) -> None:
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        zarr_rust.virtualize([ALIKE[0]] * 20000, tmp_path / "refs.json", concat="time")
    timer.join()
    assert not (tmp_path / "refs.json").exists()


@pytest.mark.parametrize("dialect", ["v2", "v3"])
def test_a_new_dimension(tmp_path: Path, dialect: str) -> None:
    pytest.importorskip("netCDF4")
    paths = []
    for number in range(3):
        values = np.random.default_rng(number).standard_normal((4, 6)).astype("f4")
        variables = {"t": (("time", "x"), values, {"units": "K"}), "s": ((), np.int32(number))}
        same = {"time": np.arange(4.0), "x": np.arange(6), "label": (("x",), np.arange(6) * 2.0)}
        paths.append(tmp_path / f"{number}.nc")
        data = xr.Dataset(variables, coords={**same, "begun": ((), np.float64(number * 10))})
        data.to_netcdf(paths[-1], engine="netcdf4", encoding={"t": {"zlib": True, "chunksizes": (2, 3)}})
    parts = [xr.open_dataset(path, engine="netcdf4") for path in paths]
    expected = xr.concat(parts, dim="run", coords="different", compat="equals", join="exact", data_vars="all")
    with pytest.warns(ZarrWarning, match="run is a new dimension"):
        zarr_rust.virtualize(paths, tmp_path / "refs.json", concat="run", dialect=dialect, inline=0)
    found = xr.open_dataset(tmp_path / "refs.json", engine=ZarrRustBackend)
    assert set(found.coords) == set(expected.coords)
    for name in expected.variables:
        assert found[name].dims == expected[name].dims, name
        np.testing.assert_array_equal(found[name].values, expected[name].values, err_msg=str(name))
