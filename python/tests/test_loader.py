"""Loaders of training data: each element of an epoch once, the same order everywhere, and loops that go on where they stood."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import sys
import threading
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr_rust
from server import serving
from test_buckets import upload
from zarr_rust._loader_order import below, key_of, permuted, random
from zarr_rust.loader import Boxes, Rows

OPTIONS = {"anonymous": "true", "region": "eu-west-3"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Arrays of their own indices: ``cube``, the same at half the resolution, rows and their labels."""
    root = zarr_rust.create_group(tmp_path / "x.zarr")
    cube = np.arange(20 * 24 * 30, dtype="i4").reshape(20, 24, 30)
    root.create_array("cube", data=cube, chunks=(4, 8, 10), shards=(8, 16, 20))
    root.create_array("half", data=cube[::2, ::2, ::2], chunks=(4, 8, 10))
    root.create_array("flat", data=np.arange(101 * 3, dtype="f4").reshape(101, 3), chunks=(10, 3))
    root.create_array("label", data=np.arange(101, dtype="i2"), chunks=(25,), shards=(50,))
    return tmp_path / "x.zarr"


def array(folder: Path, name: str, **arguments: Any) -> zarr_rust.Array:
    return zarr_rust.open_array(folder, name, **arguments)


def test_a_permutation_has_each_number_once() -> None:
    for count in [*range(1, 70), 1000, 65_537]:
        order = permuted(key_of(3, count), np.arange(count), count)
        assert sorted(order.tolist()) == list(range(count))
    assert len({tuple(permuted(key_of(seed), np.arange(6), 6).tolist()) for seed in range(300)}) > 200
    # Of so many that none of them could be made at once, and each in another place.
    count = (1 << 48) - 5
    some = permuted(key_of(1), np.arange(1000), count)
    assert len(set(some.tolist())) == 1000 and some.min() >= 0 and some.max() < count and np.ptp(some) > count // 2


def test_the_order_of_a_seed_never_changes() -> None:
    # States that were saved name batches by their numbers.
    assert permuted(key_of(7, 0, 0), np.arange(8), 8).tolist() == [0, 1, 7, 3, 5, 4, 6, 2]
    drawn = random(key_of(1), np.arange(20_000))
    assert 0 <= drawn.min() and drawn.max() < 1 and abs(drawn.mean() - 0.5) < 0.01
    counts = np.bincount(below(key_of(2), np.arange(20_000), 7), minlength=7)
    assert len(counts) == 7 and counts.min() > 2500


@pytest.mark.parametrize("drop_last", [False, True])
def test_ranks_and_workers_read_each_box_once(folder: Path, drop_last: bool) -> None:
    cube = array(folder, "cube")[...]
    seen: list[tuple[int, ...]] = []
    counts = set()
    for rank in range(4):
        for worker in range(2):
            loader = Boxes(
                array(folder, "cube"), (4, 4, 5), 3, seed=5, drop_last=drop_last, rank=rank, world=4, worker=worker, workers=2
            )
            counts.add(len(loader))
            for number, batch in enumerate(loader):
                for start, box in zip(loader.starts(number) if loader.epoch == 0 else [], batch):
                    z, y, x = start
                    assert (box == cube[z : z + 4, y : y + 4, x : x + 5]).all()
                seen.extend(int(box[0, 0, 0]) for box in batch)
    due = sorted(cube[::4, ::4, ::5].ravel().tolist())
    if drop_last:
        assert len(counts) == 1 and len(set(seen)) == len(seen) and set(seen) < set(due) and len(due) - len(seen) < 8 * 3
    else:
        assert sorted(seen) == due


@pytest.mark.parametrize("buffer", [0, 5, 16, 64])
def test_ranks_and_workers_read_each_row_once(folder: Path, buffer: int) -> None:
    flat, label = array(folder, "flat"), array(folder, "label")
    for epoch in range(2):
        rows: list[int] = []
        for index in range(8):
            rank, worker = divmod(index, 2)
            loader = Rows(
                [flat, label], 4, 2, shuffle_buffer=buffer, seed=1, rank=rank, world=4, worker=worker, workers=2, prefetch=epoch * 3
            )
            loader.set_epoch(epoch)
            for values, labels in loader:
                assert (values == labels[:, None] * 3 + np.arange(3)).all()
                rows.extend(labels.tolist())
        assert sorted(rows) == list(range(101))
    assert len(Rows([flat, label], 4, 2, drop_last=True)) == 12
    assert {len(batch) for batch in Rows(label, 4, 2, drop_last=True, shuffle_buffer=buffer)} == {8}


