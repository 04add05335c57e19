"""The pipeline of zarr-python: stores that fail, codecs that only Python knows, other threads and processes."""

from __future__ import annotations

import asyncio
import contextvars
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
import tracemalloc
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
import zarr_rust
from zarr.abc.codec import BytesBytesCodec
from zarr.storage import LocalStore, MemoryStore, WrapperStore
from zarr_rust import _pipeline_threads, pipeline


def filled(store: Any, **options: Any) -> tuple[zarr.Array[Any], np.ndarray[Any, Any]]:
    data = np.arange(600, dtype="i4").reshape(20, 30)
    with zarr_rust.enable():
        array = zarr.create_array(store, shape=data.shape, chunks=options.pop("chunks", (6, 7)), dtype="i4", **options)
    array[...] = data
    return array, data


def chunk_keys(store: Any) -> set[str]:
    async def found() -> set[str]:
        return {key async for key in store.list() if "zarr.json" not in key}

    return zarr.core.sync.sync(found())


class Flaky(WrapperStore):  # type: ignore[type-arg]
    """Raises what it is told to."""

    gets: Exception | None = None
    sets: Exception | None = None
    asked = 0

    async def get(self, key: str, *arguments: Any, **named: Any) -> Any:
        type(self).asked += 1
        if self.gets is not None:
            raise self.gets
        return await super().get(key, *arguments, **named)

    async def set(self, key: str, value: Any) -> None:
        if self.sets is not None:
            raise self.sets
        await super().set(key, value)


class LookupProblem(Exception):
    """An exception of a program."""


def test_enable_and_disable() -> None:
    default = zarr.config.get("codec_pipeline.path")
    with zarr_rust.enable():
        assert zarr.config.get("codec_pipeline.path") == "zarr_rust.pipeline.RustCodecPipeline"
    assert zarr.config.get("codec_pipeline.path") == default
    zarr_rust.enable()
    zarr_rust.disable()
    assert zarr.config.get("codec_pipeline.path") == default


@pytest.mark.parametrize("store", ["memory", "local", "python"])
@pytest.mark.parametrize("shards", [None, (12, 14)])
def test_stores_raise_their_own_exceptions(tmp_path: Path, store: str, shards: Any) -> None:
    below = LocalStore(tmp_path) if store == "local" else MemoryStore()
    flaky = Flaky(below)
    array, data = filled(flaky, shards=shards)
    assert np.array_equal(array[...], data)
    flaky.gets = LookupProblem("no network")
    with pytest.raises(LookupProblem, match="no network"):
        array[...]
    with pytest.raises(LookupProblem):
        array[3:5, 2] = 1
    flaky.gets, flaky.sets = None, LookupProblem("disk is full")
    with pytest.raises(LookupProblem, match="disk is full"):
        array[...] = 2
    flaky.sets = None
    array[...] = data
    assert np.array_equal(array[...], data)


def test_errors_name_the_chunk(tmp_path: Path) -> None:
    array, _ = filled(LocalStore(tmp_path), name="a/b", compressors=zarr.codecs.ZstdCodec())
    (tmp_path / "a/b/c/2/3").write_bytes(b"no frame")
    with pytest.raises(zarr_rust.errors.DataError) as raised:
        array[...]
    assert raised.value.key == "a/b/c/2/3" and raised.value.chunk is None


def test_read_only_stores_refuse(tmp_path: Path) -> None:
    for store in (MemoryStore(), LocalStore(tmp_path)):
        array, data = filled(store)
        with zarr_rust.enable():
            array = zarr.open_array(store.with_read_only(True), mode="r")
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        assert np.array_equal(array[...], data)


def test_missing_chunks_are_not_looked_for_twice() -> None:
    array, _ = filled(Flaky(MemoryStore()))
    with zarr_rust.enable():
        empty = zarr.create_array(Flaky(MemoryStore()), shape=(100,), chunks=(10,), dtype="i4")
    Flaky.asked = 0
    assert not empty[...].any()
    assert Flaky.asked == 10
    # Whole chunks are written without a look at the old ones, also at the edge.
    array[...] = 7
    assert Flaky.asked == 10


