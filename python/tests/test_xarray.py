"""The engine of xarray beside xarray's own."""

from __future__ import annotations

import asyncio
import functools
import http.server
import pickle
import sys
import threading
import time
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
import xarray
import zarr
import zarr_rust
from xarray.backends.plugins import list_engines, refresh_engines
from xarray.core.indexing import BasicIndexer
from zarr_rust.errors import ZarrWarning
from zarr_rust.xarray import LazyArray, ZarrRustBackend

CASES = [
    *(f"xarray-{version}/{case}" for version in ("v2", "v3") for case in ("calendar", "climate", "groups", "times_unconsolidated")),
    *("nczarr/netcdf_4_10", "nczarr/netcdf_4_10_pure", "nczarr/netcdf_4_9_0"),
]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        # Of zarr-python, about consolidated metadata and strings in version 3.
        warnings.filterwarnings("ignore", category=UserWarning, module="zarr")
        warnings.filterwarnings("ignore", message="Failed to open Zarr store with consolidated")
        warnings.filterwarnings("ignore", category=FutureWarning)
        yield


def compare(ours: xarray.Dataset, theirs: xarray.Dataset) -> None:
    xarray.testing.assert_identical(ours, theirs)
    for name, variable in theirs.variables.items():
        found = ours.variables[name]
        assert found.dtype == variable.dtype, name
        for key in ("chunks", "shards", "fill_value", "_FillValue", "scale_factor", "add_offset", "units", "calendar"):
            assert (key in found.encoding) == (key in variable.encoding), (name, key)
            np.testing.assert_equal(found.encoding.get(key), variable.encoding.get(key), err_msg=f"{name} {key}")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("decode", [True, False])
def test_stores_of_other_software(fixtures: Path, case: str, decode: bool) -> None:
    store = fixtures / case / "store"
    arguments: dict[str, Any] = {} if decode else {"decode_times": False, "mask_and_scale": False, "decode_coords": False}
    theirs = xarray.open_groups(store, engine="zarr", **arguments)
    ours = xarray.open_groups(store, engine=ZarrRustBackend, **arguments)
    assert list(ours) == list(theirs)
    for path, data in theirs.items():
        compare(ours[path], data)
        compare(xarray.open_dataset(store, engine=ZarrRustBackend, group=path, **arguments), data)
    tree = xarray.open_datatree(store, engine=ZarrRustBackend, **arguments)
    xarray.testing.assert_identical(tree, xarray.open_datatree(store, engine="zarr", **arguments))


def random_dataset(random: np.random.Generator) -> xarray.Dataset:
    time = np.datetime64("2001-03-04", "ns") + random.integers(0, 10**6, 7).cumsum().astype("m8[s]")
    floats = random.standard_normal((7, 4, 5)).astype("f4")
    floats[random.random(floats.shape) < 0.2] = np.nan
    packed = random.integers(-50, 50, (4, 5)).astype("f8") / 2
    packed[0, 0] = np.nan
    return xarray.Dataset(
        {
            "floats": (("time", "y", "x"), floats, {"units": "K", "grid_mapping": "crs"}),
            "packed": (("y", "x"), packed),
            "counts": (("x",), random.integers(0, 200, 5).astype("u1"), {"missing_value": 7}),
            "flags": (("y",), random.random(4) < 0.5),
            "names": (("x",), np.array(["", "é", "b" * 9, "𝄞", "x"], dtype=object)),
            "codes": (("y",), np.array([b"ab", b"c", b"", b"def"])),
            "complex": (("y",), random.standard_normal(4) + 1j),
            "lags": (("y",), random.integers(0, 99, 4).astype("m8[s]").astype("m8[ns]")),
            "crs": ((), 0, {"grid_mapping_name": "latitude_longitude"}),
        },
        coords={"time": time, "x": np.arange(5.0), "label": (("y",), np.array(["a", "b", "c", "d"]))},
        attrs={"title": "random", "numbers": [1, 2]},
    )


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_data_sets_that_xarray_wrote(tmp_path: Path, zarr_format: int, seed: int) -> None:
    data = random_dataset(np.random.default_rng(seed))
    encoding: dict[str, Any] = {
        "packed": {"dtype": "i2", "scale_factor": 0.5, "add_offset": 3.0, "_FillValue": -99, "chunks": (2, 5)},
        "floats": {"chunks": (2, 4, 5), "_FillValue": np.float32(-9)},
    }
    if zarr_format == 3 and seed:
        encoding["floats"] |= {"shards": (4, 4, 5)}
    if seed == 2:
        del encoding["floats"]["_FillValue"]
    data.to_zarr(tmp_path / "x.zarr", zarr_format=zarr_format, encoding=encoding, consolidated=seed != 1)
    for arguments in ({}, {"mask_and_scale": False}, {"decode_coords": "all"}, {"drop_variables": ["names", "x"]}):
        theirs = xarray.open_dataset(tmp_path / "x.zarr", engine="zarr", **arguments)
        compare(xarray.open_dataset(tmp_path / "x.zarr", engine=ZarrRustBackend, **arguments), theirs)
        lazy = xarray.open_dataset(tmp_path / "x.zarr", engine=ZarrRustBackend, chunks={}, **arguments)
        xarray.testing.assert_identical(lazy.compute(), theirs)


