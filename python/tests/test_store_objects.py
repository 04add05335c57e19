"""Stores that are objects of Python: by their own address where this library knows it, else by their methods."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import sys
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dask.array
import numpy as np
import obstore.store
import pytest
import xarray
import zarr
import zarr_rust
from zarr.storage import FsspecStore, LocalStore, LoggingStore, MemoryStore, ObjectStore, StorePath, WrapperStore, ZipStore
from zarr_rust.xarray import ZarrRustBackend


class WithoutRanges(WrapperStore[MemoryStore]):
    """As that of tifffile: it has whole values alone, and lists names with what is below them."""

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        if byte_range is not None:
            raise NotImplementedError(f"byte_range={byte_range!r} not supported")
        return await self._store.get(key, prototype)


class Failing(WrapperStore[MemoryStore]):
    """A store that raises for one key."""

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        if key.endswith("c/1"):
            raise RuntimeError("the disk is on fire")
        return await self._store.get(key, prototype, byte_range)

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        async for name in self._store.list_dir(prefix):
            yield name


def fsspec_store(folder: Path) -> Any:
    return FsspecStore.from_url(f"memory://{folder.name}", read_only=False)


MADE: dict[str, Callable[[Path], Any]] = {
    "dict": lambda folder: {},
    "LocalStore": lambda folder: LocalStore(folder / "x.zarr"),
    "MemoryStore": lambda folder: MemoryStore(),
    "ZipStore": lambda folder: ZipStore(folder / "x.zip", mode="w"),
    "FsspecStore": fsspec_store,
    "ObjectStore of a directory": lambda folder: ObjectStore(obstore.store.LocalStore(folder.resolve(), mkdir=True)),
    "ObjectStore of memory": lambda folder: ObjectStore(obstore.store.MemoryStore()),
    "obstore": lambda folder: obstore.store.MemoryStore(),
    "LoggingStore": lambda folder: LoggingStore(MemoryStore(), log_level="CRITICAL"),
    "without ranges": lambda folder: WithoutRanges(MemoryStore()),
}

pytestmark = pytest.mark.filterwarnings("ignore:Consolidated metadata is currently", "ignore:Duplicate name", "ignore::DeprecationWarning")


@pytest.mark.parametrize("dialect", ["v2", "v3"])
@pytest.mark.parametrize("kind", MADE)
def test_stores_are_written_and_read(tmp_path: Path, kind: str, dialect: str) -> None:
    store = MADE[kind](tmp_path)
    theirs = ObjectStore(store) if kind == "obstore" else store
    root = zarr_rust.create_group(store, attributes={"title": "t"}, dialect=dialect)
    data = np.arange(120, dtype="i4").reshape(10, 12)
    shards: dict[str, Any] = {} if dialect == "v2" else {"shards": (6, 6)}
    array = root.create_array("a/b", data=data, chunks=(3, 2), codecs="zstd(1)", dimension_names=["y", "x"], **shards)
    assert np.array_equal(array[2:9:3, ::-1], data[2:9:3, ::-1])
    read = zarr_rust.open(store)
    assert isinstance(read, zarr_rust.Group) and read.read_only and dict(read.attrs) == {"title": "t"}
    assert [path for path, _ in read.members(None)] == ["a", "a/b"] and "a/b" in read and "a/c" not in read
    assert np.array_equal(zarr_rust.open_array(store, "a/b")[:], data)
    if kind == "ZipStore":
        # It replaces and erases nothing.
        store.close()
        assert np.array_equal(zarr.open_array(ZipStore(tmp_path / "x.zip", mode="r"), path="a/b")[:], data)
        return

    def by_zarr_python(path: str) -> Any:
        inner = theirs._store if kind == "without ranges" else theirs
        return zarr.open_array(inner, path=path, mode="r")[:]

    assert np.array_equal(by_zarr_python("a/b"), data)
    array[1:3, 4] = -1
    data[1:3, 4] = -1
    array.append(np.ones((2, 12), "i4"))
    array.resize((5, 12))
    array.resize((7, 12))
    data = np.concatenate([data[:5], np.zeros((2, 12), "i4")])
    array.attrs["units"] = "K"
    assert np.array_equal(by_zarr_python("a/b"), data)
    assert zarr_rust.open_array(store, "a/b").attrs["units"] == "K" and array.nchunks_stored() > 0
    root.move("a/b", "c")
    assert np.array_equal(zarr_rust.open_array(store, "c")[:], data) and "a/b" not in root
    del root["a"]
    assert list(root) == ["c"] and list(zarr.open_group(theirs, mode="r")) == ["c"]
    zarr_rust.consolidate_metadata(store)
    assert list(zarr_rust.open_consolidated(store)) == ["c"]
    with xarray.open_dataset(store, engine=ZarrRustBackend) as opened:
        assert opened.c.dims == ("y", "x") and np.array_equal(opened.c.values, data)
    assert zarr_rust.dataset(store).dims == {"y": 7, "x": 12}
    target = {} if "directory" in kind or kind == "FsspecStore" else MADE[kind](tmp_path / "other")
    zarr_rust.convert(store, target, dialect="v3", chunks={"y": 7})
    assert np.array_equal(zarr_rust.open_array(target, "c")[:], data)
    with pytest.raises(KeyError):
        zarr_rust.open(store, "none")
    with pytest.raises(FileExistsError):
        zarr_rust.create_group(store)


def test_known_stores_go_by_their_address(tmp_path: Path) -> None:
    zarr_rust.create_array(tmp_path / "x.zarr", "a", data=[1, 2, 3])
    with ZipStore(tmp_path / "x.zip", mode="w") as written:
        zarr.create_array(written, name="a", data=np.arange(3))
    local = f"{tmp_path}/x.zarr"
    for store, address in [
        (LocalStore(tmp_path / "x.zarr"), local),
        (ObjectStore(obstore.store.LocalStore((tmp_path / "x.zarr").resolve())), local),
        (StorePath(LocalStore(tmp_path / "x.zarr")), local),
        (zarr.open_group(tmp_path / "x.zarr", mode="r"), local),
        (zarr_rust.open_group(tmp_path / "x.zarr"), local),
        (ZipStore(tmp_path / "x.zip", mode="r"), f"zip:{tmp_path}/x.zip"),
    ]:
        array = zarr_rust.open_array(store, "a")
        assert array._core.address == address and array.shape == (3,)
        assert pickle.loads(pickle.dumps(array))[:].tolist() == array[:].tolist()
    assert zarr_rust.open(zarr.open_array(tmp_path / "x.zarr", path="a", mode="r"))[:].tolist() == [1, 2, 3]
    assert zarr_rust.open(StorePath(LocalStore(tmp_path), "x.zarr/a"))[:].tolist() == [1, 2, 3]
    s3 = obstore.store.S3Store("bucket", region="eu-west-1", skip_signature=True, prefix="x.zarr")
    where = zarr_rust._stores.where(ObjectStore(s3, read_only=True), "a", None, writes=False)
    assert where.store == "s3://bucket/x.zarr" and where.path == "a" and ("skip_signature", "true") in where.options


def test_stores_of_python_are_asked(tmp_path: Path) -> None:
    store = MemoryStore()
    array = zarr_rust.create_array(store, data=np.arange(6), chunks=2)
    assert array._core.address is None and array._core.asked.store is store and array.store == str(store)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(array)
    # What others write is seen.
    zarr.open_array(store, mode="r+")[0] = 9
    assert array[0] == 9
    assert zarr_rust.open_array(store) != array and zarr_rust.open_array(array)[0] == 9
    logging = LoggingStore(LocalStore(tmp_path / "x.zarr"), log_level="CRITICAL")
    zarr_rust.create_array(logging, data=np.arange(3))
    assert pickle.loads(pickle.dumps(zarr_rust.open_array(logging)))[:].tolist() == [0, 1, 2]


def test_what_a_store_raises_is_told() -> None:
    store = MemoryStore()
    zarr_rust.create_array(store, data=np.arange(6) + 1, chunks=2)
    array = zarr_rust.open_array(Failing(store))
    assert array[:2].tolist() == [1, 2]
    with pytest.raises(zarr_rust.ZarrError, match="RuntimeError: the disk is on fire") as caught:
        array[2:4]
    assert isinstance(caught.value, OSError) and caught.value.key == "c/1"


@pytest.mark.parametrize("refusal", [NotImplementedError, ValueError])
def test_a_store_without_ranges_is_asked_for_a_shard_once(refusal: type[Exception]) -> None:
    class Counting(WrapperStore[MemoryStore]):
        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            asked["whole" if byte_range is None else "range"] += 1
            if byte_range is not None:
                raise refusal(f"byte_range={byte_range!r} not supported")
            return await self._store.get(key, prototype)

    asked: Counter[str] = Counter()
    inner = MemoryStore()
    data = np.arange(400, dtype="i4").reshape(20, 20)
    zarr_rust.create_array(inner, data=data, shards=(10, 10), chunks=(2, 5), codecs="zstd(1)")
    array = zarr_rust.open_array(Counting(inner))
    for selection, shards in [((3, 3), 1), ((slice(2, 9), slice(1, 7)), 1), ((slice(8, 12), slice(8, 12)), 4), (3, 2)]:
        asked.clear()
        assert (array[selection] == data[selection]).all()
        # A store that refuses all ranges is known by now; of one range a refusal may be of it alone.
        assert asked == ({"whole": shards} if refusal is NotImplementedError else {"whole": shards, "range": shards})
    # What others write between two reads is seen.
    zarr_rust.open_array(inner, mode="r+")[3, 3] = -1
    assert array[3, 3] == -1
    zarr_rust.open_array(Counting(inner), mode="r+")[3, 4] = -2
    assert array[3].tolist() == [*data[3, :3], -1, -2, *data[3, 5:]]


def test_stores_that_take_no_writes(tmp_path: Path) -> None:
    zarr_rust.create_array(tmp_path / "x.zarr", "a", data=[1])
    for store in (LocalStore(tmp_path / "x.zarr", read_only=True), MemoryStore(read_only=True)):
        for call in (lambda: zarr_rust.create_group(store, "g"), lambda: zarr_rust.open(store, mode="r+"), lambda: zarr_rust.save(store, [1])):
            with pytest.raises(PermissionError, match="takes no writes"):
                call()
    assert list(zarr_rust.open_group(LocalStore(tmp_path / "x.zarr", read_only=True))) == ["a"]


def test_what_is_no_store_is_told(tmp_path: Path) -> None:
    for wrong in (3, object(), None, [tmp_path], b"x.zarr"):
        for call in (zarr_rust.open, zarr_rust.create_group, zarr_rust.dataset):
            with pytest.raises(TypeError, match=r"found a store of type .*zarr_rust.enable\(\)"):
                call(wrong)
    with pytest.raises(TypeError, match="storage_options are of an address"):
        zarr_rust.open(MemoryStore(), storage_options={"region": "x"})
    with pytest.raises(TypeError, match="has no address"):
        zarr_rust.open(zarr_rust.create_group("memory:"))


def test_changes_below_consolidated_metadata_of_objects_are_told() -> None:
    store: dict[str, Any] = {}
    group = zarr_rust.create_group(store)
    group["a"] = [1]
    zarr_rust.consolidate_metadata(group)
    with pytest.warns(zarr_rust.errors.ZarrWarning, match="was dropped"):
        group["a"].attrs["x"] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        group["a"].attrs["x"] = 2


def doubled(array: zarr_rust.Array) -> int:
    return int(array[:].sum() * 2)


def test_asked_stores_go_to_tasks_and_processes(tmp_path: Path) -> None:
    store = LoggingStore(LocalStore(tmp_path / "x.zarr"), log_level="CRITICAL")
    blocks = dask.array.arange(20, chunks=6)
    array = zarr_rust.from_dask(blocks, store, "a")
    assert array._core.address is None and array.to_dask(5).sum().compute(scheduler="threads") == 190
    lazy = zarr_rust.create_dataset(store, "d", variables={"t": ("x", np.arange(6.0), {}, {"chunks": (2,)})})
    assert lazy.t[:].sum() == 15
    with xarray.open_dataset(store, engine=ZarrRustBackend, group="d", chunks={}) as opened:
        assert float(opened.t.sum().compute(scheduler="threads")) == 15
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with context.Pool(1) as pool:
        assert pool.apply_async(doubled, (array,)).get(60) == 380
    opened_in_task = asyncio.run(zarr_rust.open_async(store, "a"))
    assert opened_in_task.shape == (20,)
    done = zarr_rust.dask.convert(store, tmp_path / "y.zarr", path="a", to="a", chunks=10, parts=2)
    assert done.nbytes == 160 and zarr_rust.open_array(tmp_path / "y.zarr", "a")[:].sum() == 190


def test_many_threads_ask_one_store() -> None:
    store = MemoryStore()
    array = zarr_rust.create_array(store, data=np.arange(400), chunks=7)
    with ThreadPoolExecutor(8) as threads:
        sums = list(threads.map(lambda number: int(array[number * 10 : number * 10 + 10].sum()), range(40)))
    assert sum(sums) == 400 * 399 // 2
