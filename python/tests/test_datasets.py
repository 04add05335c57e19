"""Groups as data sets: the fixtures that xarray wrote, with the values that it decoded, and selection by label."""

from __future__ import annotations

import asyncio
import datetime
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust
from test_fixtures import elements, stored
from zarr_rust import errors


#: What xarray 2024 took for timedeltas by their units alone, and later versions do not, as the library.
LEFT = {("xarray-v2", "groups", "lag"), ("xarray-v2", "times_unconsolidated", "lag")}


def cases(fixtures: Path) -> list[Path]:
    return sorted(path.parent for name in ("xarray-v2", "xarray-v3", "nczarr") for path in (fixtures / name).rglob("expected.json"))


def test_values_that_xarray_decoded(fixtures: Path) -> None:
    compared = 0
    for case in cases(fixtures):
        expected = json.loads((case / "expected.json").read_text())
        for path, group in expected.get("cf", {}).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                dataset = zarr_rust.dataset(case / "store", path)
            assert dataset.attrs == group["attributes"], case
            assert set(dataset) == set(group["variables"]) and len(dataset) == len(list(dataset)), case
            for name, facts in group["variables"].items():
                if (case.parent.name, case.name, name) in LEFT:
                    continue
                variable = dataset[name]
                assert list(variable.dims) == facts["dims"] and (name in dataset.coords) == facts["coordinate"], (case, name)
                assert variable.attrs == facts["attributes"], (case, name)
                found, raw = variable.read(), stored(case, facts["data"])
                assert found.shape == variable.shape
                if facts["data"]["encoding"] == "vlen-utf8":
                    assert [str(text) for text in found.reshape(-1)] == [text.decode() for text in elements(raw)], (case, name)
                else:
                    due = np.frombuffer(raw, facts["dtype"]).reshape(found.shape)
                    assert found.dtype == due.dtype, (case, name)
                    assert found.tobytes() == due.tobytes() or np.array_equal(found, due, equal_nan=True), (case, name)
                compared += 1
    assert compared > 20


def weather() -> tuple[zarr_rust.Dataset, np.ndarray[Any, Any]]:
    group = zarr_rust.create_group("memory:", attributes={"title": "weather"})
    group.create_array("time", data=np.arange(60, dtype="i4"), dimension_names=["time"], attributes={"units": "days since 2019-12-01"})
    group.create_array("lat", data=np.array([60.0, 50.0, 40.0]), dimension_names=["lat"])
    group.create_array("name", data=["a", "b", "c"], dtype="string", dimension_names=["lat"])
    packed = np.arange(180, dtype="i2").reshape(60, 3)
    group.create_array(
        "t2m", data=packed, dimension_names=["time", "lat"], chunks=(20, 2),
        attributes={"scale_factor": 0.5, "add_offset": 273.0, "_FillValue": 7, "units": "K"},
    )
    due = packed * 0.5 + 273.0
    due[packed == 7] = np.nan
    return zarr_rust.dataset(group), due