def loaders(folder: Path, **arguments: Any) -> Iterator[Any]:
    cube, half = array(folder, "cube"), array(folder, "half")
    flat = array(folder, "flat")
    mask = np.zeros((10, 12, 15), bool)
    mask[2:8, 3:9, 4:11] = True
    yield Boxes({"in": cube, "out": half}, (4, 6, 10), 3, stride=(2, 6, 4), **arguments)
    yield Boxes(cube, (3, 5, 7), 4, samples=30, where=mask, **arguments)
    yield Boxes(cube, (3, 5), 4, where=mask.any(axis=2), stride=1, **arguments)
    yield Rows(flat, 5, 2, **arguments)
    yield Rows({"x": flat, "y": array(folder, "label")}, 5, 2, shuffle_buffer=40, **arguments)


def parts(batch: Any) -> list[Any]:
    arrays = batch.values() if isinstance(batch, dict) else [batch]
    return [one.tolist() for one in arrays]


def test_a_resumed_loop_gives_what_one_without_a_pause_does(folder: Path) -> None:
    for whole, first, second in zip(loaders(folder, seed=9), loaders(folder, seed=9), loaders(folder, seed=9)):
        due = [[parts(batch) for batch in whole] for _ in range(2)]
        assert due[0] != due[1] and len(due[0]) == len(whole) >= 5
        for stop in range(len(due[0]) + 1):
            first.set_epoch(1)
            loop = iter(first)
            for number in range(stop):
                assert parts(next(loop)) == due[1][number]
            state = pickle.loads(pickle.dumps(first.state_dict()))
            second.load_state_dict(state)
            assert [parts(batch) for batch in second] == due[1][stop:]
            # And the epoch after it.
            if stop == 1:
                third = [parts(batch) for batch in second]
                whole.set_epoch(2)
                assert third == [parts(batch) for batch in whole]


def test_the_order_depends_on_the_seed_alone(folder: Path) -> None:
    orders = []
    for arguments in [{"prefetch": 0}, {"prefetch": 1}, {"prefetch": 7}, {"memory": 1}]:
        orders.append([[parts(batch) for batch in loader] for loader in loaders(folder, seed=4, **arguments)])
    assert all(order == orders[0] for order in orders)
    others = [[parts(batch) for batch in loader] for loader in loaders(folder, seed=5)]
    assert all(other != order for other, order in zip(others, orders[0]))
    # Asked for by number, as in a source of the map style.
    for loader, order in zip(loaders(folder, seed=4), orders[0]):
        assert [parts(loader[number]) for number in reversed(range(len(loader)))] == order[::-1]
        assert parts(loader[-1]) == order[-1]
        with pytest.raises(IndexError):
            loader[len(loader)]


