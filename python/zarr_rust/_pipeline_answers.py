"""Objects of Python that have the bytes of chunks, and are asked for them."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Sequence
from functools import partial
from typing import Any

import zarr
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.storage import StorePath

from zarr_rust import _core, _refusals
from zarr_rust._async import ended


#: What asks for a part of a value.
_RANGES = ("range", "from", "suffix")


class Answers:
    """Answers requests for chunks with their objects, on the event loop that runs meanwhile."""

    def __init__(self, getters: Sequence[Any], prototype: Any) -> None:
        self._getters = getters
        self._prototype = prototype
        self._loop = asyncio.get_running_loop()
        # Stores see the variables of the caller. The threads that ask have none.
        self._context = contextvars.copy_context()
        # The loop keeps no reference to its tasks. Whether they write.
        self._tasks: dict[asyncio.Task[None], bool] = {}
        self._store = getters[0].store if type(getters[0]) is StorePath else getters[0]
        self._refused = False
        wake = partial(self._loop.call_soon_threadsafe, self._begin)
        self.requests = _core.Requests(str(self._store), concurrency(), wake, _refusals.refuses_ranges(self._store))

    def _begin(self) -> None:
        for number, chunk, ask, *arguments in self.requests.take():
            answer = self._answer(number, chunk, ask, arguments)
            try:
                task = self._loop.create_task(answer, context=self._context.copy())
            # The thread that asked waits for an answer.
            except BaseException as error:  # noqa: BLE001
                answer.close()
                self.requests.fail(number, error)
                continue
            self._tasks[task] = ask in ("set", "delete")
            task.add_done_callback(partial(self._done, number))

    async def _answer(self, number: int, chunk: int, ask: str, arguments: list[Any]) -> None:
        try:
            self.requests.answer(number, await self._do(self._getters[chunk], ask, arguments))
        except _refusals.REFUSALS as error:
            if ask in _RANGES:
                self._refused = self._refused or _refusals.is_lasting(error)
                self.requests.refuse_range(number)
            else:
                self.requests.fail(number, error)
        # Whatever it is: the thread that asked waits for the answer, and raises it.
        except BaseException as error:  # noqa: BLE001
            self.requests.fail(number, error)
            if not isinstance(error, Exception):
                raise

    def _done(self, number: int, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        if task.cancelled():
            # Perhaps before it began.
            self.requests.fail(number, asyncio.CancelledError())

    async def end(self) -> None:
        """Ends requests that nobody waits for any more. Those that write are waited for, so that they overwrite nothing that is written later."""
        if self._refused and self.requests.without_ranges:
            _refusals.note(self._store)
        self.requests.close()
        writing = []
        for task, writes in self._tasks.items():
            if writes:
                writing.append(task)
            else:
                task.cancel()
        if writing and await ended(asyncio.gather(*writing, return_exceptions=True)):
            raise asyncio.CancelledError

    async def _do(self, getter: Any, ask: str, arguments: list[Any]) -> bytes | None:
        if ask == "set":
            await getter.set(self._prototype.buffer.from_bytes(arguments[0]))
            return None
        if ask == "delete":
            await getter.delete()
            return None
        byte_range: Any = None
        if ask == "range":
            start, stop = arguments
            if start == stop:
                # Some stores refuse a range without bytes.
                return b""
            byte_range = RangeByteRequest(start, stop)
        elif ask == "from":
            byte_range = OffsetByteRequest(arguments[0])
        elif ask == "suffix":
            byte_range = SuffixByteRequest(arguments[0])
        value = await getter.get(prototype=self._prototype, byte_range=byte_range)
        return None if value is None else value.to_bytes()


def concurrency() -> int:
    """How many requests may be under way; without a bound so many that there is none."""
    bound = zarr.config.get("async.concurrency")
    return 1 << 12 if bound is None else int(bound)
