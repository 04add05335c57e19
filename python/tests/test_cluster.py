"""Work of several processes of Dask on one array."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import cluster
import dask
import dask.array
import numpy as np
import pytest
import xarray
import zarr_rust
import zarr_rust.dask
from distributed import Client, LocalCluster
from zarr_rust.xarray import ZarrRustBackend


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with cluster.by_command(tmp_path_factory.mktemp("cluster")) as client:
        yield client


def test_reads_and_writes(client: Client, tmp_path: Path) -> None:
    data = np.random.default_rng(0).integers(0, 100, (120, 80))
    blocks = dask.array.from_array(data, chunks=(30, 40))
    array = zarr_rust.from_dask(blocks, tmp_path / "x.zarr", chunks=(10, 10), shards=(30, 40))
    assert (array[:] == data).all()
    found = array.to_dask()
    assert found.numblocks == (4, 2) and found.sum().compute() == data.sum()
    assert (found[::-3, [5, 70]].compute() == data[::-3, [5, 70]]).all()
    # A worker has as many threads as it has for tasks, so that all of them together have no more than there are cores.
    workers = client.run(cluster.threads)
    assert len(workers) == 4 and {count for _, count in workers.values()} == {1}
    assert len({process for process, _ in workers.values()} | {os.getpid()}) == 5


def test_blocks_that_share_shards_lose_nothing(client: Client, tmp_path: Path) -> None:
    data = np.random.default_rng(1).integers(1, 2**31, (96, 80))
    for dialect, shards in (("v3", (48, 40)), ("v2", None)):
        chunks = (8, 8) if shards else (48, 40)
        array = zarr_rust.create_array(
            tmp_path / f"{dialect}.zarr", shape=data.shape, dtype="i8", chunks=chunks, shards=shards, dialect=dialect
        )
        # Each of the four shards is written by some forty tasks, in four processes at a time.
        dask.array.store(dask.array.from_array(data, chunks=(7, 9)), array, lock=False)
        assert (array[:] != data).sum() == 0


def test_a_killed_worker_changes_no_result(client: Client, tmp_path: Path) -> None:
    data = np.random.default_rng(2).integers(1, 2**31, (96, 80))
    blocks = dask.array.from_array(data, chunks=(7, 9)).map_blocks(
        cluster.held, str(tmp_path / "killed"), dtype=data.dtype
    )
    later = zarr_rust.from_dask(blocks, tmp_path / "x.zarr", chunks=(8, 8), shards=(48, 40), compute=False)
    array = zarr_rust.open_array(tmp_path / "x.zarr")
    processes = [process for process, _ in client.run(cluster.threads).values()]
    future = client.compute(later)
    begun = time.monotonic()
    while not array[:].any() and time.monotonic() < begun + 120:
        time.sleep(0.02)
    written = int(array[:].astype(bool).sum())
    os.kill(processes[0], signal.SIGKILL)
    (tmp_path / "killed").touch()
    future.result(timeout=180)
    assert 0 < written < data.size
    assert (zarr_rust.open_array(tmp_path / "x.zarr")[:] == data).all()
    client.wait_for_workers(4, timeout=60)
    assert processes[0] not in [process for process, _ in client.run(cluster.threads).values()]


def test_a_conversion_goes_on_without_a_killed_worker(client: Client, tmp_path: Path) -> None:
    data = np.random.default_rng(4).integers(1, 2**31, (256, 192))
    source = zarr_rust.create_array(tmp_path / "x.zarr", "a", shape=data.shape, dtype="i8", chunks=(256, 1), codecs="lzma")
    source[:] = data
    # So little memory that there are many slabs, each of which reads many chunks.
    later = zarr_rust.dask.convert(
        tmp_path / "x.zarr", tmp_path / "y.zarr", parts=8, compute=False, chunks=(8, 96), codecs="lzma", memory="64 kB"
    )
    processes = [process for process, _ in client.run(cluster.threads).values()]
    future = client.compute(later)
    chunks = tmp_path / "y.zarr" / "a" / "c"
    begun = time.monotonic()
    while len(list(chunks.glob("*/*"))) < 4 and time.monotonic() < begun + 120 and not future.done():
        time.sleep(0.005)
    written = len(list(chunks.glob("*/*")))
    os.kill(processes[1], signal.SIGKILL)
    done = future.result(timeout=180)
    assert written > 0, "it was killed in the middle, or at the end where this process had to wait"
    assert [node.to for node in done.nodes] == ["/", "/a"]
    assert (zarr_rust.open_array(tmp_path / "y.zarr", "a")[:] == data).all()
    client.wait_for_workers(4, timeout=60)


def test_a_climatology(client: Client, tmp_path: Path) -> None:
    time = np.datetime64("2001-01-01", "ns") + np.arange(730).astype("m8[D]")
    data = xarray.Dataset({"t": (("time", "x"), np.random.default_rng(3).standard_normal((730, 6)))}, {"time": time})
    data.to_zarr(tmp_path / "x.zarr", zarr_format=3, encoding={"t": {"chunks": (10, 6), "shards": (100, 6)}}, consolidated=False)
    lazy = xarray.open_dataset(tmp_path / "x.zarr", engine=ZarrRustBackend, chunks={})
    assert lazy.t.chunks == ((100,) * 7 + (30,), (6,))
    xarray.testing.assert_allclose(lazy.groupby("time.month").mean().compute(), data.groupby("time.month").mean())


def test_threads_of_a_worker(tmp_path: Path) -> None:
    array = zarr_rust.create_array(tmp_path / "x.zarr", shape=(1 << 20, 4), dtype="i4", chunks=(1 << 16, 4))
    array[:] = 1
    program = (
        "import os, sys, time, types, zarr_rust\n"
        # As distributed has its workers.
        "worker = types.SimpleNamespace(state=types.SimpleNamespace(nthreads=int(sys.argv[2])))\n"
        "module = types.SimpleNamespace(Worker=types.SimpleNamespace(_instances=[worker] if worker.state.nthreads else []))\n"
        "sys.modules['distributed.worker'] = module\n"
        "os.sched_getaffinity = lambda _: range(5)\n"
        "assert zarr_rust.open(sys.argv[1])[:].all()\n"
        # The thread of the read itself may take a moment to end.
        "print(min(len(os.listdir('/proc/self/task')) for _ in range(20) if not time.sleep(0.01)))\n"
    )

    def threads(count: int) -> int:
        environment = {name: value for name, value in os.environ.items() if name != "ZARR_THREADS"}
        command = [sys.executable, "-c", program, str(tmp_path / "x.zarr"), str(count)]
        done = subprocess.run(command, env=environment | {"OPENBLAS_NUM_THREADS": "1"}, capture_output=True, timeout=60)
        return int(done.stdout) if done.returncode == 0 else pytest.fail(done.stderr.decode())

    if not os.path.isdir("/proc/self/task"):
        pytest.skip("threads are counted in /proc")
    one = threads(1)
    # No more than there are cores.
    assert [threads(3) - one, threads(50) - one] == [2, 4]


@pytest.mark.slow
def test_a_local_cluster(tmp_path: Path) -> None:
    data = np.arange(96 * 80).reshape(96, 80)
    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as local, Client(local):
        blocks = dask.array.from_array(data, chunks=(7, 9))
        array = zarr_rust.from_dask(blocks, tmp_path / "x.zarr", chunks=(8, 8), shards=(48, 40))
        assert (array.to_dask().compute() == data).all()
