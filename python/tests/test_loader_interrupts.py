"""Loops of loaders that handlers of signals interrupt anywhere, and that several threads use."""

from __future__ import annotations

import dis
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust
from test_loader import array, folder
from test_loader_loops import numbers, slow
from zarr_rust import _asked, _loader_epochs
from zarr_rust.loader import Rows

__all__ = ["folder", "slow"]


class Interrupt:
    """Raises ``KeyboardInterrupt`` once in the code of loops, where Python runs the handlers of signals: at the begin of a function, and after
    a call has returned, before its result is used."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.after_call: dict[Any, bool] = {}
        self.calls: dict[Any, set[int]] = {}

    def __enter__(self) -> Interrupt:
        sys.settrace(self.begin)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def count(self) -> None:
        self.left -= 1
        if self.left < 0:
            sys.settrace(None)
            raise KeyboardInterrupt

    def begin(self, frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != _loader_epochs.__file__ or self.left < 0:
            return None
        frame.f_trace_opcodes = True
        if frame.f_code not in self.calls:
            self.calls[frame.f_code] = {at.offset for at in dis.get_instructions(frame.f_code) if at.opname.startswith("CALL")}
        self.count()
        return self.step

    def step(self, frame: Any, event: str, argument: Any) -> Any:
        if event == "opcode" and self.left >= 0:
            if self.after_call.get(frame):
                self.count()
            self.after_call[frame] = frame.f_lasti in self.calls[frame.f_code]
        return self.step


@pytest.mark.parametrize("buffer", [0, 30])
@pytest.mark.parametrize("has_out", [False, True])
@pytest.mark.parametrize("prefetch", [0, 3])
def test_an_interrupt_anywhere_loses_no_batch(folder: Path, buffer: int, has_out: bool, prefetch: int) -> None:
    label = array(folder, "label")
    due = [batch.tolist() for batch in Rows(label, 5, 2, shuffle_buffer=buffer, seed=1)]
    out = [np.empty(10, "i2") for _ in range(3)] if has_out else None
    interrupted, number = 0, 0
    while True:
        loader = Rows(label, 5, 2, shuffle_buffer=buffer, seed=1, prefetch=prefetch, out=out)
        loader.load_state_dict({**loader.state_dict(), "batch": 1})
        loop = iter(loader)
        found = []
        interrupt = Interrupt(number)
        while True:
            try:
                if interrupt.left >= 0:
                    with interrupt:
                        batch = next(loop)
                else:
                    batch = next(loop)
                found.append(batch.tolist())
            except KeyboardInterrupt:
                interrupted += 1
            except StopIteration:
                break
            assert loader.epoch == 1 or loader.state_dict()["batch"] == len(found) + 1
        assert found == due[1:] and loader.epoch == 1, number
        if interrupt.left >= 0:
            break
        number += 1 if number < 150 else 17
    assert interrupted > 50


def test_an_interrupt_keeps_the_error_of_a_read(folder: Path) -> None:
    chunk = next(path for path in sorted((folder / "label").rglob("*")) if path.is_file() and path.name != "zarr.json")
    chunk.write_bytes(b"bad")
    for number in range(150):
        loop = iter(Rows(array(folder, "label"), 5, 2, shuffle=False, seed=1))
        interrupt = Interrupt(number)
        with pytest.raises(BaseException) as met:
            with interrupt:
                list(loop)
        if met.type is KeyboardInterrupt:
            # The error comes again, or the loop says that it has ended by it.
            with pytest.raises((zarr_rust.ZarrError, RuntimeError), match="batch|ended"):
                list(loop)
        else:
            assert met.type is not KeyboardInterrupt and issubclass(met.type, zarr_rust.ZarrError)


@pytest.mark.parametrize("buffer", [0, 40])
def test_a_loop_that_was_ended_gives_nothing(folder: Path, buffer: int) -> None:
    out = [np.zeros(10, "i2")]
    fails = iter([False, buffer == 0])
    loader = Rows(array(folder, "label"), 5, 2, shuffle_buffer=buffer, seed=1, out=out, to=lambda batch: 1 // 0 if next(fails, False) else batch)
    first = iter(loader)
    next(first)
    if buffer == 0:
        # A batch is ready.
        with pytest.raises(ZeroDivisionError):
            next(first)
    loader.set_epoch(0)
    second = iter(loader)
    due = next(second).tolist()
    with pytest.raises(RuntimeError, match="another loop"):
        next(first)
    assert out[0].tolist() == due


def test_reads_of_a_loop_that_is_dropped_have_the_memory_until_they_end(slow: zarr_rust.Array, monkeypatch: pytest.MonkeyPatch) -> None:
    out = [np.zeros((2, 1 << 20), "i4") for _ in range(4)]
    loader = Rows(slow, 2, 1, shuffle=False, prefetch=4, out=out)
    loop: Any = iter(loader)
    next(loop)
    # As if another thread dropped the loop, and were about to wait.
    ends = [loop._reads_end]
    del loop
    second = iter(loader)
    for memory in out:
        memory[...] = -1
    time.sleep(0.3)
    assert all((memory == -1).all() for memory in out)
    ends.clear()
    loader.set_epoch(0)
    del second
    assert [numbers(batch) for batch in loader] == [[at, at + 1] for at in range(0, 12, 2)]


def test_one_of_the_loops_that_threads_begin_has_the_memory(folder: Path) -> None:
    label = array(folder, "label")
    due = [batch.tolist() for batch in Rows(label, 5, 2, seed=1)]
    loader = Rows(label, 5, 2, seed=1, out=[np.zeros(10, "i2") for _ in range(3)])

    def use(_: int) -> list[Any] | None:
        try:
            loader.set_epoch(0)
            return [batch.tolist() for batch in iter(loader)]
        except RuntimeError as error:
            assert "another" in str(error)
            return None

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(use, range(40)))
    loader.set_epoch(0)
    assert [batch.tolist() for batch in loader] == due
    assert loader._out is not None and len(loader._out._reads) == 1


def test_threads_read_batches_by_number(folder: Path) -> None:
    loader = Rows(array(folder, "label"), 5, 2, shuffle_buffer=30, seed=1)
    due = [batch.tolist() for batch in loader]
    loader.set_epoch(0)
    share, first = loader._share(), 3

    class Kept(tuple):  # type: ignore[type-arg]
        """Rows that were kept, which another thread replaces when they are looked at."""

        def __getitem__(self, key: Any) -> Any:
            loader._kept = (share, 0, 0, [np.full(30, -1, "i2")])
            return tuple.__getitem__(self, key)

    assert loader[first].tolist() == due[first] and loader._kept is not None
    loader._kept = Kept(loader._kept)  # type: ignore[assignment]
    assert loader[first + 1].tolist() == due[first + 1]
    with ThreadPoolExecutor(8) as threads:
        for _ in range(10):
            assert [batch.tolist() for batch in threads.map(loader.__getitem__, range(len(loader)))] == due


def test_rows_are_kept_where_nobody_writes(tmp_path: Path) -> None:
    made = zarr_rust.create_array(tmp_path / "x.zarr", shape=(40,), chunks=(10,), dtype="i4", fill_value=1)
    loader = Rows(made, 5, 2, shuffle_buffer=40)
    assert (loader[0] == 1).all()
    made[:] = 7
    assert (loader[0] == 7).all() and loader._kept is None
    loader = Rows(zarr_rust.open_array(tmp_path / "x.zarr"), 5, 2, shuffle_buffer=40)
    for again in (lambda: loader.set_epoch(0), lambda: iter(loader)):
        assert (loader[0] == made[0]).all() and loader._kept is not None
        made[:] = made[0] + 1
        again()
        assert loader._kept is None and (loader[0] == made[0]).all()


def test_a_state_is_that_of_its_share(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import types

    worker: list[Any] = [None]
    names = types.SimpleNamespace(get_worker_info=lambda: worker[0])
    monkeypatch.setitem(sys.modules, "torch.utils.data", names)
    due = [batch.tolist() for batch in Rows(array(folder, "label"), 5, 2, seed=1)]
    loader = Rows(array(folder, "label"), 5, 2, seed=1, worker="torch")
    loader.load_state_dict({**loader.state_dict(), "batch": 2})
    worker[0] = types.SimpleNamespace(id=1, num_workers=2)
    with pytest.raises(ValueError, match=r"batch 2 of epoch 0 of share \[0, 1\], expected share \[1, 2\]"):
        iter(loader)
    # One worker reads all.
    worker[0] = types.SimpleNamespace(id=0, num_workers=1)
    assert [batch.tolist() for batch in loader] == due[2:]
    worker[0] = types.SimpleNamespace(id=1, num_workers=2)
    assert len(list(loader)) > 0


@pytest.mark.usefixtures("interruptible")
def test_signals_end_the_wait_of_a_loop_that_is_dropped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, begin = threading.Event(), _asked.Asked.begin_get
    release = threading.Event()
    timed_out = []

    def blocking(self: Any, answer: Any, key: str, *arguments: Any) -> None:
        # A request that does not return cannot be abandoned.
        if "/c/" in key and key != "flat/c/0/0":
            asked.set()
            timed_out.append(not release.wait(20))
        begin(self, answer, key, *arguments)

    class Asking(zarr.storage.LocalStore):
        """A store that is asked, and not opened by its path."""

    opened = zarr_rust.open_array(Asking(folder), "flat")
    due = [batch.tolist() for batch in Rows(opened, 10, 1, shuffle=False)]
    monkeypatch.setattr(_asked.Asked, "begin_get", blocking)
    loader = Rows(opened, 10, 1, shuffle=False, out=[np.zeros((10, 3), "f4") for _ in range(3)])
    loop = iter(loader)
    assert next(loop).tolist() == due[0]
    assert asked.wait(20)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        del loop
        for _ in range(1000):
            time.sleep(0.001)
    # The memory is that of the read still.
    assert loader._out is not None and len(loader._out._reads) == 1
    release.set()
    loader.set_epoch(0)
    assert [batch.tolist() for batch in loader] == due and not any(timed_out)
    timer.join()