def test_selection() -> None:
    dataset, due = weather()
    assert dataset.dims == {"time": 60, "lat": 3} and dataset.attrs == {"title": "weather"}
    assert list(dataset.data_vars) == ["name", "t2m"] and list(dataset.coords) == ["lat", "time"]
    t2m = dataset["t2m"]
    assert t2m.dims == ("time", "lat") and t2m.attrs == {"units": "K"} and t2m.encoding["scale_factor"] == 0.5
    assert (t2m.ndim, t2m.size, len(t2m)) == (2, 180, 60) and list(t2m.coords) == ["lat", "time"]
    same = lambda found, expected: np.array_equal(found, expected, equal_nan=True)
    assert same(t2m.values, due) and same(np.asarray(t2m, "f4"), due.astype("f4"))
    times = dataset["time"].read()
    assert times.dtype == np.dtype("M8[ns]") and times[31] == np.datetime64("2020-01-01")
    january = slice(31, 60)
    for label in ("2020-01", slice("2020-01-01", "2020-01-29"), list(times[january]), times[january],
                  slice(datetime.datetime(2020, 1, 1), None), slice(np.datetime64("2020-01-01"), datetime.date(2020, 2, 1))):
        assert same(dataset.sel(time=label)["t2m"].values, due[january])
    assert same(t2m.sel(time=datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc), lat=50).read(), due[31, 1])
    assert same(dataset.sel({"lat": [40, 60.0]})["t2m"].read(), due[:, [2, 0]])
    assert same(t2m.sel(lat=slice(50, 40)).values, due[:, 1:])
    for method, index in (("nearest", 1), ("pad", 0), ("ffill", 0), ("backfill", 1), ("bfill", 1)):
        assert same(t2m.sel(lat=51.0, method=method).values, due[:, index])
    assert same(dataset.isel(time=-1, lat=slice(None, None, -1))["t2m"].values, due[-1, ::-1])
    assert same(t2m[3:9:2, [0, 2]], due[3:9:2][:, [0, 2]]) and same(t2m[..., 1], due[:, 1]) and same(t2m[5], due[5])
    assert same(t2m.isel(time=[True] * 30 + [False] * 30).values, due[:30])
    assert dataset.sel(lat=50)["name"].read() == "b" and dataset["name"].read().tolist() == ["a", "b", "c"]
    assert same(asyncio.run(t2m.isel(time=0).read_async()), due[0])
    assert "t2m" in dataset.overview() and "lat" in repr(dataset) and "time: 60" in repr(t2m)


def test_refused_selections() -> None:
    dataset, _ = weather()
    for labels in ({"lat": 45}, {"depth": 1}, {"lat": "x"}, {"time": "2021"}, {"lat": slice(60, 40, 2)}, {"lat": [50, 51]}):
        with pytest.raises(ValueError):
            dataset.sel(labels)
    with pytest.raises(TypeError):
        dataset.sel(lat=None)
    with pytest.raises(ValueError, match="method"):
        dataset.sel(lat=50, method="best")
    for indices in ({"lat": 3}, {"depth": 1}, {"lat": [5]}):
        with pytest.raises((IndexError, ValueError)):
            dataset.isel(indices)["t2m"]
    with pytest.raises(KeyError):
        dataset["t3m"]
    assert "t3m" not in dataset and dataset.get("t3m") is None
    with pytest.raises(IndexError):
        dataset["t2m"][0, 0, 0]


def test_missing_values_without_a_value_for_that() -> None:
    group = zarr_rust.create_group("memory:", dialect="v2")
    group.create_array("name", data=["a", "", "c"], dtype="string", attributes={"_ARRAY_DIMENSIONS": ["x"], "_FillValue": ""})
    found = zarr_rust.dataset(group)["name"].read()
    assert found.tolist() == ["a", None, "c"]


def test_what_is_no_data_set(tmp_path: Path) -> None:
    group = zarr_rust.create_group("memory:")
    array = group.create_array("a", shape=(3,), dtype="i2")
    with pytest.raises(ValueError, match="dimension_names"):
        zarr_rust.dataset(group)
    for name in ("good", "broken"):
        zarr_rust.create_array(tmp_path / "x.zarr", name, shape=(2,), dtype="i2", dimension_names=["x"])
    (tmp_path / "x.zarr/broken/zarr.json").write_text("{")
    with pytest.warns(errors.ZarrWarning, match="broken"):
        assert list(zarr_rust.dataset(tmp_path / "x.zarr")) == ["good"]
    assert zarr_rust.dataset(group, number_dimensions=True).dims == {"dim_0": 3}
    with pytest.raises(TypeError):
        zarr_rust.dataset(array)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        zarr_rust.dataset(group, decode_coords="some")
    with pytest.raises(FileNotFoundError):
        zarr_rust.dataset(tmp_path / "none.zarr")


