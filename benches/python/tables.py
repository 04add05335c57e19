"""CPU seconds and memory of queries over a data set of 33.2 million rows, as a table of DuckDB and of Polars, beside xarray-sql.

Usage: python tables.py FOLDER [ROUNDS]

FOLDER gets the data set (about 100 MB, once). Needs zarr_rust, duckdb, polars, pyarrow, xarray, zarr 3 and xarray-sql. Each measurement is a process of
its own, all software takes turns, and the least of all rounds is printed: CPU seconds of the process, wall seconds, and the most memory that it
held. Times are without imports. `memory` is the engine on an Arrow table in memory, whose making is not counted; `nothing` is a process that
imports the same and asks nothing.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

SHAPE = {"time": 32, "lat": 720, "lon": 1440}
QUERIES = {
    "avg": "SELECT avg(t2m) FROM t",
    "months": "SELECT date_part('month', time) AS month, avg(t2m) FROM t GROUP BY month ORDER BY month",
    "step": "SELECT avg(t2m) FROM t WHERE time = TIMESTAMP '2000-07-01'",
    "box": "SELECT avg(t2m) FROM t WHERE lat BETWEEN 30 AND 50 AND lon BETWEEN 0 AND 40",
    "count": "SELECT count(*) FROM t",
}
# What is selected before DuckDB, which tells its streams of no filter.
SELECTED = {"step": {"time": "2000-07-01"}, "box": {"lat": slice(30, 50), "lon": slice(0, 40)}}


def make(folder):
    """Makes the data set, if it is not there."""
    import numpy as np
    import xarray

    if (folder / "t2m.zarr").exists():
        return
    rng = np.random.default_rng(1)
    base = np.cumsum(rng.normal(0, 0.5, (SHAPE["lat"], SHAPE["lon"])), axis=1) + 280
    values = np.stack([base + rng.normal(0, 0.05, base.shape) for _ in range(SHAPE["time"])]).round(2).astype("f4")
    times = np.datetime64("2000-01-01", "ns") + np.arange(SHAPE["time"]) * np.timedelta64(13, "D")
    lats, lons = np.arange(SHAPE["lat"]) / 4 - 90, np.arange(SHAPE["lon"]) / 4
    data = xarray.Dataset({"t2m": (tuple(SHAPE), values)}, {"time": times, "lat": lats, "lon": lons})
    data["t2m"].encoding["chunks"] = (1, 360, 720)
    data.to_zarr(folder / "t2m.zarr", zarr_format=3)


def ours(folder, query):
    """The table of zarr_rust, with what is selected of it."""
    import zarr_rust

    return zarr_rust.dataset(folder / "t2m.zarr").to_arrow("t2m", sel=SELECTED.get(query))


def in_memory(folder, query):
    """The same rows as a table in memory."""
    import pyarrow

    return pyarrow.table(ours(folder, query))


def rows_of_duckdb(t, query):
    import duckdb

    return duckdb.sql(QUERIES[query]).fetchall()


def duckdb_ours(folder, query):
    import duckdb  # noqa: F401
    import zarr_rust  # noqa: F401

    yield
    print(rows_of_duckdb(ours(folder, query), query), file=sys.stderr)


def duckdb_memory(folder, query):
    import duckdb  # noqa: F401

    table = in_memory(folder, query)
    yield
    rows_of_duckdb(table, query)


def duckdb_nothing(folder, query):
    import duckdb

    yield
    duckdb.sql("SELECT 1").fetchall()
    ours(folder, query)


def frame_of(lazy, query):
    import datetime

    import polars

    column = polars.col
    return {
        "avg": lambda: lazy.select(column("t2m").mean()),
        "months": lambda: lazy.group_by(column("time").dt.month()).agg(column("t2m").mean()),
        "step": lambda: lazy.filter(column("time") == datetime.datetime(2000, 7, 1)).select(column("t2m").mean()),
        "box": lambda: lazy.filter(column("lat").is_between(30, 50), column("lon").is_between(0, 40)).select(column("t2m").mean()),
        "count": lambda: lazy.select(polars.len()),
    }[query]().collect()


def polars_ours(folder, query):
    from zarr_rust.polars import scan

    yield
    print(frame_of(scan(folder / "t2m.zarr"), query), file=sys.stderr)


def polars_memory(folder, query):
    import polars

    lazy = polars.DataFrame(in_memory(folder, "avg")).lazy()
    yield
    frame_of(lazy, query)


def polars_nothing(folder, query):
    import polars
    import zarr_rust.polars  # noqa: F401

    yield
    polars.DataFrame({"a": [1]}).lazy().sum().collect()
    ours(folder, query)


def xarray_sql(folder, query):
    import xarray
    from xarray_sql import XarrayContext

    yield
    context = XarrayContext()
    context.from_dataset("t", xarray.open_zarr(folder / "t2m.zarr"))
    print(context.sql(QUERIES[query]).collect(), file=sys.stderr)


WAYS = [duckdb_ours, duckdb_memory, duckdb_nothing, polars_ours, polars_memory, polars_nothing, xarray_sql]


def command(folder, form):
    """The command writes the table into a file."""
    from zarr_rust._command import main

    sys.argv = ["zarr", "read", str(folder / "t2m.zarr"), "t2m", "-o", str(folder / f"t2m.{form}"), "--quiet"]
    yield
    assert main() == 0


def measure(way, folder, argument):
    """Runs a measurement in this process, and prints what it took."""
    steps = way(folder, argument)
    next(steps)

    def used():
        return sum(resource.getrusage(resource.RUSAGE_SELF)[:2])

    begin, before = time.perf_counter(), used()
    next(steps, None)
    wall, cpu = time.perf_counter() - begin, used() - before
    print(json.dumps([cpu, wall, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def least(found, folder, name, argument):
    """Runs a measurement, and keeps the least of what it took."""
    words = [sys.executable, __file__, "--", name, str(folder), argument]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{name} {argument}: {done.stderr.splitlines()[-1:]}", file=sys.stderr)
        return
    now = json.loads(done.stdout.splitlines()[-1])
    before = found.get((name, argument), now)
    found[name, argument] = [min(pair) for pair in zip(now, before)]


def main():
    folder = Path(sys.argv[1]).absolute()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    folder.mkdir(parents=True, exist_ok=True)
    # The most memory of a process is that of its parent at least.
    subprocess.run([sys.executable, __file__, "--make", str(folder)], check=True)
    found = {}
    for _ in range(rounds):
        for query in QUERIES:
            for way in WAYS:
                least(found, folder, way.__name__, query)
        for form in "arrow", "parquet":
            least(found, folder, "command", form)
    for (name, argument), (cpu, wall, memory) in found.items():
        print(f"{argument:8} {name:16} {cpu:7.2f} CPU s {wall:7.2f} s {memory:6.0f} MiB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--"]:
        measure(globals()[sys.argv[2]], Path(sys.argv[3]), sys.argv[4])
    elif sys.argv[1:2] == ["--make"]:
        make(Path(sys.argv[2]))
    else:
        main()