def test_fill_values_mask_before_version_3(tmp_path: Path) -> None:
    for zarr_format, fill in ((2, None), (2, 3), (3, 3)):
        url = tmp_path / f"{zarr_format}{fill}.zarr"
        array = zarr.create_array(url, name="a", shape=4, chunks=2, dtype="i4", fill_value=fill, zarr_format=zarr_format)
        if zarr_format == 2:
            array.attrs["_ARRAY_DIMENSIONS"] = ["x"]
        else:
            array = zarr.create_array(
                url, name="a", shape=4, chunks=2, dtype="i4", fill_value=fill, dimension_names=["x"], overwrite=True
            )
        array[:] = [1, 2, 3, 4]
        theirs = xarray.open_dataset(url, engine="zarr", consolidated=False)
        compare(xarray.open_dataset(url, engine=ZarrRustBackend, consolidated=False), theirs)
        for mask in (True, False):
            found = xarray.open_dataset(url, engine=ZarrRustBackend, use_zarr_fill_value_as_mask=mask)
            expected = [1, 2, np.nan if mask and fill == 3 else 3, 4]
            np.testing.assert_equal(found.a.values.astype("f8"), expected)


@pytest.mark.parametrize("dialect", ["v2", "p2019", "p2020", "d2022", "v3"])
def test_dialects(tmp_path: Path, dialect: str) -> None:
    values = np.arange(12.0).reshape(3, 4)
    attributes: dict[str, Any] = {"units": "m"}
    names = ["y", "x"] if dialect.startswith("v3") else None
    if names is None:
        attributes["_ARRAY_DIMENSIONS"] = ["y", "x"]
    array = zarr_rust.create_array(
        tmp_path / "x.zarr", "g/a", shape=(3, 4), chunks=(2, 3), dtype="f8", attributes=attributes, dimension_names=names,
        fill_value=5, dialect=dialect,
    )
    array[:] = values
    assert array.dialect == dialect
    found = xarray.open_dataset(tmp_path / "x.zarr", engine=ZarrRustBackend, group="g")
    # The draft of 2022 has no null: there an attribute marks missing values, as in version 3.
    expected = values if dialect in ("d2022", "v3") else np.where(values == 5, np.nan, values)
    xarray.testing.assert_identical(found.a.variable, xarray.Variable(("y", "x"), expected, {"units": "m"}))


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dialect", ["p2019", "p2020", "d2022"])
def test_conversions_into_drafts_and_back_keep_decoded_values(tmp_path: Path, dialect: str, zarr_format: int) -> None:
    packed = {"dtype": "i2", "scale_factor": 0.5, "add_offset": 3.0, "_FillValue": -99}
    random_dataset(np.random.default_rng(7)).to_zarr(
        tmp_path / "x.zarr", zarr_format=zarr_format, encoding={"packed": packed, "flags": {"_FillValue": False}}
    )
    zarr_rust.convert(tmp_path / "x.zarr", tmp_path / "draft.zarr", dialect=dialect)
    zarr_rust.convert(tmp_path / "draft.zarr", tmp_path / "back.zarr", dialect=f"v{zarr_format}")
    expected = xarray.open_dataset(tmp_path / "x.zarr", engine=ZarrRustBackend)
    for name in ("draft.zarr", "back.zarr"):
        found = xarray.open_dataset(tmp_path / name, engine=ZarrRustBackend)
        xarray.testing.assert_identical(found, expected)
        assert {name: it.dtype for name, it in found.variables.items()} == {name: it.dtype for name, it in expected.variables.items()}


