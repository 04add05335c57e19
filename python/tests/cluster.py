"""A cluster of Dask on this machine, started by its commands, and functions for its workers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import zarr_rust
from distributed import Client


@contextmanager
def by_command(folder: Path, workers: int = 4) -> Iterator[Client]:
    """A scheduler and worker processes of one thread each, on 127.0.0.1, in a folder of their own."""
    file = folder / "scheduler.json"
    # Workers find the package and this module as this process does.
    paths = [str(Path(zarr_rust.__file__).parents[1]), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path), "OPENBLAS_NUM_THREADS": "1"}
    dask = [sys.executable, "-m", "dask"]
    scheduler = [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
    worker = [*dask, "worker", "--host", "127.0.0.1", "--nworkers", str(workers), "--nthreads", "1", "--no-dashboard"]
    worker += ["--memory-limit", "0", "--local-directory", str(folder)]
    with open(folder / "log.txt", "wb") as log:
        started = [
            subprocess.Popen([*command, "--scheduler-file", str(file)], env=environment, stdout=log, stderr=log)
            for command in (scheduler, worker)
        ]
        try:
            while not file.exists():
                assert started[0].poll() is None, (folder / "log.txt").read_text()
                time.sleep(0.05)
            with Client(scheduler_file=str(file)) as client:
                client.wait_for_workers(workers, timeout=60)
                yield client
        finally:
            # Workers leave by their scheduler, and wait for it if it is gone.
            for process in reversed(started):
                process.terminate()
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def held(block: np.ndarray[Any, Any], until: str, block_info: Any = None) -> np.ndarray[Any, Any]:
    """The same block; the last three, once there is a file. They are fewer than the workers: one always goes on with other blocks."""
    (row, column), (rows, columns) = (block_info[0][key] for key in ("chunk-location", "num-chunks"))
    while row == rows - 1 and column >= columns - 3 and not os.path.exists(until):
        time.sleep(0.01)
    return block


def threads() -> tuple[int, int | None]:
    """The process of a worker, and how many threads arrays have there."""
    from zarr_rust._threads import of_worker

    return os.getpid(), of_worker()