def test_parts_of_shards_are_read_in_part() -> None:
    sizes: list[int] = []

    class Sizes(WrapperStore):  # type: ignore[type-arg]
        async def get(self, key: str, *arguments: Any, **named: Any) -> Any:
            value = await super().get(key, *arguments, **named)
            if value is not None and "zarr.json" not in key:
                sizes.append(len(value))
            return value

    data = np.arange(64 * 64, dtype="i4").reshape(64, 64)
    with zarr_rust.enable():
        array = zarr.create_array(Sizes(MemoryStore()), data=data, chunks=(4, 4), shards=(64, 64), compressors=None)
    assert array[9, 9] == data[9, 9]
    assert sum(sizes) <= 16 * 16 * 16 + 4 + 64
    sizes.clear()
    array[9, 8:10] = 5
    assert sum(sizes) <= len(data.tobytes()) + 2 * (16 * 16 * 16 + 4)
    data[9, 8:10] = 5
    assert np.array_equal(array[...], data)


def test_chunks_of_fill_values_are_erased(tmp_path: Path) -> None:
    for store in (MemoryStore(), LocalStore(tmp_path), Flaky(MemoryStore())):
        array, data = filled(store)
        assert len(chunk_keys(store)) == 20
        array[:6, :7] = 0
        assert len(chunk_keys(store)) == 19
        # In two parts, and at the edge, where chunks are cut off.
        array[6:8, :7] = 0
        assert len(chunk_keys(store)) == 19
        array[8:12, :7] = 0
        assert len(chunk_keys(store)) == 18
        array[18:, 28:] = 0
        assert len(chunk_keys(store)) == 17
        data[:12, :7] = 0
        data[18:, 28:] = 0
        assert np.array_equal(array[...], data)


@pytest.mark.parametrize("order", ["C", "F"])
def test_large_shards(order: Any) -> None:
    # So large that their inner chunks are encoded one after the other into a value that is being set. The first element is the fill value.
    data = np.arange(128**3, dtype="u2").reshape((128, 128, 128), order=order)
    store = MemoryStore()
    with zarr_rust.enable():
        array = zarr.create_array(store, shape=data.shape, chunks=(1, 128, 128), shards=data.shape, dtype="u2", compressors=None)
    array[...] = data
    assert np.array_equal(zarr.open_array(store)[...], data)
    array[3:9, 4] = 0
    data[3:9, 4] = 0
    assert np.array_equal(zarr.open_array(store)[...], data)


def test_arrays_grow_and_shrink() -> None:
    array, data = filled(MemoryStore())
    array.resize((25, 10))
    assert np.array_equal(array[:20], data[:, :10]) and not array[20:].any()
    array.append(np.ones((3, 10), "i4"))
    assert array.shape == (28, 10) and array[25:].all()
    array[26:, 3] = 9
    assert array[27, 3] == 9


class Inverted(BytesBytesCodec):
    """A codec of a program."""

    is_fixed_size = True

    @classmethod
    def from_dict(cls, data: Any) -> Inverted:
        return cls()

    def to_dict(self) -> Any:
        return {"name": "test.inverted"}

    def compute_encoded_size(self, size: int, _: Any) -> int:
        return size

    async def _decode_single(self, value: Any, spec: Any) -> Any:
        return spec.prototype.buffer.from_array_like(255 - value.as_numpy_array())

    _encode_single = _decode_single


class Shifted(numcodecs.abc.Codec):  # type: ignore[misc]
    """The same for version 2."""

    codec_id = "test.shifted"

    def encode(self, buffer: Any) -> bytes:
        return (np.frombuffer(numcodecs.compat.ensure_contiguous_ndarray(buffer), "u1") + 1).astype("u1").tobytes()

    def decode(self, buffer: Any, out: Any = None) -> Any:
        return (np.frombuffer(numcodecs.compat.ensure_contiguous_ndarray(buffer), "u1") - 1).astype("u1").tobytes()


