"""Operations in tasks of asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from zarr_rust import _core

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    """Does work on a thread of the loop's own executor. If the task is cancelled, the work makes no further request, and has ended when
    ``CancelledError`` is raised.
    """
    interrupt = _core.Interrupt()
    # Taken once: by the thread that begins the work, or by the cancellation, after which no thread does.
    begin = threading.Lock()

    def begun() -> Result:
        if not begin.acquire(blocking=False):
            raise asyncio.CancelledError
        return interrupt.run(work)

    future = asyncio.get_running_loop().run_in_executor(None, begun)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        if begin.acquire(blocking=False):
            # Other work has all threads of the executor.
            future.cancel()
            raise
        interrupt.set()
        await ended(future)
        raise


async def ended(future: asyncio.Future[Any]) -> bool:
    """Waits for work that was interrupted, since memory of the caller is in use until it has ended, however often the task is cancelled.
    Returns whether it was.
    """
    is_cancelled = False
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            is_cancelled = True
    # What it failed by is the interruption, or of no interest any more.
    if not future.cancelled():
        future.exception()
    return is_cancelled