def test_arrays_of_other_resolution_step_together(folder: Path) -> None:
    cube, half = array(folder, "cube"), array(folder, "half")
    whole, coarse = cube[...], half[...]
    loader = Boxes((cube, half), (4, 6, 2), 5, samples=40, seed=2)
    starts = [loader.starts(number) for number in range(len(loader))]
    for batch, of_batch in zip(loader, starts, strict=True):
        assert [one.shape for one in batch] == [(5, 4, 6, 2), (5, 2, 3, 1)]
        for start, fine, target in zip(of_batch, *batch):
            z, y, x = start
            assert (start % 2 == 0).all()
            assert (fine == whole[z : z + 4, y : y + 6, x : x + 2]).all()
            assert (target == coarse[z // 2 : z // 2 + 2, y // 2 : y // 2 + 3, x // 2 : x // 2 + 1]).all()
    # The other way round, and along the first dimension only.
    loader = Boxes({"coarse": half, "fine": cube}, (2,), 2, seed=2)
    for batch, start in zip(loader, [loader.starts(number) for number in range(len(loader))]):
        assert batch["fine"].shape[1:] == (4, 24, 30) and (batch["fine"][0] == whole[2 * start[0, 0] : 2 * start[0, 0] + 4]).all()
    with pytest.raises(ValueError, match="multiple of 2"):
        Boxes((cube, half), (3, 6, 2), 5)
    odd = zarr_rust.create_array("memory:", shape=(33,), dtype="i2")
    with pytest.raises(ValueError, match="array 1: found 33 elements along dimension 0, expected 20"):
        Boxes((cube, odd), 4, 5)


def test_boxes_lie_where_they_may(folder: Path) -> None:
    cube = array(folder, "cube")
    mask = np.zeros((10, 12, 15), bool)
    mask[2:8, 3:9, 4:11] = True

    def starts(**arguments: Any) -> np.ndarray[Any, Any]:
        loader = Boxes(cube, (4, 4, 6), 7, seed=3, **arguments)
        found = np.concatenate([loader.starts(number) for number in range(len(loader))])
        assert (found >= 0).all() and (found + [4, 4, 6] <= cube.shape).all()
        return found

    for arguments in [{"stride": 2}, {"samples": 200}]:
        found = starts(where=mask, **arguments)
        middles = (found + [2, 2, 3]) // 2
        assert len(found) > 20 and mask[tuple(middles.T)].all()
        found = starts(where=[(slice(0, 10), slice(None), slice(2, 20)), (slice(12, None), slice(3, 9), slice(0, 30))], **arguments)
        upper = (found[:, 0] + 4 <= 10) & (found[:, 2] >= 2) & (found[:, 2] + 6 <= 20)
        lower = (found[:, 0] >= 12) & (found[:, 1] >= 3) & (found[:, 1] + 4 <= 9)
        assert (upper | lower).all() and upper.any() and lower.any()
    # As often as weights say: three times as often in the upper half.
    weights = np.ones((2, 1, 1))
    weights[1] = 3
    found = starts(where=weights, samples=4000)
    assert 2.6 < ((found[:, 0] + 2) >= 10).sum() / ((found[:, 0] + 2) < 10).sum() < 3.4
    positions = np.array([[0, 0, 0], [16, 20, 24], [3, 5, 7]])
    assert sorted(starts(where=positions).tolist()) == sorted(positions.tolist())
    assert len(starts()) == 5 * 6 * 5
    assert starts(shuffle=False)[:3].tolist() == [[0, 0, 0], [0, 0, 6], [0, 0, 12]]
    assert len({tuple(start) for start in starts(samples=500).tolist()}) > 400


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": (4, 4, 31)}, "of which there are 30 elements"),
        ({"shape": (0, 4, 4)}, "found 0 along dimension 0"),
        ({"shape": (1, 1, 1, 1)}, "as many lengths as dimensions"),
        ({"shape": ()}, "as many lengths"),
        ({"batch": 0}, "batch=0"),
        ({"where": np.zeros((20, 24, 30), bool)}, "no box"),
        ({"where": np.zeros((20, 24, 30)), "samples": 4}, "no box"),
        ({"where": np.full((20, 24, 30), np.nan), "samples": 4}, "NaN"),
        ({"where": np.ones((20, 24, 30))}, "expected samples="),
        ({"where": np.ones((20, 24, 60), bool)}, "at most that of the first array"),
        ({"where": np.ones((20, 24), bool)}, "expected a mask"),
        ({"where": [(slice(0, 3), slice(None), slice(None))]}, "no box"),
        ({"where": [(slice(0, 9, 2), slice(None), slice(None))]}, "region 0"),
        ({"where": np.array([[0, 0, 0], [17, 0, 0]])}, r"a box at \(17, 0, 0\)"),
        ({"where": np.array([[-1, 0, 0]])}, r"a box at \(-1, 0, 0\)"),
        ({"where": np.zeros((0, 3), "i8")}, "no box"),
        ({"samples": 0}, "samples=0"),
        ({"samples": 3, "stride": 4}, "one of them"),
        ({"stride": (1, 2)}, "stride="),
        ({"rank": 2, "world": 2}, "rank=2"),
        ({"worker": 0, "workers": 0}, "workers=0"),
        ({"to": "tensorflow"}, "to='tensorflow'"),
        ({"prefetch": -1}, "prefetch=-1"),
        ({"out": []}, "no memory"),
        ({"out": [np.empty((2, 4, 4, 5), "f4")]}, r"out\[0\]"),
    ],
)
def test_impossible_arguments_are_refused(folder: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Boxes(array(folder, "cube"), **({"shape": (4, 4, 5), "batch": 2} | arguments))


def test_arrays_that_cannot_be_read_so_are_refused(folder: Path) -> None:
    root = zarr_rust.open_group(folder, mode="r+")
    texts = root.create_array("texts", shape=(4,), dtype="string")
    empty = root.create_array("empty", shape=(0, 4), dtype="i2", chunks=(1, 4))
    scalar = root.create_array("scalar", shape=(), dtype="i2")
    for bad, error in [(texts, TypeError), (empty, ValueError), (scalar, ValueError), ([], ValueError), ([np.zeros(3)], TypeError)]:
        with pytest.raises(error):
            Rows(bad)
    with pytest.raises(ValueError, match="array 'y': found 20 rows, expected 101"):
        Rows({"x": array(folder, "label"), "y": array(folder, "cube")})
    with pytest.raises(ValueError, match="block=0"):
        Rows(array(folder, "label"), block=0)


def test_memory_of_the_caller_is_used_by_turns(folder: Path) -> None:
    cube, half = array(folder, "cube"), array(folder, "half")
    for count in (1, 2, 5):
        out = [{"in": np.empty((4, 4, 4, 10), "i4"), "out": np.empty((4, 2, 2, 5), "i4")} for _ in range(count)]
        arguments: dict[str, Any] = {"shape": (4, 4, 10), "batch": 4, "seed": 3}
        due = [parts(batch) for batch in Boxes({"in": cube, "out": half}, **arguments)]
        found = []
        for number, batch in enumerate(Boxes({"in": cube, "out": half}, out=out, **arguments)):
            assert np.shares_memory(batch["in"], out[number % count]["in"])
            # It stays as it is until the next batch is asked for.
            time.sleep(0.002)
            found.append(parts(batch))
        assert found == due and len(due[-1][0]) == 90 % 4
        rows = [np.empty(10, "i2") for _ in range(count)]
        due = [batch.tolist() for batch in Rows(array(folder, "label"), 5, 2, shuffle_buffer=30)]
        assert [batch.tolist() for batch in Rows(array(folder, "label"), 5, 2, shuffle_buffer=30, out=rows)] == due
    same = np.empty((4, 4, 4, 10), "i4")
    with pytest.raises(ValueError, match="that of another array"):
        Boxes(cube, out=[same, same], **arguments)
    with pytest.raises(ValueError, match="the names 'in'"):
        Boxes({"in": cube}, out=[{"other": same}], **arguments)


def test_the_forms_of_batches(folder: Path) -> None:
    cube, label = array(folder, "cube"), array(folder, "label")
    capsule = next(iter(Rows(label, 5, 2, to="dlpack")))
    assert type(capsule).__name__ == "PyCapsule"
    assert next(iter(Rows(label, 5, 2, to=lambda array: array.sum(), shuffle=False))) == sum(range(10))
    (only,) = next(iter(Rows([label], 5, 2)))
    assert only.shape == (10,)
    assert next(iter(Boxes(cube, (None, 4, None), 2))).shape == (2, 20, 4, 30)
    # Variables of a data set are decoded.
    root = zarr_rust.create_group("memory:")
    data: Any = {"data": np.arange(40, dtype="i2").reshape(20, 2), "dimension_names": ["n", "x"]}
    root.create_array("t", **data, attributes={"scale_factor": 0.5, "add_offset": 100.0, "_FillValue": 3})
    batch = next(iter(Rows(zarr_rust.dataset(root)["t"], 5, 1, shuffle=False)))
    assert batch.dtype.kind == "f" and batch[0, 1] == 100.5 and np.isnan(batch[1, 1])
    with pytest.raises(TypeError, match="does not go to other processes"):
        pickle.dumps(Rows(zarr_rust.dataset(root)["t"]))


def test_an_error_names_the_box(folder: Path) -> None:
    (folder / "cube" / "c" / "1" / "0" / "1").write_bytes(b"broken")
    loader = Boxes(array(folder, "cube"), (4, 8, 10), 5, seed=1)
    before = loader.state_dict()
    given = 0
    with pytest.raises(zarr_rust.ZarrError) as raised:
        for _ in loader:
            given += 1
    batch = loader.state_dict()["batch"]
    assert batch == given and before["batch"] == 0 and loader.epoch == 0
    starts = loader.starts(batch)
    text = str(raised.value)
    assert text.startswith(f"epoch 0, batch {batch}, the array, box [") and raised.value.key == "cube/c/1/0/1"
    named = [tuple(int(axis.split(":")[0]) for axis in box.split(", ")) for box in text.split("box [")[1].split("]")[0].split("], [")]
    # A shard has the planes from the eighth to the fifteenth, the first sixteen rows and the last ten columns.
    assert named and all(list(box) in starts.tolist() and box[0] in (8, 12) and box[1] < 16 and box[2] == 20 for box in named)
    (folder / "cube" / "c" / "1" / "0" / "1").unlink()
    loader.load_state_dict(loader.state_dict())
    assert len([*loader]) == len(loader) - given


def test_states_of_other_loaders_are_refused(folder: Path) -> None:
    loader = Boxes(array(folder, "cube"), (4, 8, 10), 5, seed=1)
    state = loader.state_dict()
    for name, value in {"version": 2, "seed": 2, "batches": 7, "share": [0, 2], "batch": 99, "epoch": -1}.items():
        with pytest.raises(ValueError):
            loader.load_state_dict({**state, name: value})
    with pytest.raises(ValueError):
        loader.set_epoch(-1)


def test_what_is_read_ahead_is_bounded(tmp_path: Path) -> None:
    # 256 MiB, of which at most three batches of 8 MiB are in memory.
    made = zarr_rust.create_array(tmp_path / "x.zarr", shape=(256, 1 << 18), dtype="f4", chunks=(8, 1 << 18))
    for row in range(0, 256, 64):
        made[row : row + 64] = row
    with resource_limit():
        loader = Rows(zarr_rust.open_array(tmp_path / "x.zarr"), 8, 1, prefetch=100, memory="24MiB")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        loop = iter(loader)
        assert loop._depth == 3  # type: ignore[attr-defined]
        for _ in loop:
            time.sleep(0.002)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        # Batches that are read and the one in use, and the memory in which chunks are decoded, two for each of three threads.
        assert grown < (24 + 8 + 6 * 8 + 40) * 1024, grown


class resource_limit:
    """Has the peak of memory begin anew, where the system can."""

    def __enter__(self) -> None:
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            pass

    def __exit__(self, *_: object) -> None:
        pass


def test_a_loop_over_a_bucket_reads_ahead(folder: Path) -> None:
    with serving() as server:
        upload(folder, server)
        options = OPTIONS | {"endpoint": server.url}
        source = zarr_rust.open_array("s3://bucket/x.zarr", "cube", storage_options=options)
        loader = Boxes(source, (4, 8, 10), 3, seed=1, prefetch=4)
        due = [parts(batch) for batch in Boxes(array(folder, "cube"), (4, 8, 10), 3, seed=1)]
        loop = iter(loader)
        assert parts(next(loop)) == due[0]

        def asked() -> set[str]:
            return {path for _, path, _ in server.requests if "/c/" in path}

        # The batches behind it are read while nobody asks for them: all shards in which their boxes are.
        shards = {tuple(one) for number in range(1, 5) for one in (loader.starts(number) // [8, 16, 20]).tolist()}
        deadline = time.monotonic() + 60
        while not all(any(path.endswith("/c/" + "/".join(map(str, shard))) for path in asked()) for shard in shards):
            assert time.monotonic() < deadline, "nothing is read ahead"
            time.sleep(0.01)
        assert [parts(batch) for batch in loop] == due[1:]
        # A loop that is dropped ends.
        loop = iter(loader)
        next(loop)
        del loop
        server.refused.update(path for path in server.values if "/c/" in path)
        with pytest.raises(zarr_rust.ZarrError, match="epoch 1, batch"):
            list(loader)


@pytest.mark.usefixtures("interruptible")
def test_signals_end_the_wait(folder: Path) -> None:
    release = threading.Event()
    import zarr

    class Waiting(zarr.storage.LocalStore):
        async def get(self, key: str, *args: Any, **kwargs: Any) -> Any:
            import asyncio

            while "/c/" in key and not release.is_set():
                await asyncio.sleep(0.01)
            return await super().get(key, *args, **kwargs)

    source = zarr_rust.open_array(Waiting(folder), "cube")
    loop = iter(Boxes(source, (4, 8, 10), 3, seed=1))
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        next(loop)
    release.set()
    # And the loop may go on.
    assert next(loop).shape == (3, 4, 8, 10)
    timer.join()


def test_a_forked_child_begins_its_own_loop(folder: Path) -> None:
    loader = Boxes(array(folder, "cube", cache="1MiB"), (4, 8, 10), 3, seed=1)
    loop = iter(loader)
    due = [parts(batch) for batch in loader]
    loader.set_epoch(0)
    next(loop)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with pytest.raises(RuntimeError, match="another process"):
                next(loop)
            code = 0 if [parts(batch) for batch in loader] == due else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_the_environment_is_read_where_it_is_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    label = array(folder, "label")
    assert len(Rows(label, 1, 1)) == 101
    assert [batch.tolist() for batch in Rows(label, 1, 1, rank="env")] == [batch.tolist() for batch in Rows(label, 1, 1, rank=1, world=3)]
    monkeypatch.setenv("RANK", "x")
    with pytest.raises(ValueError, match="RANK is 'x'"):
        Rows(label, rank="env")
    with pytest.raises(ValueError, match="world"):
        Rows(label, rank="env", world=3)


def test_workers_are_those_that_torch_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of torch there are only the names that a loader uses, so that this runs without it.
    class IterableDataset:
        pass

    worker: list[Any] = [None]
    names = types.SimpleNamespace(IterableDataset=IterableDataset, get_worker_info=lambda: worker[0])
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(from_numpy=lambda array: ("tensor", array)))
    monkeypatch.setitem(sys.modules, "torch.utils.data", names)
    monkeypatch.delitem(sys.modules, "zarr_rust._loader_torch", raising=False)
    label = array(folder, "label")
    loader = Rows(label, 5, 2, rank=1, world=2, seed=3, to="torch")
    data = loader.to_torch()
    assert isinstance(data, IterableDataset)
    rows = []
    for number in range(3):
        worker[0] = types.SimpleNamespace(id=number, num_workers=3)
        data.set_epoch(0)
        loop = iter(data)
        rows += [row for _, batch in loop for row in batch.tolist()]
        assert data.state_dict()["share"] == [1 + 2 * number, 6]
    worker[0] = None
    assert sorted(rows) == sorted(row for _, batch in loader for row in batch.tolist()) and len(rows) == 50
    # Named workers are those.
    assert len(Rows(label, 5, 2, worker=1, workers=2).to_torch().loader) == 5
    # Which is not undone, as `monkeypatch` would.
    del sys.modules["zarr_rust._loader_torch"]


def test_loaders_of_torch(folder: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install torch --index-url https://download.pytorch.org/whl/cpu")
    from torch.utils.data import DataLoader

    cube = array(folder, "cube")
    loader = Boxes(cube, (4, 8, 10), 3, seed=1, to="torch")
    batch = next(iter(loader))
    assert isinstance(batch, torch.Tensor) and batch.dtype == torch.int32
    due = sorted(cube[::4, ::8, ::10].ravel().tolist())
    for context in ["fork", "spawn"]:
        # The iterable style: each worker reads its part.
        torch_loader = DataLoader(loader.to_torch(), batch_size=None, num_workers=2, multiprocessing_context=context)
        loader.set_epoch(0)
        assert sorted(int(box[0, 0, 0]) for batch in torch_loader for box in batch) == due
        # The map style: workers read whole batches, in order.
        loader.set_epoch(0)
        mapped = DataLoader(loader, batch_size=None, num_workers=2, multiprocessing_context=context)
        alone = [batch for batch in loader]
        loader.set_epoch(0)
        assert all((a == b).all() for a, b in zip(mapped, alone, strict=True))
