"""Tables of data sets: equal to those of xarray, in pyarrow, Polars, DuckDB and pandas."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import xarray
import zarr
import zarr_rust
from zarr.storage import MemoryStore

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

ENCODINGS = ["plain", "dictionary", "run-end"]


def random_dataset(random: np.random.Generator) -> xarray.Dataset:
    """A data set of one to three dimensions, some with labels, whose variables have some or all of them."""
    names = ["time", "lat", "lon"][: random.integers(1, 4)]
    sizes = {name: int(random.integers(1, 8)) for name in names}
    coords: dict[str, Any] = {}
    for name, size in sizes.items():
        if random.random() < 0.7:
            if name == "time":
                start = np.datetime64("2000-01-01", "ns") + np.timedelta64(int(random.integers(0, 10**6)), "m")
                coords[name] = (name, start + np.arange(size) * np.timedelta64(6, "h"))
            else:
                coords[name] = (name, np.arange(size) / 4 - 30)
    if random.random() < 0.3:
        coords["height"] = ((), 2.0)
    if len(names) == 3 and random.random() < 0.3:
        coords["area"] = (("lat", "lon"), random.random((sizes["lat"], sizes["lon"])))
    variables: dict[str, Any] = {}
    encoding: dict[str, Any] = {}
    for number in range(random.integers(1, 5)):
        dims = [name for name in names if number == 0 or random.random() < 0.8]
        shape = tuple(sizes[name] for name in dims)
        name = f"v{number}"
        kind = random.choice(["f4", "f8", "i2", "u1", "i8", "bool", "string", "packed", "time", "span"])
        if kind in ("f4", "f8", "packed"):
            values: Any = np.asarray(random.integers(-99, 99, shape) / 2, "f4" if kind == "f4" else "f8")
            values = np.where(random.random(shape) < 0.2, np.nan, values)
            if kind == "packed":
                encoding[name] = {"dtype": "i2", "scale_factor": 0.5, "add_offset": 1.0, "_FillValue": -32768}
        elif kind == "bool":
            values = random.random(shape) < 0.5
        elif kind == "string":
            words = np.array(["", "é", "twelve bytes", "longer than twelve bytes"], object)
            values = words[random.integers(0, 4, shape)]
        elif kind == "time":
            values = np.datetime64("1999-12-31", "ns") + random.integers(0, 10**6, shape).astype("m8[s]")
            values = np.where(random.random(shape) < 0.2, np.datetime64("NaT", "ns"), values)
        elif kind == "span":
            values = random.integers(-(10**6), 10**6, shape).astype("m8[s]").astype("m8[ns]")
        else:
            values = random.integers(0, 100, shape).astype(kind)
        chunks = tuple(int(random.integers(1, size + 1)) for size in shape)
        if shape:
            encoding.setdefault(name, {})["chunks"] = chunks
        variables[name] = (dims, values)
    data = xarray.Dataset(variables, coords)
    for name, one in encoding.items():
        data[name].encoding.update(one)
    return data


def frame(data: xarray.Dataset, table: zarr_rust.Table) -> pandas.DataFrame:
    """The table that xarray makes of a data set, with the labels of dimensions as columns."""
    return data.to_dataframe(dim_order=list(table.dims)).reset_index()


def assert_equal(found: pandas.DataFrame, expected: pandas.DataFrame) -> None:
    assert set(found.columns) == set(expected.columns)
    for name in expected.columns:
        one, other = found[name], expected[name]
        if other.dtype.kind in "OTU" or str(other.dtype) in ("str", "string"):
            assert [None if pandas.isna(text) else str(text) for text in one] == list(other), name
        else:
            assert one.dtype == other.dtype, (name, one.dtype, other.dtype)
            np.testing.assert_array_equal(one.to_numpy(), other.to_numpy(), name)


def plain(table: Any) -> Any:
    """A table of pyarrow without dictionaries and runs."""
    columns = []
    for column in table.columns:
        chunks = []
        for chunk in column.chunks:
            if pyarrow.types.is_run_end_encoded(chunk.type):
                chunk = pyarrow.compute.run_end_decode(chunk)
            chunks.append(chunk.dictionary_decode() if pyarrow.types.is_dictionary(chunk.type) else chunk)
        columns.append(pyarrow.chunked_array(chunks, chunks[0].type if chunks else pyarrow.null()))
    return pyarrow.table(columns, names=table.column_names)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(200))
def test_random_data_sets_are_those_of_xarray(seed: int, tmp_path: Path) -> None:
    import pyarrow.compute  # noqa: F401

    random = np.random.default_rng(seed)
    random_dataset(random).to_zarr(tmp_path / "data.zarr", zarr_format=int(random.choice([2, 3])))
    theirs = xarray.open_zarr(tmp_path / "data.zarr", chunks=None, decode_timedelta=True)
    ours = zarr_rust.dataset(tmp_path / "data.zarr")
    encoding = str(random.choice(ENCODINGS))
    options: dict[str, Any] = {"coordinates": encoding, "batch_rows": int(random.integers(1, 60)), "memory": int(random.choice([2000, 2**20]))}
    isel = {name: slice(int(random.integers(0, size)), size) for name, size in theirs.sizes.items() if random.random() < 0.3}
    table = ours.to_arrow(isel=isel, **options)
    selected = theirs.isel(isel)
    expected = frame(selected, table)
    found = pyarrow.table(table)
    found.validate(full=True)
    assert len(table) == found.num_rows == len(expected)
    assert list(table.columns) == found.column_names
    assert_equal(plain(found).to_pandas(), expected)
    # Without an order there are the same rows.
    unordered = plain(pyarrow.table(ours.to_arrow(isel=isel, ordered=False, **options))).to_pandas()
    keys = list(table.dims)
    if keys:
        assert_equal(unordered.sort_values(keys, ignore_index=True)[found.column_names], expected.sort_values(keys, ignore_index=True))


@pytest.fixture
def weather(tmp_path: Path) -> tuple[zarr_rust.Dataset, xarray.Dataset]:
    """A data set with times, labels, missing values and strings."""
    values = np.arange(5 * 4 * 3, dtype="f4").reshape(5, 4, 3)
    values[1, 2] = np.nan
    data = xarray.Dataset(
        {"t2m": (("time", "lat", "lon"), values), "station": (("lat", "lon"), np.array([f"station {n}" for n in range(12)]).reshape(4, 3))},
        {
            "time": ("time", np.datetime64("2020-01-30", "ns") + np.arange(5) * np.timedelta64(1, "D")),
            "lat": ("lat", [40.0, 45.0, 50.0, 55.0]),
            "lon": ("lon", [1, 2, 3]),
        },
    )
    data["t2m"].encoding["chunks"] = (1, 2, 3)
    data.to_zarr(tmp_path / "weather.zarr", zarr_format=2)
    return zarr_rust.dataset(tmp_path / "weather.zarr"), xarray.open_zarr(tmp_path / "weather.zarr", chunks=None)


def test_capsules(weather: tuple[zarr_rust.Dataset, xarray.Dataset]) -> None:
    table = weather[0]["t2m"].to_arrow(coordinates="dictionary")
    assert repr(table) == "<Table (time: 5, lat: 4, lon: 3) time, lat, lon, t2m>"
    assert 'capsule object "arrow_schema"' in repr(table.__arrow_c_schema__())
    stream = table.__arrow_c_stream__()
    assert 'capsule object "arrow_array_stream"' in repr(stream)
    schema = pyarrow.schema(table)
    assert schema.names == list(table.columns)
    assert schema.field("time").type == pyarrow.dictionary(pyarrow.int32(), pyarrow.timestamp("ns"))
    # Capsules that nobody takes, and one that is read in part, free what they have.
    reader = pyarrow.RecordBatchReader.from_stream(weather[0].to_arrow(batch_rows=7))
    first = reader.read_next_batch()
    del stream, reader
    gc.collect()
    assert first.num_rows == 7 and first["t2m"].to_pylist() == [0, 1, 2, 3, 4, 5, 6]


def test_batches(weather: tuple[zarr_rust.Dataset, xarray.Dataset]) -> None:
    ours, theirs = weather
    table = ours.to_arrow("t2m", batch_rows=25)
    batches = list(table)
    assert [len(batch) for batch in batches] == [25, 25, 10]
    found = pyarrow.Table.from_batches([pyarrow.record_batch(batch) for batch in batches])
    assert_equal(found.to_pandas(), frame(theirs[["t2m"]], table))


def test_selections(weather: tuple[zarr_rust.Dataset, xarray.Dataset]) -> None:
    ours, theirs = weather
    table = ours.to_arrow(sel={"time": "2020-01-31", "lat": slice(45, 50)})
    assert_equal(pyarrow.table(table).to_pandas(), frame(theirs.sel(time="2020-01-31", lat=slice(45, 50)), table))
    table = ours.to_arrow("t2m", isel={"time": -1, "lon": [2, 0]})
    assert_equal(pyarrow.table(table).to_pandas(), frame(theirs[["t2m"]].isel(time=-1, lon=[2, 0]), table))
    with pytest.raises(ValueError, match="coordinates 'rle': expected one of 'run-end', 'dictionary', 'plain'"):
        ours.to_arrow(coordinates="rle")
    with pytest.raises(ValueError, match="batch_rows 0: expected at least 1"):
        ours.to_arrow(batch_rows=0)
    with pytest.raises((KeyError, ValueError), match="nope"):
        ours.to_arrow("nope")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_duckdb(weather: tuple[zarr_rust.Dataset, xarray.Dataset], encoding: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    ours, theirs = weather
    table = weather_table = ours.to_arrow(coordinates=encoding)
    mean = theirs["t2m"].groupby("time.month").mean(...).values
    found = duckdb.sql("SELECT month(time) AS month, avg(t2m) FROM weather_table GROUP BY month ORDER BY month").fetchall()
    np.testing.assert_allclose([mean for _, mean in found], mean)
    assert duckdb.sql("SELECT count(*), count(t2m) FROM weather_table WHERE lat >= 50").fetchall() == [(30, 27)]
    assert duckdb.sql("SELECT DISTINCT station FROM weather_table WHERE lat = 40 AND lon = 2").fetchall() == [("station 1",)]
    everything = duckdb.sql("SELECT * FROM weather_table").df()
    expected = frame(theirs, table)
    np.testing.assert_array_equal(everything["t2m"].to_numpy(), expected["t2m"].to_numpy())
    np.testing.assert_array_equal(everything["time"].to_numpy().astype("M8[ns]"), expected["time"].to_numpy())


@pytest.mark.parametrize("encoding", ["plain", "dictionary"])
def test_polars(weather: tuple[zarr_rust.Dataset, xarray.Dataset], encoding: str) -> None:
    polars = pytest.importorskip("polars")
    ours, theirs = weather
    table = ours.to_arrow(coordinates=encoding)
    found = polars.DataFrame(table)
    assert found.shape == (60, 5) and found["t2m"].null_count() == 3
    assert found["time"].to_list()[-1].isoformat().startswith("2020-02-03")
    assert found["t2m"].mean() == pytest.approx(float(theirs["t2m"].mean()))
    assert found["station"].to_list() == frame(theirs, table)["station"].to_list()


def test_pandas(weather: tuple[zarr_rust.Dataset, xarray.Dataset]) -> None:
    ours, theirs = weather
    table = ours.to_arrow()
    assert_equal(pandas.DataFrame.from_arrow(table), frame(theirs, table))


def test_an_error_in_mid_stream_is_one_of_the_reader(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "bad.zarr", zarr_format=3)
    array = group.create_array("v", shape=(40,), chunks=(10,), dtype="f8", dimension_names=["x"], compressors=None)
    array[:] = np.arange(40)
    (tmp_path / "bad.zarr" / "v" / "c" / "3").write_bytes(b"short")
    reader = pyarrow.RecordBatchReader.from_stream(zarr_rust.dataset(tmp_path / "bad.zarr").to_arrow(memory=200))
    assert reader.read_next_batch().num_rows
    with pytest.raises(OSError, match="bad.zarr.*v"):
        reader.read_all()


def test_stores_of_python_are_read_by_threads_of_others() -> None:
    store = MemoryStore()
    group = zarr.create_group(store, zarr_format=3)
    group.create_array("v", data=np.arange(1000.0), chunks=(100,), dimension_names=["x"])
    table = zarr_rust.dataset(store).to_arrow(batch_rows=100)
    assert pyarrow.table(table)["v"].to_pylist() == list(range(1000))
    sums: list[float] = []

    def add() -> None:
        sums.append(sum(sum(batch["v"].to_pylist()) for batch in pyarrow.RecordBatchReader.from_stream(table)))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [499500] * 4
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(table)["v"].sum() == 499500


class Counting(MemoryStore):
    """Values in memory that count the chunks that are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.chunks: list[str] = []

    async def get(self, key: str, *arguments: Any, **others: Any) -> Any:
        if "/c/" in key:
            self.chunks.append(key)
        return await super().get(key, *arguments, **others)


