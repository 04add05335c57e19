"""Measurements of Dask, with a scheduler and four worker processes that its commands started: cluster.py WAY SOURCE TARGET OPERATION...

Prints a line of JSON for each operation. The pipeline of zarr-python in the workers comes from their environment, which `bench.py` sets.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array
import numpy as np
import xarray
from distributed import Client


def opened(way: str, path: str) -> dask.array.Array:
    if way == "zarr-rust":
        import zarr_rust

        return zarr_rust.open_array(path, path="/").to_dask("16 MiB")
    import zarr

    array = zarr.open_array(path, mode="r")
    # As its users have to ask for it: a block for each shard, or for some chunks.
    return dask.array.from_zarr(array, chunks=(16 * 256, 1024))


def stored(way: str, blocks: dask.array.Array, path: str, chunks: tuple[int, int], shards: tuple[int, int] | None) -> None:
    if way == "zarr-rust":
        import zarr_rust

        zarr_rust.from_dask(blocks, path, "/", chunks=chunks, shards=shards, codecs="zstd(3)")
    else:
        import zarr

        array = zarr.create_array(
            path, shape=blocks.shape, dtype=blocks.dtype, chunks=chunks, shards=shards, compressors=zarr.codecs.ZstdCodec(level=3)
        )
        dask.array.store(blocks, array, lock=False)


def run(way: str, operation: str, source: str, target: str) -> Callable[[], Any]:
    """Does it, and gives the result to compare, which is not timed."""
    if operation == "sum":
        total = float(opened(way, source).sum(dtype="f8").compute())
        return lambda: round(total, 3)
    if operation == "to_zarr":
        stored(way, opened(way, source) + 1, target, (256, 1024), None)
    elif operation == "rechunk":
        # Rows become columns.
        blocks = opened(way, source)
        if way == "zarr-rust":
            import zarr_rust.dask

            zarr_rust.dask.convert(source, target, chunks=(blocks.shape[0], 8))
        else:
            stored(way, blocks.rechunk((-1, 64)), target, (blocks.shape[0], 8), None)
    elif operation == "climatology":
        if way == "zarr-rust":
            from zarr_rust.xarray import ZarrRustBackend

            data = xarray.open_dataset(f"{source}-set", engine=ZarrRustBackend, chunks={})
        else:
            data = xarray.open_zarr(f"{source}-set", chunks={})
        means = data.t.groupby("time.month").mean().compute().values
        # In the order of blocks, which differs, sums are rounded otherwise.
        return lambda: [round(float(mean), 3) for mean in means.mean(axis=1, dtype="f8")]
    return lambda: crc(target)


def crc(path: str) -> int:
    import zarr_rust

    return zlib.crc32(np.ascontiguousarray(zarr_rust.open_array(path, path="/")[...]))


def main(way: str, source: str, target: str, *operations: str) -> None:
    folder = Path(target + "-cluster")
    folder.mkdir(parents=True)
    file = folder / "scheduler.json"
    command = [sys.executable, "-m", "dask"]
    scheduler = [*command, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
    worker = [*command, "worker", "--host", "127.0.0.1", "--nworkers", "4", "--nthreads", "1", "--no-dashboard"]
    worker += ["--local-directory", str(folder)]
    with open(folder / "log.txt", "wb") as log:
        processes = [
            subprocess.Popen([*started, "--scheduler-file", str(file)], stdout=log, stderr=log) for started in (scheduler, worker)
        ]
        try:
            while not file.exists():
                time.sleep(0.05)
            with Client(scheduler_file=str(file)) as client:
                client.wait_for_workers(4)
                # Imports are not timed: those of the workers, and of the scheduler, which unpacks graphs.
                for run_on in (client.run, client.run_on_scheduler):
                    run_on(lambda: [__import__(name) for name in ("dask.array", "xarray", "zarr", "zarr_rust")] and None)
                for operation in operations:
                    shutil.rmtree(target, ignore_errors=True)
                    begun = time.perf_counter()
                    try:
                        result = run(way, operation, source, target)
                        done = {"seconds": time.perf_counter() - begun, "result": result()}
                    except Exception as error:
                        done = {"absent": f"{type(error).__name__}: {error}"[:300]}
                    print(json.dumps({"operation": operation, **done}), flush=True)
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait(60)
    shutil.rmtree(target, ignore_errors=True)
    shutil.rmtree(folder)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main(*sys.argv[1:])
