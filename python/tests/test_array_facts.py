"""Fields of structs, plans, sizes, and operations in tasks of asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust

STRUCT = np.dtype([("x", "f4"), ("n", ">i2"), ("p", [("lon", "f8"), ("lat", "f8")]), ("v", "u1", (2,)), ("a.b", "i4")])


@pytest.mark.parametrize("seed", range(12))
def test_fields_are_written_as_in_numpy(seed: int) -> None:
    random = np.random.default_rng(seed)
    model = np.frombuffer(random.bytes(7 * 5 * STRUCT.itemsize), STRUCT).reshape(7, 5).copy()
    model["x"], model["p"]["lon"], model["p"]["lat"] = 1, 2, 3
    array = zarr_rust.create_array("memory:", shape=(7, 5), dtype=STRUCT, chunks=(3, 2), dialect="v2")
    array[:] = model
    model = array[:]
    rows = sorted(random.choice(7, 3, replace=False).tolist())
    for selection in (slice(None), (slice(1, 6, 2), 3), (2, 4), (rows, slice(0, 2)), (slice(5, None, -2), slice(None))):
        number = int(random.integers(0, 100))
        array[("x", selection) if not isinstance(selection, tuple) else ("x", *selection)] = number
        model["x"][selection] = number
        array.fields["p.lat"][selection] = number + 1
        model["p"]["lat"][selection] = number + 1
        array.fields["v"][selection] = [number, 7]
        model["v"][selection] = [number, 7]
        array.fields["a.b"][selection] = number
        model["a.b"][selection] = number
        assert array[:].tobytes() == model.tobytes()
        assert np.array_equal(array.fields["p.lat"][selection], model["p"]["lat"][selection])
    array.vindex["n", [0, 1], [2, 3]] = [5, 6]
    model["n"][[0, 1], [2, 3]] = [5, 6]
    array.oindex["n", [0, 2], [1, 4]] = [[1, 2], [3, 4]]
    model["n"][np.ix_([0, 2], [1, 4])] = [[1, 2], [3, 4]]
    array[["x", "n"]] = np.zeros((7, 5), [("x", "f4"), ("n", "i2")])
    model[["x", "n"]] = np.zeros((7, 5), [("x", "f4"), ("n", "i2")])
    assert array[:].tobytes() == model.tobytes()


def test_names_of_fields() -> None:
    array = zarr_rust.create_array("memory:", shape=(2,), dtype=STRUCT, dialect="v2")
    assert list(array.fields) == list(STRUCT.names or ()) and len(array.fields) == 5 and "x" in array.fields
    assert array.fields["p.lon"].dtype == np.dtype("f8") and array.fields["v"].dtype.shape == (2,)
    for name in ("y", "p.x", "p.", "", "x.y"):
        with pytest.raises(IndexError):
            array.fields[name]
        with pytest.raises((IndexError, ValueError)):
            array[name] = 1
    plain = zarr_rust.create_array("memory:", shape=(2,), dtype="i2")
    assert len(plain.fields) == 0
    with pytest.raises(IndexError, match="have none"):
        plain["x"] = 1


@pytest.mark.parametrize("shards", [None, (20, 30)])
def test_sizes_as_in_zarr_python(tmp_path: Path, shards: Any) -> None:
    array = zarr_rust.create_array(tmp_path / "x.zarr", shape=(45, 70), dtype="i4", chunks=(10, 15), shards=shards)
    array[:25, :40] = np.random.default_rng(0).integers(0, 99, (25, 40))
    theirs = zarr.open_array(tmp_path / "x.zarr", mode="r")
    assert array.nchunks == theirs.nchunks and array.nbytes == theirs.nbytes
    files = [file for file in (tmp_path / "x.zarr").rglob("*") if file.is_file() and file.name != "zarr.json"]
    assert (array.nchunks_stored(), array.nbytes_stored()) == (len(files), sum(file.stat().st_size for file in files))
    assert str(len(files)) in array.info_complete() and array.info in array.info_complete()[: len(array.info)] + array.info
    group = zarr_rust.open_group(tmp_path / "y.zarr", "g", mode="w")
    group.create_array("a", shape=(), dtype="i2")
    assert "1" in group.info_complete() and len(group.info_complete()) > len(group.info)


def test_plans_are_what_is_requested(tmp_path: Path) -> None:
    array = zarr_rust.create_array(tmp_path / "x.zarr", "a", shape=(40, 40), dtype="i4", chunks=(10, 10), shards=(20, 20))
    array[:] = 1
    plan = array.plan((slice(0, 5), slice(0, 25)))
    assert plan.chunks == 2 and plan.rounds == 2 and {request.key for request in plan.requests} == {"a/c/0/0", "a/c/0/1"}
    assert plan.selected_bytes == 5 * 25 * 4 and plan.request_count == len(plan.requests)
    first = [request for request in plan.requests if request.round == 0]
    assert all(start is not None and start < 0 and stop is None for request in first for start, stop in request.ranges)
    assert array.plan().chunks == 4 and array.plan(([0, 39], [0, 39])).chunks == 2
    with pytest.raises(IndexError):
        array.plan((0, 0, 0))


def test_tasks(tmp_path: Path) -> None:
    data = np.arange(64 * 50, dtype="i4").reshape(64, 50)

    async def work() -> None:
        array = zarr_rust.create_array(tmp_path / "x.zarr", "a", shape=(64, 50), dtype="i4", chunks=(4, 50))
        await asyncio.gather(*(array.write_async(slice(row, row + 1), data[row : row + 1]) for row in range(64)))
        opened = await zarr_rust.open_async(tmp_path / "x.zarr", "a", mode="r+")
        assert isinstance(opened, zarr_rust.Array)
        rows = await asyncio.gather(*(opened.read_async((row, ...)) for row in range(64)))
        assert (np.stack(rows) == data).all()
        out = np.empty((50, 64), "i4")
        assert (await opened.read_async(out=out.T) == data).all() and (out == data.T).all()
        assert await opened.append_async(data[:3]) == (67, 50)
        await opened.resize_async(5, 50)
        assert opened.shape == (5, 50)
        group = await zarr_rust.open_async(tmp_path / "x.zarr")
        assert isinstance(group, zarr_rust.Group) and (await group.open_async("a")).path == "a"
        with pytest.raises(IndexError):
            await opened.read_async(99)

    asyncio.run(work())


class Slow(http.server.SimpleHTTPRequestHandler):
    """A server that takes a minute for values whose keys have some text in them."""

    text = ""
    asked = threading.Event()
    ended = threading.Event()

    def do_GET(self) -> None:
        if self.text in self.path:
            self.asked.set()
            self.ended.wait(60)
        # The client is gone by then.
        with contextlib.suppress(ConnectionError):
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def slow(folder: Path, text: str) -> Iterator[str]:
    Slow.text = text
    Slow.asked.clear()
    Slow.ended.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *args: Slow(*args, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        Slow.ended.set()
        server.shutdown()
        server.server_close()


def test_cancelled_tasks_end(tmp_path: Path) -> None:
    zarr_rust.create_array(tmp_path / "x.zarr", shape=(40,), dtype="i4", chunks=(10,), fill_value=3)[:] = 1

    async def work(address: str) -> float:
        array = await zarr_rust.open_async(f"{address}/x.zarr")
        assert isinstance(array, zarr_rust.Array)
        task = asyncio.create_task(array.read_async())
        assert await asyncio.to_thread(Slow.asked.wait, 30)
        begun = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - begun

    with slow(tmp_path, "/c/") as address:
        # The bar is 100 ms; a loaded machine is slower.
        assert asyncio.run(work(address)) < 20


def test_a_cancelled_task_that_waits_for_a_thread_ends_at_once() -> None:
    array = zarr_rust.create_array("memory:", shape=(4,), dtype="i4")
    busy = threading.Event()

    async def work() -> float:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as executor:
            loop.set_default_executor(executor)
            other = loop.run_in_executor(None, busy.wait, 60)
            try:
                task = asyncio.create_task(array.write_async(slice(None), 7))
                await asyncio.sleep(0.01)
                begun = time.monotonic()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                return time.monotonic() - begun
            finally:
                busy.set()
                await other

    assert asyncio.run(work()) < 20
    assert not array[:].any()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("work", ["open", "dataset", "convert", "zip", "table"])
def test_signals_end_what_waits_for_a_server(tmp_path: Path, work: str) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr")
    group.create_array("x", data=np.arange(4), dimension_names=["x"])
    group.create_array("v", data=np.arange(1, 5), dimension_names=["x"])
    zarr.consolidate_metadata(tmp_path / "x.zarr")
    begun: list[float] = []

    def kill() -> None:
        assert Slow.asked.wait(30)
        begun.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    slow_key = {"open": "zarr.json", "zip": "x.zip", "table": "v/c/"}.get(work, "/c/")
    (tmp_path / "x.zip").write_bytes(bytes(100))
    with slow(tmp_path, slow_key) as address:
        thread = threading.Thread(target=kill)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            if work == "open":
                zarr_rust.open(f"{address}/x.zarr/x")
            elif work == "zip":
                zarr_rust.open(f"zip:{address}/x.zip")
            elif work == "dataset":
                zarr_rust.dataset(f"{address}/x.zarr")["x"].read()
            elif work == "table":
                next(iter(zarr_rust.dataset(f"{address}/x.zarr").to_arrow()))
            else:
                zarr_rust.convert(f"{address}/x.zarr/x", tmp_path / "y.zarr", chunks=(2,))
        thread.join()
    assert time.monotonic() - begun[0] < 20


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.usefixtures("interruptible")
def test_signals_end_appends(tmp_path: Path) -> None:
    array = zarr_rust.create_array(tmp_path / "x.zarr", data=np.arange(4000, dtype="i4").reshape(40, 100), chunks=(1, 100))
    # Not of the fill value, of which no chunks are stored.
    data = np.ones((20_000, 100), "i4")
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        array.append(data)
        time.sleep(10)
    assert array.shape == zarr_rust.open_array(tmp_path / "x.zarr").shape
    assert array.shape == (40, 100), "20,000 files take longer than the signal"
    assert array.append(data[:2]) == (42, 100) and (array[:40, 1] == np.arange(40) * 100 + 1).all() and (array[40:] == 1).all()