def test_data_sets_are_written(tmp_path: Path) -> None:
    times = np.arange("2020-01-01", "2020-01-11", dtype="M8[D]")
    data = np.arange(40.0).reshape(10, 4)
    data[3, 2] = np.nan
    encoding = {"dtype": "i2", "scale_factor": 0.25, "_FillValue": -1, "chunks": (2, 4), "codecs": "gzip(1)"}
    made = zarr_rust.create_dataset(
        tmp_path / "x.zarr", "g",
        {"t2m": (["time", "x"], data, {"units": "K"}, encoding), "name": ("x", ["a", "b", "c", "d"]), "n": ((), 3)},
        {"time": ("time", times)}, {"title": "made"},
    )
    for dataset in (made, zarr_rust.dataset(tmp_path / "x.zarr", "g")):
        assert dataset.attrs == {"title": "made"} and dataset.dims == {"time": 10, "x": 4} and list(dataset.coords) == ["time"]
        assert np.array_equal(dataset["t2m"].values, data, equal_nan=True) and (dataset["time"].values == times).all()
        assert dataset["name"].values.tolist() == ["a", "b", "c", "d"] and dataset["n"].values == 3
    stored = zarr.open_array(tmp_path / "x.zarr", path="g/t2m", mode="r")
    assert stored.dtype == np.dtype("i2") and stored.chunks == (2, 4) and stored[1, 0] == 16 and stored[3, 2] == -1
    with pytest.raises(PermissionError):
        zarr_rust.dataset(tmp_path / "x.zarr", "g").write({"n": ((), 4)})
    dataset = zarr_rust.dataset(tmp_path / "x.zarr", "g", mode="r+")
    dataset.isel(time=slice(4, 6)).write({"t2m": (("time", "x"), np.full((2, 4), 7.0))})
    data[4:6] = 7
    dataset.write({"t2m": (("x", "time"), np.full((4, 2), 9.0))}, {"time": ("time", times[8:])}, by_labels=True, safe_chunks=False)
    data[8:] = 9
    assert np.array_equal(dataset["t2m"].values, data, equal_nan=True)
    with pytest.raises(ValueError, match="chunk"):
        dataset.isel(time=slice(1, 2)).write({"t2m": (("time", "x"), np.zeros((1, 4)))})
    dataset.isel(time=slice(1, 2)).write({"t2m": (("time", "x"), np.zeros((1, 4)))}, safe_chunks=False)
    data[1] = 0
    grown = dataset.append("time", {"t2m": (("time", "x"), data[:2])}, {"time": ("time", times[:2] + np.timedelta64(10, "D"))})
    data = np.concatenate([data, data[:2]])
    assert grown.dims["time"] == 12 and np.array_equal(grown["t2m"].values, data, equal_nan=True)
    changed = grown.update({"n": ((), 5), "more": ("x", np.arange(4))}, attrs={"more": True})
    assert changed["n"].values == 5 and changed["more"].values.tolist() == [0, 1, 2, 3] and changed.attrs == {"title": "made", "more": True}
    with pytest.raises(FileExistsError):
        zarr_rust.create_dataset(tmp_path / "x.zarr", "g")
    assert len(zarr_rust.create_dataset(tmp_path / "x.zarr", "g", overwrite=True)) == 0


def test_refused_variables(tmp_path: Path) -> None:
    for variables, error in (
        ({"a": [1, 2]}, TypeError),
        ({"a": ("x", [1, 2]), "b": ("x", [1, 2, 3])}, ValueError),
        ({"a": (("x", "y"), [1, 2])}, ValueError),
        ({"a": ("x", [300.0], {}, {"dtype": "u1", "scale_factor": "much"})}, ValueError),
        ({"a": ("x", [300], {}, {"compressors": None})}, TypeError),
        ({"a": ("x", [object()])}, TypeError),
    ):
        with pytest.raises(error):
            zarr_rust.create_dataset(tmp_path / "x.zarr", variables=variables)
        assert not (tmp_path / "x.zarr").exists() or not list((tmp_path / "x.zarr").iterdir())
    with pytest.raises(ValueError, match="twice"):
        zarr_rust.create_dataset(tmp_path / "x.zarr", variables={"a": ("a", [1])}, coords={"a": ("a", [1])})