@pytest.mark.parametrize("shards", [None, (6, 8, 4)])
def test_selections_are_those_of_numpy(tmp_path: Path, shards: tuple[int, ...] | None) -> None:
    random = np.random.default_rng(5)
    data = random.integers(0, 10**6, (11, 9, 5))
    array = zarr_rust.create_array(
        tmp_path / "x.zarr", "data", shape=data.shape, chunks=(3, 4, 2), shards=shards, dtype="i8", dimension_names=["a", "b", "c"]
    )
    array[:] = data
    lazy = xarray.open_dataset(tmp_path / "x.zarr", engine=ZarrRustBackend)["data"]
    memory = xarray.DataArray(data, dims=["a", "b", "c"], name="data")

    def one(length: int, kind: int) -> Any:
        if kind == 0:
            return int(random.integers(-length, length))
        if kind == 1:
            start, stop = (int(bound) for bound in random.integers(-length - 2, length + 2, 2))
            return slice(start, stop, int(random.choice([-3, -2, -1, 1, 2, 3])))
        if kind == 2:
            return random.integers(-length, length, int(random.integers(0, 5)))
        return xarray.DataArray(random.integers(-length, length, (2, 3)), dims=["p", "q"])

    kinds, compared = set(), 0
    for _ in range(250):
        chosen = {}
        for name, length in zip("abc", data.shape):
            kind = int(random.integers(0, 5))
            if kind < 4:
                chosen[name] = one(length, kind)
            kinds.add((name, kind))
        # xarray takes descending ranges of nothing for others, whatever the engine.
        if not memory.isel(chosen).size:
            continue
        compared += 1
        xarray.testing.assert_identical(lazy.isel(chosen), memory.isel(chosen))
        again = {name: one(size, 1) for name, size in lazy.isel(chosen).sizes.items() if size}
        expected = memory.isel(chosen).isel(again)
        if expected.size:
            xarray.testing.assert_identical(lazy.isel(chosen).isel(again), expected)
    assert len(kinds) == 15 and compared > 80


def test_parts_alone_are_read(tmp_path: Path) -> None:
    array = zarr_rust.create_array(
        tmp_path / "x.zarr", "a", shape=(8, 8), chunks=(2, 2), dtype="i4", dimension_names=["y", "x"], dialect="v2"
    )
    array[:] = 1
    # All chunks but the ones of a column and a point are broken, so that a read of another one fails.
    for chunk in (tmp_path / "x.zarr" / "a").glob("*.*"):
        if chunk.name not in ("0.1", "1.1", "2.1", "3.1", "3.3") and not chunk.name.startswith(".z"):
            chunk.write_bytes(b"broken")
    lazy = xarray.open_dataset(tmp_path / "x.zarr", engine=ZarrRustBackend).a
    assert lazy[:, 3].sum() == 8 and lazy[::-2, 2:4].sum() == 8
    points = {name: xarray.DataArray(values, dims="p") for name, values in {"y": [7, 0, 5], "x": [7, 3, 2]}.items()}
    assert lazy.isel(points).sum() == 3
    with pytest.raises(ValueError):
        lazy.compute()


def test_shards_are_the_blocks_of_dask(tmp_path: Path) -> None:
    array = zarr_rust.create_array(
        tmp_path / "x.zarr", "a", shape=(10, 8), chunks=(2, 2), shards=(4, 8), dtype="i4", dimension_names=["y", "x"]
    )
    array[:] = np.arange(80).reshape(10, 8)
    data = xarray.open_dataset(tmp_path / "x.zarr", engine=ZarrRustBackend, chunks={})
    assert data.a.chunks == ((4, 4, 2), (8,))
    assert data.a.encoding["chunks"] == (2, 2) and data.a.encoding["shards"] == (4, 8)
    # The shards come back where it is written again.
    data.to_zarr(tmp_path / "y.zarr", zarr_format=3, consolidated=False)
    again = zarr_rust.open_array(tmp_path / "y.zarr", "a")
    assert (again.chunks, again.shards) == ((2, 2), (4, 8)) and (again[:] == array[:]).all()
    task = pickle.dumps(xarray.open_dataset(tmp_path / "x.zarr", engine=ZarrRustBackend).a.variable._data)
    assert len(task) < 2000 and (pickle.loads(task).get_duck_array() == array[:]).all()