@pytest.mark.parametrize("version", [2, 3])
def test_codecs_of_a_program_are_called_and_counted(version: Any) -> None:
    zarr.registry.register_codec("test.inverted", Inverted)
    numcodecs.register_codec(Shifted)
    before = pipeline.counts()
    store = MemoryStore()
    array, data = filled(store, zarr_format=version, compressors=Inverted() if version == 3 else Shifted())
    array[3:9, ::2] = -1
    data[3:9, ::2] = -1
    assert np.array_equal(array[...], data)
    assert np.array_equal(zarr.open_array(store, zarr_format=version)[...], data)
    after = pipeline.counts()
    assert after["python-codec"] > before["python-codec"]
    assert (after["reads"], after["writes"]) == (before["reads"], before["writes"])
    # Within a shard as well.
    if version == 3:
        array, data = filled(MemoryStore(), compressors=Inverted(), shards=(12, 14))
        array[5:15, 3] = 4
        data[5:15, 3] = 4
        assert np.array_equal(array[...], data)


def test_pickles(tmp_path: Path) -> None:
    array, data = filled(LocalStore(tmp_path), compressors=zarr.codecs.ZstdCodec(level=1))
    again = pickle.loads(pickle.dumps(array))
    assert isinstance(again.async_array.codec_pipeline, pipeline.RustCodecPipeline)
    assert np.array_equal(again[...], data)
    made = array.async_array.codec_pipeline
    assert pickle.loads(pickle.dumps(made)) == made


def test_chunks_in_memory_are_encoded_and_decoded() -> None:
    array, data = filled(MemoryStore(), compressors=zarr.codecs.GzipCodec())
    made = array.async_array.codec_pipeline
    from zarr.core.array_spec import ArrayConfig, ArraySpec
    from zarr.core.buffer import default_buffer_prototype

    prototype = default_buffer_prototype()
    chunk = ArraySpec((6, 7), array.metadata.data_type, 0, ArrayConfig.from_dict({}), prototype)
    elements = prototype.nd_buffer.from_numpy_array(data[:6, :7])

    async def there_and_back() -> Any:
        encoded = await made.encode([(elements, chunk), (None, chunk)])
        return list(await made.decode(list(zip(encoded, [chunk, chunk]))))

    decoded = asyncio.run(there_and_back())
    assert decoded[1] is None
    assert np.array_equal(decoded[0].as_numpy_array(), data[:6, :7])


