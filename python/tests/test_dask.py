"""Arrays of Dask, in this process and in others."""

from __future__ import annotations

import math
import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import dask
import dask.array
import numpy as np
import pytest
import zarr_rust
from dask.base import tokenize
from zarr_rust.dask import blocks_of, convert, merged
from zarr_rust.errors import ZarrWarning


def filled(url: Path, **layout: Any) -> tuple[zarr_rust.Array, np.ndarray[Any, Any]]:
    data = np.arange(60 * 40, dtype="i4").reshape(60, 40)
    array = zarr_rust.create_array(url, "a", shape=data.shape, dtype="i4", **layout)
    array[:] = data
    return array, data


def test_blocks_are_shards(tmp_path: Path) -> None:
    array, data = filled(tmp_path / "x.zarr", chunks=(5, 4), shards=(25, 20))
    blocks = array.to_dask()
    assert blocks.chunks == ((25, 25, 10), (20, 20)) and blocks.dtype == data.dtype
    assert (blocks.compute() == data).all()
    assert array.to_dask("auto").numblocks == (1, 1)
    # A size to fill: two shards.
    assert array.to_dask("4 kB").chunks == ((25, 25, 10), (40,))
    assert array.to_dask((30, -1)).chunks == ((30, 30), (40,))
    assert dask.array.from_array(array).chunks == ((60,), (40,))
    # Of chunks as many as dask's own limit holds.
    array, data = filled(tmp_path / "y.zarr", chunks=(5, 4))
    assert array.to_dask().numblocks == (1, 1)
    with dask.config.set({"array.chunk-size": "1 kB"}):
        blocks = array.to_dask()
        assert blocks.chunks == ((10,) * 6, (16, 16, 8)) and (blocks.compute() == data).all()