def test_a_scan_of_polars_reads_only_the_chunks_of_the_filter() -> None:
    polars = pytest.importorskip("polars")
    from zarr_rust.polars import scan

    store = Counting()
    data = xarray.Dataset(
        {
            "t2m": (("time", "lat", "lon"), np.arange(6 * 8 * 4, dtype="f8").reshape(6, 8, 4)),
            "wind": (("time", "lat", "lon"), np.ones((6, 8, 4), "f4")),
        },
        {"time": np.datetime64("2020-01-29", "ns") + np.arange(6) * np.timedelta64(1, "D"), "lat": np.arange(8) * 10.0},
    )
    for name in data.data_vars:
        data[name].encoding["chunks"] = (1, 4, 4)
    data.to_zarr(store, zarr_format=3, consolidated=False)
    lazy = scan(store)
    column = polars.col
    store.chunks.clear()
    february = lazy.filter((column("time").dt.month() == 2) & (column("lat") >= 40) & (column("t2m") > 100))
    found = february.select(column("t2m").sum(), polars.len()).collect()
    expected = data["t2m"].sel(lat=slice(40, None)).isel(time=slice(3, None)).values
    expected = expected[expected > 100]
    assert found.row(0) == (expected.sum(), expected.size)
    read = sorted({key for key in store.chunks if key.startswith(("t2m", "wind"))})
    assert read == [f"t2m/c/{time}/1/0" for time in (3, 4, 5)]
    frame_of_xarray = data.to_dataframe(dim_order=["time", "lat", "lon"]).reset_index()
    for query, rows in [
        (lazy, slice(None)),
        (lazy.filter(column("lon") == 2), frame_of_xarray["lon"] == 2),
        (lazy.filter(column("lat") > 1000), frame_of_xarray["lat"] > 1000),
        (lazy.filter(column("time") == column("time").max()), frame_of_xarray["time"] == frame_of_xarray["time"].max()),
        (lazy.head(11), slice(0, 11)),
    ]:
        expected_frame = frame_of_xarray[rows]
        collected = query.collect()
        assert collected.height == len(expected_frame)
        assert collected["t2m"].to_list() == expected_frame["t2m"].to_list()
        assert collected["lon"].to_list() == expected_frame["lon"].to_list()
    assert lazy.filter((column("lat") == 0) | (column("lat") == 70)).head(5).collect()["lat"].to_list() == [0, 0, 0, 0, 70]
    assert lazy.select("time", "lat").collect().height == 192
    assert lazy.filter(column("lat").is_between(20, 40) | (column("t2m") < 7)).collect().height == 6 * 3 * 4 + 7