@pytest.mark.parametrize("store", ["memory", "local", "python"])
def test_many_threads(tmp_path: Path, store: str) -> None:
    made = {"memory": MemoryStore(), "local": LocalStore(tmp_path), "python": Flaky(MemoryStore())}[store]
    array, data = filled(made)
    wrong: list[Any] = []

    def work(number: int) -> None:
        for _ in range(20):
            array[6 * (number % 3) : 6 * (number % 3) + 6] = data[6 * (number % 3) : 6 * (number % 3) + 6]
            if not np.array_equal(array[:, number::3], data[:, number::3]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong and not any(thread.is_alive() for thread in threads)


def test_writers_of_one_chunk_lose_nothing(tmp_path: Path) -> None:
    with zarr_rust.enable():
        arrays = [zarr.create_array(LocalStore(tmp_path), shape=(64,), chunks=(64,), dtype="i4")]
        arrays += [zarr.open_array(LocalStore(tmp_path), mode="r+") for _ in range(3)]

    def work(number: int) -> None:
        for at in range(number, 64, 4):
            arrays[number][at] = at + 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert arrays[0][...].tolist() == list(range(1, 65))


@pytest.mark.parametrize("shards", [None, (16,)])
def test_writers_of_fill_values_take_nothing_from_others(tmp_path: Path, shards: Any) -> None:
    options: dict[str, Any] = {"shape": (16,), "chunks": (4,) if shards else (16,), "shards": shards, "dtype": "i4"}
    with zarr_rust.enable():
        arrays = [zarr.create_array(LocalStore(tmp_path), **options)]
        arrays += [zarr.open_array(LocalStore(tmp_path), mode="r+") for _ in range(3)]
    lost: list[Any] = []

    def work(number: int) -> None:
        for round_ in range(40):
            arrays[number][number::4] = round_ % 3
            # The chunk is erased again and again, but never with an element of another writer.
            if arrays[number][number::4].tolist() != [round_ % 3] * 4:
                lost.append((number, round_))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not lost
    arrays[0][...] = 0
    assert not chunk_keys(LocalStore(tmp_path))


def test_a_fill_value_decodes_little_of_a_full_shard() -> None:
    sizes: list[int] = []

    class Sizes(WrapperStore):  # type: ignore[type-arg]
        async def get(self, key: str, *arguments: Any, **named: Any) -> Any:
            value = await super().get(key, *arguments, **named)
            if value is not None and "zarr.json" not in key:
                sizes.append(len(value))
            return value

    store = MemoryStore()
    data = np.arange(1, 64 * 64 + 1, dtype="i4").reshape(64, 64)
    with zarr_rust.enable():
        array = zarr.create_array(Sizes(store), data=data, chunks=(4, 4), shards=(64, 64), compressors=None)
    # To write a part of the shard takes the whole of it, and to look at it afterwards one inner chunk.
    shard, index = data.nbytes, 16 * 16 * 16 + 4
    array[9, 9] = 3
    written = sum(sizes)
    sizes.clear()
    array[9, 9] = 0
    assert sum(sizes) <= written + index + 64 <= shard + 3 * index + 64
    # Inner chunks that are stored, and have nothing but fill values.
    array[:32] = 0
    array[32:, :63] = 0
    array[32:62, 63] = 0
    assert len(chunk_keys(store)) == 1
    array[62:, 63] = 0
    assert not chunk_keys(store)


def test_empty_inner_chunks_are_stored_as_zarr_python_stores_them() -> None:
    sizes = []
    for settings in (zarr.config.set({}), zarr_rust.enable()):
        with settings:
            store = MemoryStore()
            options: dict[str, Any] = {"chunks": (4,), "shards": (16,), "dtype": "i4", "compressors": None}
            array = zarr.create_array(store, shape=(32,), config={"write_empty_chunks": True}, **options)
            array[:16] = np.r_[np.ones(4), np.zeros(12)]
            array[16:22] = 0
            sizes.append({key: len(store._store_dict[key]) for key in chunk_keys(store)})
    assert sizes[0] == sizes[1]


def test_links_out_of_the_directory_are_followed(tmp_path: Path) -> None:
    filled(LocalStore(tmp_path / "there"))
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a").symlink_to(tmp_path / "there")
    with zarr_rust.enable():
        array = zarr.open_array(LocalStore(tmp_path / "root"), path="a", mode="r+")
    data = np.arange(600, dtype="i4").reshape(20, 30)
    assert np.array_equal(array[...], data)
    array[3:9, 4:11] = -1
    data[3:9, 4:11] = -1
    assert np.array_equal(array[...], data)
    assert np.array_equal(zarr.open_array(tmp_path / "there")[...], data)


def test_a_removed_directory_is_empty_and_made_anew(tmp_path: Path) -> None:
    array, data = filled(LocalStore(tmp_path / "root"))
    shutil.rmtree(tmp_path / "root")
    assert not array[...].any()
    assert not (tmp_path / "root").exists()
    array[:6] = data[:6]
    assert np.array_equal(array[:12], np.concatenate([data[:6], np.zeros((6, 30))]))


@pytest.mark.parametrize("dtype", [">i4", "f8", "string"])
def test_one_element_is_written_without_as_many_in_memory(dtype: str) -> None:
    store = MemoryStore()
    with zarr_rust.enable():
        array = zarr.create_array(store, shape=(1000, 1000), chunks=(1000, 1000), dtype=dtype)
    value: Any = "é" if dtype == "string" else 3
    tracemalloc.start()
    try:
        array[...] = value
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (np.asarray(array[...]) == value).all()
    # Of elements of variable length, a reference to each.
    assert peak < (20_000_000 if dtype == "string" else 1_000_000)


def test_bounds_of_requests_may_be_absent() -> None:
    with zarr.config.set({"async.concurrency": None}):
        array, data = filled(Flaky(MemoryStore()))
        assert np.array_equal(array[...], data)


def test_stores_see_the_variables_of_the_caller() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="lost")
    seen: set[str] = set()

    class Seeing(WrapperStore):  # type: ignore[type-arg]
        async def get(self, key: str, *arguments: Any, **named: Any) -> Any:
            seen.add(variable.get())
            return await super().get(key, *arguments, **named)

        async def set(self, key: str, value: Any) -> None:
            seen.add(variable.get())
            await super().set(key, value)

    array, data = filled(Seeing(MemoryStore()))
    seen.clear()

    async def work() -> None:
        variable.set("caller's")
        assert np.array_equal(await array.async_array.getitem(...), data)
        await array.async_array.setitem((slice(1, 3), 4), 5)

    asyncio.run(work())
    assert seen == {"caller's"}


