"""Stores of zarr-python that are asked by their own methods, on zarr-python's event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from typing import Any

import zarr
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from zarr_rust import _core, _refusals

#: The documents of nodes, which are keys wherever stores list a name that may be a prefix as well.
_DOCUMENTS = {"zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"}


class Asked:
    """A store of Python, for the compiled part, which calls the methods that begin requests and waits for their answers."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.name = str(store)
        self.writes = bool(store.supports_writes) and not store.read_only
        self.lists = bool(store.supports_listing)
        bound = zarr.config.get("async.concurrency")
        self.concurrency = 1 << 12 if bound is None else int(bound)
        self._prototype = default_buffer_prototype()
        #: Whether it refused a range as a store does that takes none.
        self._refused = False

    def begin_get(self, answer: _core.Answer, key: str, how: str, one: int, other: int) -> None:
        """Begins to get bytes: all (``"get"``), those from one to another, those from one on, or so many at the end. Of a store that takes
        no ranges the answer is that, and it is asked for all of them.
        """
        is_empty = how == "range" and one == other
        if how != "get" and not is_empty and _refusals.refuses_ranges(self.store):
            answer.refuse_range()
        else:
            self._begin(answer, self._get(answer, key, how, one, other))

    def begin_set(self, answer: _core.Answer, key: str, value: bytes) -> None:
        """Begins to set a value."""
        self._begin(answer, self._set(answer, key, value))

    def begin_erase(self, answer: _core.Answer, key: str) -> None:
        """Begins to erase a key."""
        self._begin(answer, self._erase(answer, key))

    def begin_list(self, answer: _core.Answer, prefix: str, deep: bool) -> None:
        """Begins to list the keys and prefixes directly below a prefix, or all keys below it."""
        self._begin(answer, self._list(answer, prefix, deep))

    def _begin(self, answer: _core.Answer, request: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(_answered(answer, request), _loop())

    async def _get(self, answer: _core.Answer, key: str, how: str, one: int, other: int) -> None:
        byte_range: Any = None
        if how == "range":
            if one == other:
                # Some stores refuse a range without bytes.
                answer.bytes(b"" if await self.store.exists(key) else None)
                return
            byte_range = RangeByteRequest(one, other)
        elif how == "from":
            byte_range = OffsetByteRequest(one)
        elif how == "suffix":
            byte_range = SuffixByteRequest(one)
        try:
            value = await self.store.get(key, self._prototype, byte_range)
        except _refusals.REFUSALS as error:
            if byte_range is None:
                raise
            self._refused = self._refused or _refusals.is_lasting(error)
            answer.refuse_range()
            return
        if byte_range is None and self._refused and value is not None:
            _refusals.note(self.store)
        answer.bytes(None if value is None else value.to_bytes())

    async def _set(self, answer: _core.Answer, key: str, value: bytes) -> None:
        await self.store.set(key, self._prototype.buffer.from_bytes(value))
        answer.bytes(None)

    async def _erase(self, answer: _core.Answer, key: str) -> None:
        try:
            await self.store.delete(key)
        except (FileNotFoundError, KeyError):
            pass
        answer.bytes(None)

    async def _list(self, answer: _core.Answer, prefix: str, deep: bool) -> None:
        if deep:
            answer.names([key async for key in self.store.list_prefix(prefix) if key.startswith(prefix)], [])
            return
        names = sorted({name.strip("/").rsplit("/", 1)[-1] async for name in self.store.list_dir(prefix.rstrip("/"))} - {""})
        # Which of them are keys, it does not say. A name may be both.
        paths = [prefix + name for name in names]
        asked = [path for name, path in zip(names, paths) if name not in _DOCUMENTS]
        are_keys = dict(zip(asked, await asyncio.gather(*(self.store.exists(path) for path in asked)), strict=True))
        keys = [path for path in paths if are_keys.get(path, True)]
        prefixes = [f"{path}/" for path in asked if not are_keys[path] or await self._is_prefix(path)]
        answer.names(keys, prefixes)

    async def _is_prefix(self, path: str) -> bool:
        async for _ in self.store.list_dir(path):
            return True
        return False


async def _answered(answer: _core.Answer, request: Coroutine[Any, Any, None]) -> None:
    """Awaits a request. Whatever it raises is the answer, since a thread waits for one."""
    try:
        await request
    except BaseException as error:  # noqa: BLE001
        answer.fail(f"{type(error).__name__}: {error}")
        if not isinstance(error, Exception):
            raise


#: The event loop of zarr-python, to which its stores belong, and the process that has it.
_known: tuple[int, asyncio.AbstractEventLoop] | None = None


def _loop() -> asyncio.AbstractEventLoop:
    global _known
    process = os.getpid()
    if _known is None or _known[0] != process or _known[1].is_closed():
        _known = (process, sync(_running()))
    return _known[1]


async def _running() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()