def test_a_dimension_that_is_there_twice() -> None:
    group = zarr_rust.create_group("memory:")
    values = np.arange(9).reshape(3, 3)
    group.create_array("covariance", data=values, dimension_names=["x", "x"])
    variable = zarr_rust.dataset(group)["covariance"]
    assert (variable.read() == values).all() and (variable[...] == values).all() and (variable[:, :] == values).all()
    for selection in (0, (slice(None), 1), (0, 1), (..., 1)):
        with pytest.raises(IndexError, match="twice"):
            variable[selection]


def test_lists_of_any_length(tmp_path: Path) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr", dialect="v2")
    array = group.create_array("lists", shape=(2,), dtype="i4", attributes={"_ARRAY_DIMENSIONS": ["x"]})
    document = json.loads((tmp_path / "x.zarr/lists/.zarray").read_text())
    document |= {"dtype": "|O", "filters": [{"id": "vlen-array", "dtype": "<i4"}], "fill_value": None}
    (tmp_path / "x.zarr/lists/.zarray").write_text(json.dumps(document))
    array = zarr_rust.open_array(tmp_path / "x.zarr", "lists", mode="r+")
    array[:] = [[1, 2, 3], []]
    found = zarr_rust.dataset(tmp_path / "x.zarr")["lists"].read()
    assert [(part.tolist(), part.dtype) for part in found] == [([1, 2, 3], np.int32), ([], np.int32)]


def test_fill_values_that_json_lacks(tmp_path: Path) -> None:
    for number, (fill, dialect) in enumerate((fill, dialect) for fill in (np.nan, np.inf, -np.float32(np.inf)) for dialect in ("v2", "v3")):
        url = tmp_path / f"{number}.zarr"
        values = np.array([1, fill, 3], "f4")
        zarr_rust.create_dataset(url, variables={"a": ("x", values, {}, {"_FillValue": fill})}, dialect=dialect)
        assert np.isnan(zarr_rust.dataset(url)["a"].read()).tolist() == [False, True, False]
    with pytest.raises(ValueError) as found:
        zarr_rust.create_dataset("memory:", variables={"broken": ("x", [1], {"nan": np.nan})})
    assert "/broken" in str(found.value) and "/attributes/nan" in str(found.value)


def test_dialects_side_by_side(tmp_path: Path) -> None:
    for dialect, value in (("v3", 3), ("v2", 2)):
        url = tmp_path / f"{dialect}.zarr"
        zarr_rust.create_dataset(url, variables={"a": ("x", np.full(4, value))}, dialect=dialect, consolidated=False)
        shutil.copytree(url, tmp_path / "x.zarr", dirs_exist_ok=True)
    for mode in ("r", "r+"):
        for dialect, value in (("v3", 3), ("v2", 2)):
            assert zarr_rust.dataset(tmp_path / "x.zarr", mode=mode, dialect=dialect)["a"].read().tolist() == [value] * 4
            group = zarr_rust.open_group(tmp_path / "x.zarr", mode=mode, dialect=dialect)
            assert zarr_rust.dataset(group)["a"].read().tolist() == [value] * 4
    old = zarr_rust.open_group(tmp_path / "x.zarr", dialect="v2")
    with pytest.raises(TypeError, match="dialect"):
        zarr_rust.dataset(old, dialect="v2")
    with pytest.raises(ValueError, match="v2 and is stored as v3"):
        zarr_rust.convert(old, tmp_path / "y.zarr")
    assert not (tmp_path / "y.zarr").exists()
    zarr_rust.convert(zarr_rust.open_group(tmp_path / "x.zarr"), tmp_path / "y.zarr")
    assert zarr_rust.open_array(tmp_path / "y.zarr", "a")[:].tolist() == [3] * 4