@pytest.mark.skipif(zarr.config.get("array.rectilinear_chunks", None) is None, reason="zarr-python has no such grids")
@pytest.mark.parametrize("store", ["memory", "python"])
def test_chunks_of_many_lengths_are_boxes(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    below: Any = MemoryStore() if store == "memory" else Flaky(MemoryStore())
    with zarr.config.set({"array.rectilinear_chunks": True}), zarr_rust.enable():
        array = zarr.create_array(below, shape=(20, 30), chunks=[[2, 7, 2, 9], [5, 10, 5, 10]], dtype="i4")
    monkeypatch.setattr(pipeline, "indices_of", None)
    data = np.arange(600, dtype="i4").reshape(20, 30)
    array[...] = data
    array[3:12, 4:29] = 7
    data[3:12, 4:29] = 7
    assert np.array_equal(array[...], data)
    array[5, 2:20] = np.arange(18)
    data[5, 2:20] = np.arange(18)
    assert np.array_equal(array[1:19, ::3], data[1:19, ::3])
    assert np.array_equal(array[5, 1:29], data[5, 1:29])


def test_programs_name_the_pipeline_without_importing_it(tmp_path: Path) -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    # As an installed package says it.
    (tmp_path / "zarr_rust-0.dist-info").mkdir()
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items()) for group, points in groups]
    (tmp_path / "zarr_rust-0.dist-info/entry_points.txt").write_text("\n".join(lines))
    (tmp_path / "zarr_rust-0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: zarr-rust\nVersion: 0\n")
    program = "import zarr; array = zarr.create_array({}, data=[1, 2]); print(type(array.async_array.codec_pipeline).__name__, array[...].sum())"
    program = program.replace("[1, 2]", "__import__('numpy').array([1, 2])")
    paths = [str(tmp_path), str(Path(zarr_rust.__file__).parents[1])]
    environment = os.environ | {
        "ZARR_CODEC_PIPELINE__PATH": "zarr_rust.pipeline.RustCodecPipeline",
        "PYTHONPATH": os.pathsep.join(paths),
    }
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.stdout == "RustCodecPipeline 3\n", done.stderr