def test_chunks_of_several_lengths(fixtures: Path, tmp_path: Path) -> None:
    group = zarr_rust.open_group(fixtures / "v3" / "rectilinear" / "store")
    for name, lengths in {"lists": ((3, 2, 5), (4, 3)), "runs": ((2, 2, 2, 6), (1, 1, 4)), "overhang": ((2, 2, 1),)}.items():
        array = group[name]
        assert isinstance(array, zarr_rust.Array)
        with dask.config.set({"array.chunk-size": "1 B"}):
            assert array.to_dask().chunks == lengths
        assert (array.to_dask().compute() == array[:]).all()


def test_consolidated_metadata(tmp_path: Path) -> None:
    url = tmp_path / "x.zarr"
    data = xarray.Dataset({"a": (("x",), [1, 2])}, {"x": [3, 4]})
    for zarr_format in (2, 3):
        data.to_zarr(url, group="g/h", zarr_format=zarr_format, consolidated=False, mode="w")
        with pytest.raises(ValueError, match="consolidated"):
            xarray.open_dataset(url, engine=ZarrRustBackend, group="g", consolidated=True)
        zarr.consolidate_metadata(url)
        # One that the copy does not know.
        late = zarr.create_array(url, name="g/h/late", shape=2, dtype="i4", zarr_format=zarr_format)
        late.attrs["_ARRAY_DIMENSIONS"] = ["x"]
        if zarr_format == 3:
            zarr.create_array(url, name="g/h/late", shape=2, dtype="i4", dimension_names=["x"], overwrite=True)
        for consolidated, names in ((None, {"a", "x"}), (True, {"a", "x"}), (False, {"a", "x", "late"})):
            found = xarray.open_dataset(url, engine=ZarrRustBackend, group="g/h", consolidated=consolidated)
            assert set(found.variables) == names, (zarr_format, consolidated)
        groups = xarray.open_groups(url, engine=ZarrRustBackend, group="g")
        theirs = xarray.open_groups(url, engine="zarr", group="g")
        assert list(groups) == list(theirs)
        # A group that is open already.
        opened = zarr_rust.open_group(url)["g"]
        found = xarray.open_dataset(opened, engine=ZarrRustBackend, group="h", drop_variables="late")
        xarray.testing.assert_identical(found, data)


def test_arguments_and_errors(tmp_path: Path) -> None:
    url = tmp_path / "x.zarr"
    zarr_rust.create_array(url, "a", shape=3, dtype="i4", dimension_names=["x"], fill_value=1)
    zarr_rust.create_array(url, "nameless", shape=3, dtype="i4")
    with pytest.raises(KeyError, match="nameless.*dimension_names"):
        xarray.open_dataset(url, engine=ZarrRustBackend)
    opened = xarray.open_dataset(
        url, engine=ZarrRustBackend, drop_variables="nameless", storage_options={"durability": "none"}, dialect="v3"
    )
    assert opened.a.sum() == 3 and opened.encoding["source"] == str(url)
    with pytest.raises(KeyError):
        xarray.open_dataset(url, engine=ZarrRustBackend, group="absent")
    with pytest.raises(FileNotFoundError):
        xarray.open_dataset(tmp_path / "absent.zarr", engine=ZarrRustBackend)
    with pytest.raises(TypeError, match="group"):
        xarray.open_dataset(url, engine=ZarrRustBackend, group="a")
    group = zarr_rust.open_group(url)
    assert xarray.open_dataset(group, engine=ZarrRustBackend, drop_variables=["nameless"]).a.sum() == 3
    with pytest.raises(ValueError, match="storage_options"):
        xarray.open_dataset(group, engine=ZarrRustBackend, storage_options={"durability": "none"})


def test_broken_arrays_are_left_out_with_a_warning(tmp_path: Path) -> None:
    url = tmp_path / "x.zarr"
    for name in ("a", "b"):
        zarr_rust.create_array(url, name, shape=3, dtype="i4", dimension_names=["x"], codecs="gzip")
    document = url / "b" / "zarr.json"
    document.write_text(document.read_text().replace('"gzip"', '"unheard"'))
    with pytest.warns(ZarrWarning, match="unheard"):
        found = xarray.open_dataset(url, engine=ZarrRustBackend)
    assert list(found.variables) == ["a"]