def test_a_scan_of_polars_reads_only_the_coordinates_of_a_query() -> None:
    polars = pytest.importorskip("polars")
    from zarr_rust.polars import scan

    store = Counting()
    values = np.arange(6 * 8 * 4, dtype="f8").reshape(6, 8, 4)
    data = xarray.Dataset(
        {"t2m": (("time", "lat", "lon"), values)},
        {"time": np.datetime64("2020-01-29", "ns") + np.arange(6), "lat": np.arange(8) * 10.0, "area": (("lat", "lon"), np.ones((8, 4)))},
    )
    data.to_zarr(store, zarr_format=3, consolidated=False)
    lazy, column = scan(store), polars.col

    def read(query: Any) -> tuple[Any, set[str]]:
        store.chunks.clear()
        found = query.collect()
        return found, {key.split("/")[0] for key in store.chunks}

    assert read(lazy.select(column("t2m").sum()))[1] == {"t2m"}
    found, names = read(lazy.filter(column("lat") >= 40).select(column("t2m").sum()))
    assert (found.item(), names) == (values[:, 4:].sum(), {"t2m", "lat"})
    found, names = read(lazy.group_by("lat").agg(column("area").sum()))
    assert (sorted(found["area"]), names) == ([24.0] * 8, {"lat", "area"})
    assert read(lazy.select("lon").sum())[1] == set()
    found, names = read(lazy.select(polars.len()))
    assert (found.item(), "t2m" in names) == (192, False)