_INTERRUPTED = """
import asyncio, os, signal, threading, time
import zarr, zarr_rust
from zarr.storage import MemoryStore, WrapperStore

class Slow(WrapperStore):
    async def get(self, key, *arguments, **named):
        if "zarr.json" not in key:
            await asyncio.sleep(0.2)
        return await super().get(key, *arguments, **named)

with zarr_rust.enable():
    array = zarr.create_array(Slow(MemoryStore()), shape=(5000,), chunks=(1,), dtype="i4")
# A shell's programs in the background ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    array[...]
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals")
def test_programs_end_while_elements_are_read() -> None:
    # All requests would take 100 seconds.
    environment = os.environ | {"PYTHONPATH": str(Path(zarr_rust.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", _INTERRUPTED], capture_output=True, text=True, timeout=40, env=environment)
    assert done.stdout == "interrupted\n", done.stderr


def test_cancelled_reads_end(tmp_path: Path) -> None:
    asked: list[str] = []

    class Slow(WrapperStore):  # type: ignore[type-arg]
        async def get(self, key: str, *arguments: Any, **named: Any) -> Any:
            if "zarr.json" not in key:
                asked.append(key)
                await asyncio.sleep(0.05)
            return await super().get(key, *arguments, **named)

    store = MemoryStore()
    _, data = filled(store)

    async def main() -> Any:
        with zarr_rust.enable():
            array = await zarr.api.asynchronous.open_array(store=Slow(store))
        with zarr.config.set({"async.concurrency": 2}), pytest.raises(TimeoutError):
            await asyncio.wait_for(array.getitem(...), 0.02)
        before = len(asked)
        await asyncio.sleep(0.2)
        # Two of twenty chunks at a time.
        assert 0 < before == len(asked) < 10
        # Who cancels twice waits as well.
        with zarr.config.set({"async.concurrency": 2}):
            task = asyncio.ensure_future(array.getitem(...))
            for _ in range(2):
                await asyncio.sleep(0.01)
                task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert not _pipeline_threads.live
        return await array.getitem((slice(None), 3))

    assert np.array_equal(asyncio.run(main()), data[:, 3])


def _in_a_child(array: Any, send: Any) -> None:
    send.send(int(array[...].sum()))


class Nested(WrapperStore):  # type: ignore[type-arg]
    """A store whose values come from an array."""

    inner: Any = None

    async def get(self, key: str, *arguments: Any, **named: Any) -> Any:
        if "zarr.json" not in key:
            assert (await self.inner.async_array.getitem(...)).sum() >= 0
        return await super().get(key, *arguments, **named)


@pytest.mark.filterwarnings("ignore")
def test_stores_that_read_arrays_in_a_forked_child(tmp_path: Path) -> None:
    inner, _ = filled(LocalStore(tmp_path))
    array, data = filled(Nested(MemoryStore()))
    Nested.inner = inner
    assert np.array_equal(array[...], data)
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(False)
    process = context.Process(target=_in_a_child, args=(array, send))
    process.start()
    try:
        assert receive.poll(60)
        assert receive.recv() == data.sum()
    finally:
        process.kill()
        process.join(60)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(tmp_path: Path, method: Any) -> None:
    array, data = filled(LocalStore(tmp_path))
    assert np.array_equal(array[...], data)
    context = multiprocessing.get_context(method)
    receive, send = context.Pipe(False)
    process = context.Process(target=_in_a_child, args=(array, send))
    process.start()
    assert receive.poll(60)
    assert receive.recv() == data.sum()
    process.join(60)
    assert process.exitcode == 0


def counts_of(times: Any) -> list[int]:
    native = np.empty(times.shape, times.dtype.kind + "8")
    native[...] = times
    return native.view("i8").tolist()


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("spelled", ["<M8", ">M8", "<m8", ">m8", "<M8[2generic]", ">m8[3generic]"])
@pytest.mark.filterwarnings("ignore:The data type:UserWarning", "ignore:The 'generic' unit:DeprecationWarning")
def test_times_without_a_unit(spelled: str, zarr_format: Any) -> None:
    counts = [0, 1, -2, 100, -(2**63)]
    data = np.array(counts, spelled[0] + "i8").view(spelled)

    def read() -> Any:
        store: dict[str, Any] = {}
        array = zarr.create_array(store, data=data, chunks=3, zarr_format=zarr_format, compressors=None)
        array[1:4] = data[:3]
        array.oindex[[4, 0]] = data[[1, 1]]
        return zarr.open_array(store, mode="r")[:]

    try:
        due = read()
    except (TypeError, ValueError):
        pytest.skip("zarr-python of this version has no such array")
    with zarr_rust.enable():
        found = read()
    assert counts_of(found) == [1, 0, 1, -2, 1] == counts_of(due)
    assert found.dtype == due.dtype and np.datetime_data(found.dtype) == np.datetime_data(data.dtype)
    ours = zarr_rust.create_array("memory:", data=data, chunks=3)
    assert counts_of(ours[:]) == counts
    ours[1:4] = data[:3]
    ours.append(data[1:2])
    assert counts_of(ours[:]) == [0, 0, 1, -2, -(2**63), 1]