def test_arrays_that_numpy_lacks_are_left_out_with_a_warning(tmp_path: Path) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr")
    for name, dtype in (("a", "i4"), ("b", "bfloat16")):
        group.create_array(name, shape=3, dtype=dtype, dimension_names=["x"])
    with pytest.warns(ZarrWarning, match="bfloat16"):
        found = xarray.open_dataset(group, engine=ZarrRustBackend)
    assert list(found.variables) == ["a"]


def test_an_open_group_keeps_its_dialect(tmp_path: Path) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr", dialect="v2")
    assert not xarray.open_dataset(group, engine=ZarrRustBackend, dialect="v2").variables
    with pytest.raises(ValueError, match="v2"):
        xarray.open_dataset(group, engine=ZarrRustBackend, dialect="v3")


def test_cancelled_loads_end(monkeypatch: pytest.MonkeyPatch) -> None:
    array = zarr_rust.create_array("memory:", shape=(4,), dtype="i4")
    begun, ended = threading.Event(), threading.Event()

    def read(*_: Any) -> None:
        begun.set()
        time.sleep(0.1)
        ended.set()

    monkeypatch.setattr(array, "_read", read)

    async def work() -> None:
        task = asyncio.create_task(LazyArray(array).async_getitem(BasicIndexer((slice(None),))))
        assert await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set(), "no load is under way after its task"

    asyncio.run(work())


def test_reads_in_an_event_loop(tmp_path: Path) -> None:
    array = zarr_rust.create_array(tmp_path / "x.zarr", "a", shape=(6, 4), dtype="i4", dimension_names=["y", "x"])
    array[:] = np.arange(24).reshape(6, 4)
    data = xarray.open_dataset(tmp_path / "x.zarr", engine=ZarrRustBackend).isel(y=slice(None, None, -2), x=[3, 0])
    if not hasattr(data, "load_async"):
        pytest.skip("this xarray has no load_async")
    loaded = asyncio.run(data.load_async())
    assert (loaded.a.values == array[:][::-2][:, [3, 0]]).all()


def test_over_http_a_group_is_found_by_consolidated_metadata(tmp_path: Path) -> None:
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    data = xarray.Dataset({"a": (("x",), np.arange(9))}, {"x": np.arange(9)})
    data.to_zarr(tmp_path / "x.zarr", group="g", zarr_format=3)
    zarr.consolidate_metadata(tmp_path / "x.zarr")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=tmp_path)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}/x.zarr"
            xarray.testing.assert_identical(xarray.open_dataset(url, engine=ZarrRustBackend, group="g").load(), data)
            tree = xarray.open_datatree(url, engine=ZarrRustBackend)
            xarray.testing.assert_identical(tree["g"].to_dataset().load(), data)
        finally:
            server.shutdown()
            thread.join()


def test_the_engine_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As pip installs it.
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    folder = tmp_path / "site" / "zarr_rust-0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: zarr-rust\nVersion: 0\n")
    lines = [f"{name} = {value}\n" for name, value in project["entry-points"]["xarray.backends"].items()]
    (folder / "entry_points.txt").write_text("[xarray.backends]\n" + "".join(lines))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    refresh_engines()
    try:
        assert type(list_engines()["zarr_rust"]) is ZarrRustBackend
        zarr_rust.create_array(tmp_path / "x.zarr", "a", shape=3, dtype="i4", dimension_names=["x"], fill_value=1)
        assert xarray.open_dataset(tmp_path / "x.zarr", engine="zarr_rust").a.sum() == 3
        backend = ZarrRustBackend()
        guesses = {"x.zarr": True, "s3://b/x.zarr/": True, "x.zarr.zip": True, "x.nc": False, tmp_path / "x.zarr": True, b"CDF": False}
        assert {name: backend.guess_can_open(name) for name in guesses} == guesses
    finally:
        monkeypatch.undo()
        refresh_engines()


def test_stores_that_support_no_consolidated_metadata_have_none() -> None:
    class Plain(zarr.storage.WrapperStore[zarr.storage.MemoryStore]):
        supports_consolidated_metadata = False

    store = Plain(zarr.storage.MemoryStore())
    data = xarray.Dataset({"t": (("x",), np.arange(3.0))})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data.to_zarr(store, consolidated=True)
    for consolidated in (None, True, False):
        xarray.testing.assert_identical(xarray.open_dataset(store, engine=ZarrRustBackend, consolidated=consolidated).load(), data)
    with pytest.raises(ValueError, match="no consolidated metadata"):
        xarray.open_dataset(store._store, engine=ZarrRustBackend, consolidated=True)