def test_a_loop_over_batches_releases_the_interpreter_lock(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "large.zarr", zarr_format=3)
    array = group.create_array("v", shape=(8_000_000,), chunks=(100_000,), dtype="f8", dimension_names=["x"])
    array[:] = np.arange(8_000_000)
    batches = iter(zarr_rust.dataset(tmp_path / "large.zarr").to_arrow(memory="4MiB"))
    gate, ran = threading.Lock(), threading.Event()
    gate.acquire()

    def run() -> None:
        with gate:
            ran.set()

    thread = threading.Thread(target=run)
    thread.start()
    interval = sys.getswitchinterval()
    # Nobody takes the lock from this thread, so the other one runs only if this one lets go of it.
    sys.setswitchinterval(1000)
    try:
        gate.release()
        for _ in batches:
            if ran.is_set():
                break
        assert ran.is_set()
    finally:
        sys.setswitchinterval(interval)
    thread.join()


def written(source: Path, target: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Has the command of this package write a table."""
    main = "import sys; from zarr_rust._command import main; sys.argv[0] = 'zarr'; sys.exit(main())"
    command = [sys.executable, "-c", main, "read", str(source), *options, "-o", str(target)]
    return subprocess.run(command, capture_output=True, check=False)


def has_parquet() -> bool:
    """Whether the command is built with Parquet."""
    return b"built without Parquet" not in written(Path("none.zarr"), Path("none.parquet")).stderr


PARQUET = has_parquet()


@pytest.mark.skipif("ZARR_WITH_PARQUET" not in os.environ, reason="for builds that are meant to have Parquet")
def test_the_command_has_parquet() -> None:
    assert PARQUET, written(Path("none.zarr"), Path("none.parquet")).stderr


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(50))
def test_files_of_the_command_are_the_table(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    data = random_dataset(random)
    data.to_zarr(tmp_path / "data.zarr", zarr_format=int(random.choice([2, 3])))
    some = [str(name) for name in random.choice(list(data.data_vars), random.integers(0, 1 + len(data.data_vars)), replace=False)]
    isel = {name: int(random.integers(0, size)) for name, size in data.sizes.items() if random.random() < 0.3}
    dataset = zarr_rust.dataset(tmp_path / "data.zarr")
    # A variable alone has the dimensions of it alone.
    dims = {dim for name in some or data.data_vars for dim in data[name].dims} | (set() if some else set(data.sizes))
    isel = {name: start for name, start in isel.items() if name in dims}
    expected = pyarrow.table(dataset.to_arrow(some or None, isel={name: slice(start, None) for name, start in isel.items()}))
    options = [*some, *(f"--isel={name}={start}:" for name, start in isel.items())]
    for name, read in [
        ("t.arrow", lambda file: pyarrow.ipc.open_file(file).read_all()),
        ("t.arrows", lambda file: pyarrow.ipc.open_stream(file).read_all()),
        ("t.parquet", lambda file: pyarrow.parquet.read_table(file)),
    ]:
        if name == "t.parquet" and not PARQUET:
            continue
        done = written(tmp_path / "data.zarr", tmp_path / name, *options)
        assert done.returncode == 0, done.stderr
        found = read(tmp_path / name)
        found.validate(full=True)
        assert found.schema.equals(expected.schema) and found.equals(expected)


@pytest.mark.parametrize("name", ["t.arrow", "t.arrows", "t.parquet"])
def test_engines_read_files_of_the_command(weather: tuple[zarr_rust.Dataset, xarray.Dataset], name: str, tmp_path: Path) -> None:
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    file = tmp_path / name
    done = written(tmp_path / "weather.zarr", file)
    if name == "t.parquet" and not PARQUET:
        assert done.returncode == 2 and b"the feature `parquet`" in done.stderr and not file.exists()
        return
    assert done.returncode == 0, done.stderr
    ours, theirs = weather
    read = {"t.arrow": polars.read_ipc, "t.arrows": polars.read_ipc_stream, "t.parquet": polars.read_parquet}[name]
    frame_of_polars = read(file)
    assert frame_of_polars.equals(polars.DataFrame(ours.to_arrow()))
    if name == "t.parquet":
        rows = duckdb.sql(f"FROM '{file}'")
    else:
        table = pyarrow.ipc.open_file(file).read_all() if name == "t.arrow" else pyarrow.ipc.open_stream(file).read_all()
        rows = duckdb.from_arrow(table)
    expected = float(theirs["t2m"].mean())
    assert rows.aggregate("count(*), count(station), avg(t2m)").fetchall() == [(60, 60, pytest.approx(expected))]
