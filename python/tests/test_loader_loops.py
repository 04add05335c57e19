"""Loops of loaders that end early, fail, go on, and run in forked children."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust
from test_loader import array, folder, parts
from zarr_rust._loader_boxes import Space, positions
from zarr_rust.loader import Boxes, Rows

__all__ = ["folder"]


def in_child(check: Callable[[], None]) -> None:
    """Runs a check in a forked child, and expects it to pass there."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            check()
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.fixture
def slow(tmp_path: Path) -> zarr_rust.Array:
    """An array of rows of 4 MiB, whose number they have, that take time to decode."""
    made = zarr_rust.create_array(tmp_path / "slow.zarr", shape=(12, 1 << 20), dtype="i4", chunks=(1, 1 << 20), codecs=["bytes", "gzip"])
    noise = np.random.default_rng(0).integers(0, 1 << 12, 1 << 20, dtype="i4") << 8
    for row in range(12):
        made[row] = noise + row
    return zarr_rust.open_array(tmp_path / "slow.zarr")


def numbers(batch: Any) -> list[int]:
    found = (batch & 0xFF).reshape(len(batch), -1)
    assert (found == found[:, :1]).all()
    return found[:, 0].tolist()


def test_a_loop_that_ended_writes_to_no_memory(slow: zarr_rust.Array) -> None:
    for end in ("dropped", "error"):
        out = [np.zeros((2, 1 << 20), "i4") for _ in range(4)]
        fails = iter([False, end == "error"])
        loader = Rows(slow, 2, 1, shuffle=False, prefetch=4, out=out, to=lambda batch: 1 // 0 if next(fails, False) else batch)
        loop = iter(loader)
        assert numbers(next(loop)) == [0, 1]
        if end == "error":
            with pytest.raises(ZeroDivisionError):
                next(loop)
        # Three batches are read meanwhile.
        del loop
        for memory in out:
            memory[...] = -1
        time.sleep(0.3)
        assert all((memory == -1).all() for memory in out)


def test_one_loop_at_a_time_has_the_memory(slow: zarr_rust.Array) -> None:
    out = [np.zeros((2, 1 << 20), "i4") for _ in range(4)]
    loader = Rows(slow, 2, 1, shuffle=False, prefetch=4, out=out)
    first = iter(loader)
    next(first)
    loader.set_epoch(0)
    second = iter(loader)
    assert numbers(next(second)) == [0, 1]
    with pytest.raises(RuntimeError, match="another loop"):
        next(first)
    assert [numbers(batch) for batch in second] == [[at, at + 1] for at in range(2, 12, 2)]
    # A copy of the loader has the same memory.
    copies = loader.to_torch().loader if "torch" in sys.modules else None
    assert copies is None or copies._out is loader._out
    loop = iter(loader)
    next(loop)

    def child() -> None:
        # The reads of the parent are none of the child.
        assert [numbers(batch) for batch in loader] == [[at, at + 1] for at in range(0, 12, 2)]

    loader.set_epoch(0)
    in_child(child)


@pytest.mark.parametrize("buffer", [0, 40])
def test_a_batch_that_is_not_converted_comes_again(folder: Path, buffer: int) -> None:
    label = array(folder, "label")
    due = [batch.tolist() for batch in Rows(label, 5, 2, shuffle_buffer=buffer, seed=1)]
    for out in (None, [np.empty(10, "i2") for _ in range(3)]):
        calls = itertools.count()

        def to(batch: Any) -> Any:
            if next(calls) in (2, 3, 7):
                raise KeyboardInterrupt
            return batch.tolist()

        loader = Rows(label, 5, 2, shuffle_buffer=buffer, seed=1, to=to, out=out)
        loop = iter(loader)
        found = []
        while True:
            try:
                found.append(next(loop))
            except KeyboardInterrupt:
                assert loader.state_dict()["batch"] == len(found)
                continue
            except StopIteration:
                break
        assert found == due and loader.epoch == 1


def test_a_state_survives_the_number_of_its_epoch(folder: Path) -> None:
    label = array(folder, "label")
    due = [[batch.tolist() for batch in loader] for loader in [Rows(label, 5, 2, seed=1)] for _ in range(3)]
    loader = Rows(label, 5, 2, seed=1)
    loader.load_state_dict({**loader.state_dict(), "epoch": 1, "batch": 4})
    found = []
    for epoch in range(1, 3):
        loader.set_epoch(epoch)
        found.append([batch.tolist() for batch in loader])
    assert found == [due[1][4:], due[2]]
    # A loop that has begun is what the number begins anew.
    loader.load_state_dict({**loader.state_dict(), "epoch": 1, "batch": 4})
    next(iter(loader))
    loader.set_epoch(1)
    assert [batch.tolist() for batch in loader] == due[1]
    # Of another epoch nothing is known.
    loader.load_state_dict({**loader.state_dict(), "epoch": 1, "batch": 4})
    loader.set_epoch(2)
    assert [batch.tolist() for batch in loader] == due[2]


def test_batches_have_numbers_that_are_those_of_the_rank(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = types.SimpleNamespace(get_worker_info=lambda: types.SimpleNamespace(id=1, num_workers=2))
    monkeypatch.setitem(sys.modules, "torch.utils.data", names)
    loader = Boxes(array(folder, "cube"), (4, 8, 10), 3, worker="torch")
    for ask in (lambda: len(loader), lambda: loader[0]):
        with pytest.raises(TypeError, match="torch gives batches"):
            ask()
    loader = Boxes(array(folder, "cube"), (4, 8, 10), 3, seed=2)
    assert (loader.starts(-1) == loader.starts(len(loader) - 1)).all()
    for number in (len(loader), -len(loader) - 1):
        with pytest.raises(IndexError):
            loader.starts(number)


def test_rows_that_are_mixed_are_read_once(folder: Path) -> None:
    label = array(folder, "label", cache="1MiB")
    loader = Rows(label, 5, 2, shuffle_buffer=40, seed=1, prefetch=4)
    # Four batches are one read.
    loop: Any = iter(loader)
    assert loop._depth == 1
    assert [iter(Rows(label, 5, 2, shuffle_buffer=40, prefetch=count))._depth for count in (0, 1, 5, 9)] == [1, 1, 2, 3]  # type: ignore[attr-defined]
    due = [batch.tolist() for batch in loop]
    loader.set_epoch(0)
    assert label.cache is not None
    counts = []
    for number, batch in enumerate(due):
        before = sum(label.cache.stats()[name] for name in ("hits", "misses"))
        assert loader[number].tolist() == batch
        counts.append(sum(label.cache.stats()[name] for name in ("hits", "misses")) > before)
    assert counts == [number % 4 == 0 for number in range(len(due))]
    loader.set_epoch(1)
    assert loader[0].tolist() != due[0]


def middles(space: Space, found: Any) -> Any:
    return found + np.array(space.lens) // 2


def test_boxes_of_masks_are_those_whose_middle_they_take() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        ndim = int(rng.integers(1, 4))
        steps = rng.integers(1, 3, ndim)
        lens = (rng.integers(1, 4, ndim) * steps).tolist()
        extent = [int(length + rng.integers(0, 12)) for length in lens]
        full = [int(size + rng.integers(0, 2)) for size in extent]
        space = Space(extent, lens, steps.tolist(), full)
        mask = rng.random([int(rng.integers(1, size + 1)) for size in full]) < 0.3
        strides = (rng.integers(1, 3, ndim) * steps).tolist()
        grids = np.meshgrid(*(range(0, size - length + 1, stride) for size, length, stride in zip(extent, lens, strides)), indexing="ij")
        starts = np.stack([grid.ravel() for grid in grids], 1)

        def taken(starts: Any) -> Any:
            cells = middles(space, starts) * np.array(mask.shape) // np.array(full)
            return mask[tuple(cells.T)]

        due = sorted(map(tuple, starts[taken(starts)].tolist()))
        tiles = positions(space, mask, strides, None, 0)
        assert tiles.count() == len(due)
        assert sorted(map(tuple, tiles.starts(np.arange(len(due)), 0).tolist())) == due
        # Drawn ones: the mask and weights, in whose middle there is no other cell, at the ends as well.
        for where in (mask, mask.astype("f4") * 3):
            drawn = positions(space, where, None, 50, 1)
            if drawn.count():
                found = drawn.starts(np.arange(50), 0)
                space.check(found)
                assert taken(found).all()
            else:
                assert not taken(starts if strides == steps.tolist() else np.zeros((0, ndim), int)).any()


def test_positions_of_a_mask_are_as_likely_as_others() -> None:
    space = Space([8], [8], [1], [8])
    assert positions(space, np.array([True, False]), None, 10, 0).count() == 0
    # At the ends a cell has two positions.
    space = Space([12], [5], [1], [12])
    drawn = positions(space, np.array([True, False, True]), None, 20_000, 0).starts(np.arange(20_000), 0)[:, 0]
    counts = np.bincount(drawn, minlength=8)
    assert set(np.flatnonzero(counts)) == {0, 1, 6, 7} and counts[counts > 0].min() > 4700


def test_a_mask_takes_memory_for_its_own_elements(tmp_path: Path) -> None:
    large = zarr_rust.create_array(tmp_path / "x.zarr", shape=(100_000, 100_000), dtype="i1", chunks=(1000, 1000))
    mask = np.zeros((100, 100), bool)
    mask[0, 0] = mask[50, 50] = mask[99, 99] = True
    loader = Boxes(large, (64, 64), 1000, where=mask, stride=1, seed=1)
    # At the ends there is room for the middles from 32 on.
    assert len(loader) == -(-(968**2 + 1000**2 + 969**2) // 1000)
    starts = loader.starts(5)
    assert set(map(tuple, ((starts + 32) // 1000).tolist())) <= {(0, 0), (50, 50), (99, 99)}


@pytest.mark.parametrize(
    ("where", "samples", "message"),
    [
        ([()], None, "region 0"),
        ([(0, slice(0, 3), slice(0, 3))], None, "region 0"),
        ([[1, 2], [3]], None, "found list, expected a mask"),
        (np.full((2, 1, 1), 1e308), 4, "sum is infinite"),
        (np.full((2, 1, 1), -1.0), 4, "negative"),
    ],
)
def test_what_says_nothing_about_boxes_is_refused(folder: Path, where: Any, samples: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Boxes(array(folder, "cube"), (4, 4, 5), 2, where=where, samples=samples)
    for memory in (1.5e9, True, None):
        with pytest.raises(TypeError, match="memory="):
            Boxes(array(folder, "cube"), (4, 4, 5), 2, memory=memory)  # type: ignore[arg-type]


class Meeting(zarr.storage.LocalStore):
    """A store whose requests of chunks wait until two are under way, or for some seconds, and note how many were."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.now = self.most = 0

    async def get(self, key: str, *args: Any, **kwargs: Any) -> Any:
        if "/c/" in key or key.startswith("c/"):
            self.now += 1
            deadline = time.monotonic() + 5
            while self.most < 2 and time.monotonic() < deadline:
                self.most = max(self.most, self.now)
                await asyncio.sleep(0.005)
            self.now -= 1
        return await super().get(key, *args, **kwargs)


def test_batches_are_read_at_the_same_time_in_a_forked_child(folder: Path) -> None:
    # The parent has read, so that it has the threads which the child lacks.
    due = [batch.tolist() for batch in Rows(array(folder, "flat"), 10, 1, seed=1)]

    def child() -> None:
        store = Meeting(folder)
        loader = Rows(zarr_rust.open_array(store, "flat"), 10, 1, seed=1, prefetch=3)
        assert [batch.tolist() for batch in loader] == due and store.most >= 2

    in_child(child)


def test_a_child_sees_what_it_appends(tmp_path: Path) -> None:
    made = zarr_rust.create_array(tmp_path / "x.zarr", shape=(10,), chunks=(4,), dtype="i4", fill_value=-1)
    made[:] = np.arange(10)
    opened = zarr_rust.open_array(tmp_path / "x.zarr", mode="r+", cache="1MiB")
    assert opened[8:10].tolist() == [8, 9]

    def child() -> None:
        cache = opened.cache
        assert cache is not None and opened[8:10].tolist() == [8, 9]
        before = cache.stats()["hits"]
        assert opened[8:10].tolist() == [8, 9] and cache.stats()["hits"] == before + 1
        opened.append(np.array([1, 2], "i4"))
        assert opened[10:12].tolist() == [1, 2]
        opened.resize((9,))
        opened.resize((12,))
        assert opened[8:12].tolist() == [8, -1, -1, -1]
        opened[11] = 5
        assert opened[8:12].tolist() == [8, -1, -1, 5]

    in_child(child)


def test_times_are_found_out_without_the_lock_of_the_interpreter(tmp_path: Path) -> None:
    root = zarr_rust.create_group(tmp_path / "x.zarr")
    attributes = {"units": "days since 2020-01-01"}
    root.create_array("time", data=np.arange(40, dtype="i4"), chunks=(10,), dimension_names=["time"], attributes=attributes)
    # Requests to a store of Python need the lock.
    source = zarr_rust.dataset(zarr.storage.LocalStore(tmp_path / "x.zarr"))["time"]
    batch = next(iter(Rows(source, 10, 1, shuffle=False)))
    assert batch[3] == np.datetime64("2020-01-04") and threading.active_count() > 0


def test_tables_of_a_forked_child_have_its_cache(tmp_path: Path) -> None:
    root = zarr_rust.create_group(tmp_path / "x.zarr")
    root.create_array("x", data=np.arange(40, dtype="i4"), chunks=(10,), dimension_names=["x"])
    cache = zarr_rust.Cache("1MiB")
    table = zarr_rust.dataset(tmp_path / "x.zarr", cache=cache).to_arrow()
    assert sum(map(len, table)) == 40 and cache.stats()["misses"] > 0

    def child() -> None:
        assert cache.stats()["misses"] == 0
        assert sum(map(len, table)) == 40
        assert cache.stats()["misses"] > 0

    in_child(child)


def test_batches_by_number_use_the_same_threads_in_a_forked_child(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loader = Boxes(array(folder, "cube"), (4, 8, 10), 3, seed=1)
    due = [batch.tolist() for batch in loader]
    loader.set_epoch(0)
    monkeypatch.setenv("ZARR_THREADS", "5")

    def threads() -> set[str]:
        return set(os.listdir("/proc/self/task"))

    def child() -> None:
        assert loader[0].tolist() == due[0]
        for number in range(1, len(loader)):
            before = threads()
            assert loader[number].tolist() == due[number]
            # That which waits for the read.
            assert len(threads() - before) <= 1

    in_child(child)