def test_blocks_are_whole_chunks_within_the_limit(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    for number in range(60):
        rank = int(random.integers(0, 4))
        shape = tuple(int(length) for length in random.integers(0, 40, rank))
        chunks = tuple(int(length) for length in random.integers(1, 9, rank))
        array = zarr_rust.create_array(tmp_path / "x.zarr", str(number), shape=shape, chunks=chunks, dtype="i8")
        limit = int(random.integers(1, 20_000))
        blocks = merged(array, limit)
        one = math.prod(min(part, length) for part, length in zip(chunks, shape)) * 8
        assert math.prod(int(block) for block in blocks if isinstance(block, int)) * 8 <= max(limit, one)
        for block, part, length in zip(blocks, chunks, shape):
            assert isinstance(block, int) and (block % part == 0 or block == length), (shape, chunks, limit, blocks)
        # Twice as many along any axis are too many.
        for axis, (block, length) in enumerate(zip(blocks, shape)):
            rest = math.prod(int(other) for index, other in enumerate(blocks) if index != axis and isinstance(other, int))
            assert isinstance(block, int)
            assert block >= length or rest * min(2 * block, length) * 8 > limit
        found = array.to_dask(f"{limit} B")
        assert found.shape == shape and (found.compute() == np.zeros(shape)).all()


def test_tasks_are_small_and_named_by_the_array(tmp_path: Path) -> None:
    array, data = filled(tmp_path / "x.zarr", chunks=(5, 4), shards=(10, 20))
    blocks = array.to_dask()
    graph = dict(blocks.__dask_graph__())
    assert len(graph) == 13
    for task in graph.values():
        assert len(pickle.dumps(task)) < 2000
    again = pickle.loads(pickle.dumps(array))
    with dask.config.set({"tokenize.ensure-deterministic": True}):
        assert tokenize(array) == tokenize(again) == tokenize(zarr_rust.open(tmp_path / "x.zarr", "a"))
        assert again.to_dask().name == blocks.name != again.to_dask((10, 10)).name
    assert array.to_dask(name=False).name != array.to_dask(name=False).name
    assert array.to_dask(name="mine").name == "mine"
    other, _ = filled(tmp_path / "y.zarr", chunks=(5, 4), shards=(10, 20))
    assert tokenize(other) != tokenize(array)
    array.resize(50, 40)
    assert tokenize(array) != tokenize(again)
    # Arrays in memory have no address.
    one, two = (zarr_rust.create_array("memory:", shape=3, dtype="i4") for _ in range(2))
    assert tokenize(one) == tokenize(one) != tokenize(two)
    # Groups of the same address are one.
    group = zarr_rust.open_group(tmp_path / "x.zarr")
    assert tokenize(group) == tokenize(pickle.loads(pickle.dumps(group)))


def test_indexing_before_the_read(tmp_path: Path) -> None:
    array, data = filled(tmp_path / "x.zarr", chunks=(5, 4))
    blocks = array.to_dask((20, 20))
    mask = np.arange(60) % 7 == 0
    for selection in (
        np.s_[3:50:4, ::-1], np.s_[7], np.s_[None, 5:9, None, 3], np.s_[[5, 1, 40], 2:4], np.s_[..., -1], np.s_[mask],
    ):  # fmt: skip
        assert (blocks[selection].compute() == data[selection]).all()
    assert (blocks[[3, 50]][:, [39, 0, 1]].compute() == data[[3, 50]][:, [39, 0, 1]]).all()
    assert (blocks.vindex[[1, 59], [2, 39]].compute() == data[[1, 59], [2, 39]]).all()
    # One chunk of it is all that is read.
    for chunk in (tmp_path / "x.zarr" / "a" / "c").glob("*/*"):
        if (chunk.parent.name, chunk.name) != ("2", "3"):
            chunk.write_bytes(b"broken")
    assert (blocks[10:15, 12:16].compute() == data[10:15, 12:16]).all()
    with pytest.raises(ValueError):
        blocks[10:16, 12:16].compute()


@pytest.mark.parametrize("dtype", ["bool", "f2", "c16", "M8[s]", "S5", "U4", "V6", [("a", "i4"), ("b", "f8")], "string", "bytes"])
def test_data_types(tmp_path: Path, dtype: Any) -> None:
    array = zarr_rust.create_array(tmp_path / "x.zarr", shape=(6, 4), chunks=(4, 4), shards=None, dtype=dtype)
    random = np.random.default_rng(1)
    if dtype == "string":
        data = random.choice(np.array(["a", "é", ""], dtype=object), (6, 4))
    elif dtype == "bytes":
        data = random.choice(np.array([b"a", b"", b"cde"], dtype=object), (6, 4))
    else:
        raw = random.integers(0, 2 if dtype == "bool" else 120, (6, 4 * np.dtype(dtype).itemsize), dtype="u1")
        data = raw.view(dtype) if not str(dtype).startswith("U") else raw[:, :4].astype(dtype)
    array[:] = data
    blocks = array.to_dask((3, 4))
    assert blocks.dtype == array.dtype
    assert blocks.compute().tolist() == data.tolist()
    copy = zarr_rust.from_dask(blocks, tmp_path / "y.zarr", dtype=dtype)
    assert copy.chunks == (3, 4) and copy[:].tolist() == data.tolist()


def test_storing(tmp_path: Path) -> None:
    data = np.arange(60 * 40.0).reshape(60, 40)
    blocks = dask.array.from_array(data, chunks=(25, 13))
    array = zarr_rust.from_dask(blocks, tmp_path / "x.zarr", "g/a", dimension_names=["y", "x"], attributes={"units": "m"})
    assert (array.chunks, array.shards, array.dims, array.name) == ((25, 13), None, ("y", "x"), "/g/a")
    assert dict(array.attrs) == {"units": "m"} and (array[:] == data).all()
    with pytest.raises(FileExistsError):
        zarr_rust.from_dask(blocks, tmp_path / "x.zarr", "g/a")
    array = zarr_rust.from_dask(blocks, tmp_path / "x.zarr", "g/a", overwrite=True, chunks=(5, 4), shards=(20, 20), rechunk=True)
    assert (array.chunks, array.shards) == ((5, 4), (20, 20)) and (array[:] == data).all()
    later = zarr_rust.from_dask(blocks * 2, tmp_path / "y.zarr", compute=False, storage_options={"durability": "none"})
    array = zarr_rust.open_array(tmp_path / "y.zarr")
    assert not array[:].any()
    assert later.compute().path == "" and (array[:] == data * 2).all()
    uneven = dask.array.from_array(data, chunks=((10, 30, 20), (40,)))
    with pytest.raises(ValueError, match="dimension 0"):
        zarr_rust.from_dask(uneven, tmp_path / "z.zarr")
    assert (zarr_rust.from_dask(uneven, tmp_path / "z.zarr", chunks=(7, 9), shards=(14, 36))[:] == data).all()
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        zarr_rust.from_dask(blocks[blocks > 5], tmp_path / "u.zarr")
    empty = zarr_rust.from_dask(dask.array.zeros((0, 3), chunks=(2, 3)), tmp_path / "e.zarr")
    assert empty.shape == (0, 3)
    scalar = zarr_rust.from_dask(dask.array.asarray(np.float64(3)), tmp_path / "s.zarr")
    assert scalar[()] == 3


def test_blocks_that_share_shards_lose_nothing_between_threads(tmp_path: Path) -> None:
    data = np.random.default_rng(0).integers(0, 2**31, (60, 40))
    array = zarr_rust.create_array(tmp_path / "x.zarr", shape=data.shape, dtype="i8", chunks=(5, 5), shards=(30, 20))
    blocks = dask.array.from_array(data, chunks=(7, 9))
    for _ in range(3):
        array[:] = 0
        dask.array.store(blocks, array, lock=False, scheduler="threads", num_workers=8)
        assert (array[:] == data).all()
    # A part of it, and the stored array as the result.
    stored = dask.array.store(
        blocks[:10, :9] * 2, array, regions=(slice(3, 13), slice(5, 14)), lock=False, return_stored=True, compute=True
    )
    assert (stored[0].compute() == data[:10, :9] * 2).all() if isinstance(stored, tuple) else (stored.compute() == data[:10, :9] * 2).all()
    assert (array[3:13, 5:14] == data[:10, :9] * 2).all()


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_conversions_by_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheduler: str) -> None:
    monkeypatch.chdir(tmp_path)
    _, data = filled(Path("x.zarr"), chunks=(60, 4), dialect="v2")
    zarr_rust.open_group("x.zarr", mode="r+").attrs["title"] = "numbers"
    arguments: dict[str, Any] = {"dialect": "v3", "chunks": (5, 40), "shards": (20, 40), "memory": "50 kB"}
    later = convert("x.zarr", "y.zarr", parts=3, compute=False, **arguments)
    assert not Path("y.zarr").exists()
    monkeypatch.chdir("/")
    done = later.compute(scheduler=scheduler, num_workers=2)
    monkeypatch.chdir(tmp_path)
    assert [(node.to, node.how) for node in done.nodes] == [("/", "group"), ("/a", "recoded")]
    array = zarr_rust.open_array("y.zarr", "a")
    assert (array.dialect, array.chunks, array.shards) == ("v3", (5, 40), (20, 40)) and (array[:] == data).all()
    assert dict(zarr_rust.open_group("y.zarr").attrs) == {"title": "numbers"}
    # Nodes that are open.
    with dask.config.set(scheduler="threads"):
        convert(zarr_rust.open_array("y.zarr", "a"), "sqlite:z.sqlite", to="b", parts=2, chunks=(7, 7), shards=False)
        convert(zarr_rust.open_group("y.zarr"), "g.zarr", parts=2)
    assert (zarr_rust.open_array("sqlite:z.sqlite", "b")[:] == data).all()
    assert (zarr_rust.open_array("g.zarr", "a")[:] == data).all()
    for name, value in {"overwrite": True, "progress": print, "part": (1, 2)}.items():
        with pytest.raises(TypeError, match=name):
            convert("x.zarr", "w.zarr", **{name: value})
    with pytest.raises(TypeError, match="memory"):
        convert("x.zarr", "memory:")


