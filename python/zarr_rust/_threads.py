"""How many threads decode and encode, where the environment does not say it."""

from __future__ import annotations

import os
import sys


def of_worker() -> int | None:
    """The threads of the Dask workers in this process, and no more than there are cores; ``None`` where this is no Dask worker.

    Several worker processes of a machine share its cores by that: each works on as many as it has threads for tasks.
    """
    module = sys.modules.get("distributed.worker")
    if module is None:
        return None
    try:
        threads = sum(worker.state.nthreads for worker in list(module.Worker._instances))
    except AttributeError:
        # Another version of distributed, in which workers are found otherwise.
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(threads, cores) or None
