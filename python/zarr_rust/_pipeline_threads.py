"""Batches that are read and written on threads, and counted."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from zarr.storage import StorePath

from zarr_rust import _core
from zarr_rust._async import ended
from zarr_rust._pipeline_answers import Answers, concurrency
from zarr_rust._pipeline_stores import Native
from zarr_rust.errors import ZarrError

_counts: Counter[str] = Counter()
_counts_lock = threading.Lock()

# Threads of their own, since those of the event loop run the stores of Python that are waited for.
_threads: tuple[int, ThreadPoolExecutor] | None = None

#: Batches that are read or written now.
live: set[_core.Batch] = set()
_is_exiting = False


def _after_fork() -> None:
    global _counts_lock
    # Another thread of the parent may hold it, and has batches that are not of this process.
    _counts_lock = threading.Lock()
    live.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _interrupt_all() -> None:
    global _is_exiting
    _is_exiting = True
    for batch in tuple(live):
        batch.interrupt()


# Before the threads of executors are waited for: what was registered last is called first.
threading._register_atexit(_interrupt_all)  # type: ignore[attr-defined]


def count(what: str) -> None:
    """Counts a batch."""
    with _counts_lock:
        _counts[what] += 1


def counts() -> dict[str, int]:
    """How many batches of chunks the pipelines of this process read and wrote.

    ``"reads"`` and ``"writes"`` are those that this library decoded and encoded: ``"native"`` in a store that it opened itself, or
    ``"python-store"`` through the store's object of Python. ``"python-codec"`` are those with a codec or data type that only Python knows,
    which zarr-python did. Chunks that are encoded or decoded in memory are neither.
    """
    with _counts_lock:
        return {name: _counts[name] for name in ("reads", "writes", "native", "python-store", "python-codec")}


async def on_thread(
    batch: _core.Batch, items: list[Any], native: Native | None, writes: bool, work: Any, *arguments: Any
) -> Any:
    """Reads or writes a batch on a thread, in the store that was opened for its chunks, if there is one."""
    count("writes" if writes else "reads")
    getters, prototype = [item[0] for item in items], items[0][1].prototype
    if native is not None and native.is_left():
        # As another part of the same batch found.
        native = None
    if native is not None:
        try:
            done = await _waited_for(batch, partial(work, batch, native.source, *arguments))
        except ZarrError as error:
            if not native.leaves(error, writes):
                count("native")
                raise
        else:
            count("native")
            return done
        finally:
            if writes:
                native.was_written(getters)
    if type(getters[0]) is StorePath:
        count("python-store")
    asked = Answers(getters, prototype)
    try:
        done = await _waited_for(batch, partial(work, batch, asked.requests, *arguments))
    finally:
        await asked.end()
    if native is not None:
        native.was_left()
    return done


def _executor() -> ThreadPoolExecutor:
    global _threads
    if _threads is None or _threads[0] != os.getpid():
        _threads = (os.getpid(), ThreadPoolExecutor(64, thread_name_prefix="zarr_rust"))
    return _threads[1]


async def _waited_for(batch: _core.Batch, work: Any) -> Any:
    """Does work on a thread. It uses memory of the caller, and so is waited for even if the caller is cancelled, however often."""
    live.add(batch)
    try:
        if _is_exiting:
            batch.interrupt()
        future = asyncio.get_running_loop().run_in_executor(_executor(), work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            batch.interrupt()
            await ended(future)
            raise
    finally:
        live.discard(batch)


async def all_of(calls: list[Any]) -> list[Any]:
    """The results of all, some at a time. The first error is raised once all have ended, since they use memory of the caller."""
    some = asyncio.Semaphore(min(concurrency(), 64))

    async def one(call: Any) -> Any:
        async with some:
            return await call()

    results = await asyncio.gather(*map(one, calls), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results
