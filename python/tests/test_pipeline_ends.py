"""The pipeline of zarr-python: what becomes of requests to stores of Python when an operation ends, or is ended."""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust
from zarr.storage import MemoryStore, WrapperStore
from zarr_rust import _pipeline_answers, pipeline


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    """A fault here waits for ever, which ends the tests."""
    faulthandler.dump_traceback_later(120, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


class Slow(WrapperStore):  # type: ignore[type-arg]
    """A store of a program, whose sets of one key wait until they may go on."""

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self.held: str | None = None
        self.began, self.may_go_on = asyncio.Event(), asyncio.Event()
        self.sets: list[str] = []

    async def set(self, key: str, value: Any) -> None:
        self.sets.append(key)
        if key == self.held:
            self.held = None
            self.began.set()
            await self.may_go_on.wait()
        await super().set(key, value)


async def array_of(store: Any) -> Any:
    with zarr_rust.enable():
        return await zarr.api.asynchronous.create_array(store, shape=(20,), chunks=(1,), dtype="i4", compressors=None)


def test_a_cancelled_write_overwrites_nothing_that_is_written_later() -> None:
    async def run() -> None:
        store = Slow(MemoryStore())
        array = await array_of(store)
        store.held = "c/3"
        first = asyncio.create_task(array.setitem(..., 1))
        await store.began.wait()
        first.cancel()
        await asyncio.sleep(0.1)
        assert not first.done()
        store.may_go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await first
        count = len(store.sets)
        await asyncio.sleep(0.1)
        assert len(store.sets) == count, "nothing begins after the end"
        await array.setitem(..., 2)
        assert (np.asarray(await array.getitem(...)) == 2).all()

    asyncio.run(run())


def test_tasks_that_are_cancelled_before_they_begin_are_answered() -> None:
    async def run() -> None:
        array = await array_of(Slow(MemoryStore()))
        create = asyncio.BaseEventLoop.create_task

        def cancelled(loop: Any, coroutine: Any, **named: Any) -> Any:
            task = create(loop, coroutine, **named)
            if "_answer" in getattr(coroutine, "__qualname__", ""):
                task.cancel()
            return task

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asyncio.BaseEventLoop, "create_task", cancelled)
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(array.setitem(..., 1), 20)

    asyncio.run(run())


def test_tasks_that_cannot_be_made_and_answers_that_are_no_bytes_are_errors() -> None:
    async def run() -> None:
        array = await array_of(Slow(MemoryStore()))
        await array.setitem(..., 1)
        create = asyncio.BaseEventLoop.create_task

        def refused(loop: Any, coroutine: Any, **named: Any) -> Any:
            if "_answer" in getattr(coroutine, "__qualname__", ""):
                raise RuntimeError("no task")
            return create(loop, coroutine, **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asyncio.BaseEventLoop, "create_task", refused)
            with pytest.raises(RuntimeError, match="no task"):
                await asyncio.wait_for(array.getitem(...), 20)

        async def number(*_: Any) -> Any:
            return 7

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_pipeline_answers.Answers, "_do", number)
            with pytest.raises(TypeError):
                await asyncio.wait_for(array.getitem(...), 20)

    asyncio.run(run())


class Late(WrapperStore):  # type: ignore[type-arg]
    """A store of a program, whose chunks come late, or not at all."""

    is_lost = False

    async def get(self, key: str, *arguments: Any, **named: Any) -> Any:
        if key.startswith("c/"):
            await asyncio.sleep(0.3)
            if self.is_lost:
                raise OSError("lost")
        return await super().get(key, *arguments, **named)


def test_nothing_is_kept_of_a_batch_that_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[Any]] = []
    original = _pipeline_answers.Answers.__init__

    def noted(self: Any, *arguments: Any) -> None:
        original(self, *arguments)
        made.append(weakref.ref(self))

    monkeypatch.setattr(_pipeline_answers.Answers, "__init__", noted)
    with zarr_rust.enable():
        array = zarr.create_array(WrapperStore(MemoryStore()), shape=(20,), chunks=(5,), dtype="i4")
    array[...] = 3
    assert (array[2:9] == 3).all()
    gc.collect()
    assert len(made) >= 2 and all(one() is None for one in made)
    made.clear()

    async def run() -> None:
        store = Late(MemoryStore())
        array = await array_of(store)
        await array.setitem(..., 1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(array.getitem(...), 0.05)
        store.is_lost = True
        with pytest.raises(OSError, match="lost"):
            await array.getitem(...)
        await asyncio.sleep(0.4)

    asyncio.run(run())
    gc.collect()
    assert len(made) == 3 and all(one() is None for one in made)


def test_a_cancellation_while_others_end_is_one() -> None:
    class Broken(Slow):
        async def set(self, key: str, value: Any) -> None:
            if key == "c/0":
                await self.began.wait()
                raise OSError("full")
            await super().set(key, value)

    async def run() -> None:
        store = Broken(MemoryStore())
        array = await array_of(store)
        store.held = "c/3"
        task = asyncio.create_task(array.setitem(..., 1))
        await store.began.wait()
        await asyncio.sleep(0.3)
        task.cancel()
        await asyncio.sleep(0.05)
        assert not task.done()
        store.may_go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


@pytest.mark.parametrize("shards", [None, (20, 10, 14)])
def test_one_list_beside_ranges_goes_by_ranges(monkeypatch: pytest.MonkeyPatch, shards: Any) -> None:
    data = np.arange(40 * 30 * 28, dtype="i4").reshape(40, 30, 28)
    with zarr_rust.enable():
        array = zarr.create_array(MemoryStore(), shape=data.shape, chunks=(10, 5, 7), shards=shards, dtype="i4")
    array[...] = data

    def by_points(*_: Any) -> Any:
        raise AssertionError("each element by itself")

    monkeypatch.setattr(pipeline, "indices_of", by_points)
    for axis in range(3):
        for chosen in (np.arange(1, data.shape[axis], 3), np.array([5, 2, 27, 2]), np.array([], dtype="i8")):
            selection: list[Any] = [slice(3, 33), slice(None), slice(2, None, 5)]
            selection[axis] = chosen
            at = tuple(selection)
            assert (array.oindex[at] == data[at]).all() and array.oindex[at].shape == data[at].shape
            if len(set(chosen.tolist())) == chosen.size:
                data[at] = value = -data[at]
                array.oindex[at] = value
                assert (array[...] == data).all()