def rows(array: zarr_rust.Array, number: int) -> None:
    # Every fourth row of 2 elements less than a shard.
    for start in range(number * 7, array.shape[0], 28):
        stop = min(start + 7, array.shape[0])
        array[start:stop] = np.arange(start, stop)[:, None]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_pool_of_processes(tmp_path: Path) -> None:
    array = zarr_rust.create_array(tmp_path / "x.zarr", shape=(200, 12), dtype="i4", chunks=(5, 4), shards=(40, 12))
    # As an example: a process for each number, all of which write to all shards.
    with multiprocessing.get_context("fork").Pool(4) as pool:
        pool.starmap(rows, [(array, number) for number in range(4)])
    assert (array[:] == np.arange(200)[:, None]).all()


def test_a_store_in_memory_stays_in_its_process() -> None:
    array = zarr_rust.create_array("memory:", shape=(6, 4), chunks=(3, 4), dtype="i4", fill_value=2)
    assert array.to_dask((3, 4)).sum().compute(scheduler="threads") == 48
    with pytest.raises(TypeError, match="memory"):
        pickle.dumps(dict(array.to_dask().__dask_graph__()))
    assert blocks_of(array) == ((6,), (4,))


def test_parts_are_as_many_as_the_memory_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zarr_rust.create_array(tmp_path / "x.zarr", "a", shape=(100, 100), dtype="f4", chunks=(10, 100))
    monkeypatch.setattr(zarr_rust.dask, "_threads", lambda: 3)

    def tasks(source: Any, **arguments: Any) -> int:
        later = convert(source, tmp_path / "y.zarr", compute=False, chunks=(100, 10), **arguments)
        return sum(str(key).startswith("_convert_part") for key in dict(later.dask))

    array = str(tmp_path / "x.zarr" / "a")
    assert tasks(array) == 3
    assert tasks(array, memory="20 kB") == 4
    assert tasks(zarr_rust.open_array(array), memory="1 kB") == 12
    assert tasks(tmp_path / "x.zarr") == 12
    assert tasks(tmp_path / "x.zarr", path="a") == 3
    assert tasks(array, parts=7) == 7


