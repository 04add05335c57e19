"""Arrays in other processes, and signals."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr_rust


def filled(url: str | Path, path: str | None = None) -> tuple[zarr_rust.Array, np.ndarray[Any, Any]]:
    # Larger than what is read on the caller's thread, in many chunks, so that the pool of threads is used.
    data = np.arange(1 << 21, dtype="i4").reshape(1024, 2048)
    array = zarr_rust.create_array(url, path, shape=data.shape, dtype="i4", chunks=(64, 512), codecs="zstd(1)")
    array[:] = data
    return array, data


def test_pickles_are_small_and_open_lazily(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    filled("x.zarr", "g/a")
    array = zarr_rust.open_array("x.zarr", "g/a")
    group = zarr_rust.open_group("x.zarr", mode="r+")
    array_bytes, group_bytes = pickle.dumps(array), pickle.dumps(group)
    assert len(array_bytes) < 2000 and len(group_bytes) < 2000
    # Elsewhere, and where the array is not there yet.
    monkeypatch.chdir("/")
    os.rename(tmp_path / "x.zarr", tmp_path / "away")
    lazy = pickle.loads(array_bytes)
    again = pickle.loads(pickle.dumps(lazy))
    os.rename(tmp_path / "away", tmp_path / "x.zarr")
    assert again.name == "/g/a" and lazy[3, 7] == 3 * 2048 + 7 and lazy.read_only
    opened = pickle.loads(group_bytes)
    assert list(opened) == ["g"] and not opened.read_only
    with pytest.raises(TypeError, match="memory"):
        pickle.dumps(zarr_rust.create_group("memory:"))
    with pytest.raises(IndexError) as caught:
        array[5000]
    error = pickle.loads(pickle.dumps(caught.value))
    assert type(error) is type(caught.value) and str(error) == str(caught.value)


def test_pickles_keep_options_and_dialect(tmp_path: Path) -> None:
    zarr_rust.create_array(tmp_path / "x.zarr", "a", shape=2, dtype="i1", dialect="v2")
    array = zarr_rust.open(tmp_path / "x.zarr", "a", mode="r+", storage_options={"durability": "none"})
    copy = pickle.loads(pickle.dumps(array))
    copy[:] = 5
    assert copy._core.store_options == [("durability", "none")] and copy.dialect == "v2" and array[1] == 5


def worker(array: zarr_rust.Array, number: int, results: Any) -> None:
    try:
        found = int(array[:, number].sum(dtype="i8"))
        array[number, :] = number
        many = array.read_many([(slice(100, 200),), (slice(150, 250),)])
        results.put((number, found, int(many[0][50:].sum(dtype="i8") - many[1][:50].sum(dtype="i8")), int(array[:].shape[0])))
    except BaseException as error:
        results.put((number, repr(error), 0, 0))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("address", ["{}/x.zarr", "sqlite:{}/x.sqlite"])
def test_forked_workers_read_and_write(tmp_path: Path, address: str) -> None:
    array, data = filled(address.format(tmp_path))
    # The parent has used its threads.
    assert (array[:] == data).all()
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    workers = [fork.Process(target=worker, args=(array, number, results)) for number in range(4)]
    for process in workers:
        process.start()
    found = sorted(results.get(timeout=60) for _ in workers)
    for process in workers:
        process.join(60)
        assert process.exitcode == 0
    assert [number for number, *_ in found] == [0, 1, 2, 3]
    for number, total, difference, rows in found:
        # Rows below 4 may have been written already.
        assert isinstance(total, int), total
        assert abs(total - int(data[:, number].sum(dtype="i8"))) <= int(data[:4, number].sum(dtype="i8")) + 12
        assert (difference, rows) == (0, 1024)
    data[:4] = np.arange(4)[:, None]
    assert (array[:] == data).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_threads_of_a_forked_child_append(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys, threading\n"
        "import numpy as np, zarr_rust\n"
        "array = zarr_rust.create_array(sys.argv[1], shape=(0, 262144), dtype='i4', chunks=(1, 16384))\n"
        "array.append(np.full((1, 262144), -1))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        # Rows so large that chunks go to several threads. The alarm ends a child whose threads wait for each other.
        "    signal.alarm(60)\n"
        "    failed = []\n"
        "    def append(number):\n"
        "        try:\n"
        "            for _ in range(10): array.append(np.full((1, 262144), number))\n"
        "        except BaseException as error: failed.append(repr(error))\n"
        "    threads = [threading.Thread(target=append, args=(number,)) for number in range(4)]\n"
        "    for thread in threads: thread.start()\n"
        "    for thread in threads: thread.join()\n"
        "    print(failed, array.shape, flush=True)\n"
        "    os._exit(0)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    environment = os.environ | {"ZARR_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / "x.zarr")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "[] (41, 262144)\n"), done
    rows = zarr_rust.open_array(tmp_path / "x.zarr")[:]
    assert (rows == rows[:, :1]).all()
    assert sorted(rows[:, 0].tolist()) == [-1, *(number for number in range(4) for _ in range(10))]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_workers_read_over_http(tmp_path: Path) -> None:
    _, data = filled(tmp_path / "x.zarr")
    program = (
        "import http.server, functools, sys\n"
        "class H(http.server.SimpleHTTPRequestHandler):\n"
        "    def log_message(self, *a): pass\n"
        "s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(H, directory=sys.argv[1]))\n"
        "print(s.server_address[1], flush=True); s.serve_forever()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            array = zarr_rust.open_array(f"http://127.0.0.1:{int(server.stdout.readline())}/x.zarr")
            assert (array[:70] == data[:70]).all()
            fork = multiprocessing.get_context("fork")
            results = fork.Queue()

            def read(number: int) -> None:
                try:
                    results.put(bool((array[number * 64 : number * 64 + 70] == data[number * 64 : number * 64 + 70]).all()))
                except BaseException as error:
                    results.put(repr(error))

            workers = [fork.Process(target=read, args=(number,)) for number in range(2)]
            for process in workers:
                process.start()
            assert [results.get(timeout=60) for _ in workers] == [True, True]
            for process in workers:
                process.join(60)
        finally:
            server.terminate()


def slow(folder: Path, shape: tuple[int, int]) -> tuple[zarr_rust.Array, np.ndarray[Any, Any]]:
    """An array that takes long to decode, of equal chunks, and one of these."""
    array = zarr_rust.create_array(folder / "x.zarr", shape=shape, dtype="f8", chunks=(256, 256), codecs="lzma")
    tile = np.random.default_rng(0).standard_normal((256, 256)).round(3)
    array[:256, :256] = tile
    encoded = (folder / "x.zarr" / "c" / "0" / "0").read_bytes()
    for row in range(shape[0] // 256):
        (folder / "x.zarr" / "c" / str(row)).mkdir(exist_ok=True)
        for column in range(shape[1] // 256):
            (folder / "x.zarr" / "c" / str(row) / str(column)).write_bytes(encoded)
    return array, tile


# Of less and of more than what looks for signals.
@pytest.mark.parametrize("shape", [(256, 512), (1024, 1024)])
def test_other_threads_run_during_a_read(tmp_path: Path, shape: tuple[int, int]) -> None:
    array, _ = slow(tmp_path, shape)
    ticks: list[float] = []
    ended = threading.Event()

    def tick() -> None:
        while not ended.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.monotonic()
    array[:]
    done = time.monotonic()
    ended.set()
    thread.join()
    # Not at its ends alone, where the lock of the interpreter is held.
    margin = (done - begun) / 5
    assert any(begun + margin < tick < done - margin for tick in ticks), (done - begun, len(ticks))


@pytest.mark.usefixtures("interruptible")
def test_interrupts_end_a_long_read(tmp_path: Path) -> None:
    array, tile = slow(tmp_path, (2560, 2560))
    begun = time.monotonic()
    array[:]
    whole = time.monotonic() - begun
    out = np.full((2560, 2560), np.nan)
    timer = threading.Timer(whole / 8, lambda: os.kill(os.getpid(), signal.SIGINT))
    begun = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        array.read(out=out)
    taken = time.monotonic() - begun
    timer.join()
    print(f"a read of {whole:.2f} s, interrupted after {whole / 8:.2f} s, ended after {taken:.2f} s")
    assert np.isnan(out).any(), "it was not ended before its end"
    # It can be read again.
    assert (array[:300, :300][:256, :256] == tile).all()


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("shards", [None, (256, 256)])
def test_interrupts_end_a_long_write(tmp_path: Path, shards: tuple[int, int] | None) -> None:
    data = np.tile(np.random.default_rng(0).standard_normal((256, 256)).round(3), (8, 8))

    def create(name: str) -> zarr_rust.Array:
        return zarr_rust.create_array(
            tmp_path / name, shape=data.shape, dtype="f8", chunks=(128, 128), shards=shards, codecs="lzma"
        )

    begun = time.monotonic()
    create("whole.zarr")[:] = data
    whole = time.monotonic() - begun
    array = create("x.zarr")
    timer = threading.Timer(whole / 8, lambda: os.kill(os.getpid(), signal.SIGINT))
    begun = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        array[:] = data
    taken = time.monotonic() - begun
    timer.join()
    print(f"a write of {whole:.2f} s, interrupted after {whole / 8:.2f} s, ended after {taken:.2f} s")
    assert not (array[:] == data).all(), "it was not ended before its end"
    # It can be written again.
    array[:256, :256] = data[:256, :256]
    assert (array[:256, :256] == data[:256, :256]).all()


def test_threads_of_the_environment(tmp_path: Path) -> None:
    filled(tmp_path / "x.zarr")
    program = (
        "import zarr_rust, time, os, sys\n"
        "a = zarr_rust.open(sys.argv[1]); assert a[:].shape == (1024, 2048)\n"
        # The thread that did the work is listed for a moment after its end.
        "print(min(time.sleep(0.02) or len(os.listdir('/proc/self/task')) for _ in range(20)))\n"
    )

    def threads(setting: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"ZARR_THREADS": setting, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-c", program, str(tmp_path / "x.zarr")]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    if os.path.isdir("/proc/self/task"):
        counts = [int(threads(str(count)).stdout) for count in (1, 5)]
        assert counts[1] - counts[0] == 4
    refused = threads("many")
    assert refused.returncode != 0 and "ZARR_THREADS" in refused.stderr