@pytest.mark.filterwarnings("ignore::zarr_rust.errors.ZarrWarning")
def test_chunks_that_parts_left_out(tmp_path: Path) -> None:
    # More than a journal lists.
    count = 1100
    array = zarr_rust.create_array(tmp_path / "x.zarr", "a", shape=(count,), dtype="i4", chunks=1, dialect="v2", codecs="gzip")
    for number in range(count):
        (tmp_path / f"x.zarr/a/{number}").write_bytes(b"broken")
    arguments: dict[str, Any] = {"chunks": (count,), "keep_going": True}
    part = zarr_rust.convert(array, tmp_path / "y.zarr", part=(1, 1), **arguments)
    assert (len(part.skipped), part.skipped_more) == (count, 0)
    with pytest.warns(ZarrWarning, match="about [0-9]+ more"):
        done = zarr_rust.convert(array, tmp_path / "y.zarr", finish=True, **arguments)
    assert done.skipped_more > 0 and len(done.skipped) + done.skipped_more == count
    with dask.config.set(scheduler="threads"):
        done = convert(array, tmp_path / "z.zarr", parts=1, **arguments)
    assert ([chunk.chunk[0] for chunk in done.skipped], done.skipped_more) == (list(range(count)), 0)


def test_scratch_is_the_same_in_any_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _, data = filled(Path("x.zarr"), chunks=(60, 4))
    later = convert("x.zarr", "y.zarr", parts=2, compute=False, chunks=(1, 40), memory="8 kB", scratch="scratch.zarr")
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    later.compute(scheduler="threads")
    assert list(other.iterdir()) == [] and (tmp_path / "scratch.zarr").exists()
    assert (zarr_rust.open_array(tmp_path / "y.zarr", "a")[:] == data).all()


@pytest.mark.parametrize("is_in_memory", [True, False])
def test_names_of_groups_change_with_arrays_below(tmp_path: Path, is_in_memory: bool) -> None:
    group = zarr_rust.create_group("memory:" if is_in_memory else tmp_path / "x.zarr")
    array = group.create_array("a/b", shape=(4,), dtype="i4")
    before = tokenize(group)
    assert tokenize(group) == before
    array.resize((5,))
    assert tokenize(group) != before
