"""A codec pipeline for zarr-python: its arrays are read and written by this library.

>>> import numpy as np, zarr, zarr_rust
>>> with zarr_rust.enable():
...     array = zarr.create_array({}, shape=(100, 100), chunks=(30, 30), dtype="f4")
...     array[10:20, ::3] = 5
...     array[19, 30:32]
array([5., 0.], dtype=float32)

Arrays take the pipeline that is set when they are opened. Instead of :func:`enable`, it can be named to zarr-python:

>>> settings = {"codec_pipeline.path": "zarr_rust.pipeline.RustCodecPipeline"}
>>> with zarr.config.set(settings):
...     array = zarr.open_array(array.store)
>>> type(array.async_array.codec_pipeline).__name__
'RustCodecPipeline'

Codecs and data types that a program registers with zarr-python or numcodecs are objects of Python, which this library does not know: arrays
with one of them are read and written by zarr-python's own pipeline, whole chunks at a time. :func:`counts` says how many there were.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
import zarr
from zarr.abc.codec import Codec, CodecPipeline
from zarr.codecs import ShardingCodec
from zarr.codecs._v2 import V2Codec
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import NDBuffer
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.registry import register_pipeline

from zarr_rust import _core, _values
from zarr_rust._pipeline_stores import answers, concurrency, source_of
from zarr_rust.errors import ArgumentError, UnknownExtensionError

__all__ = ["RustCodecPipeline", "counts", "disable", "enable"]

_PATH = "zarr_rust.pipeline.RustCodecPipeline"

_counts: Counter[str] = Counter()
_counts_lock = threading.Lock()


def _after_fork() -> None:
    global _counts_lock
    # Another thread of the parent may hold it, and has batches that are not of this process.
    _counts_lock = threading.Lock()
    _live.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _count(what: str) -> None:
    with _counts_lock:
        _counts[what] += 1


def counts() -> dict[str, int]:
    """What pipelines of this process did: ``"reads"`` and ``"writes"`` by this library, and how many pipelines have a codec or data type that
    only Python knows (``"python-codec"``), whose chunks zarr-python decodes and encodes.
    """
    with _counts_lock:
        return {name: _counts[name] for name in ("reads", "writes", "python-codec")}


class _Enabled:
    """The pipeline is set until the end of a ``with``, or for good."""

    def __init__(self) -> None:
        self._before = zarr.config.get("codec_pipeline.path")
        zarr.config.set({"codec_pipeline.path": _PATH})

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        zarr.config.set({"codec_pipeline.path": self._before})


def enable() -> _Enabled:
    """Arrays of zarr-python that are opened from now on use this library: for good, or within ``with zarr_rust.enable():``."""
    return _Enabled()


def disable() -> None:
    """Arrays of zarr-python that are opened from now on use its own pipeline."""
    if zarr.config.get("codec_pipeline.path") == _PATH:
        zarr.config.set({"codec_pipeline.path": zarr.config.defaults[0]["codec_pipeline"]["path"]})


# Threads of their own, since those of the event loop run the stores of Python that are waited for.
_threads: tuple[int, ThreadPoolExecutor] | None = None


def _executor() -> ThreadPoolExecutor:
    global _threads
    if _threads is None or _threads[0] != os.getpid():
        _threads = (os.getpid(), ThreadPoolExecutor(64, thread_name_prefix="zarr_rust"))
    return _threads[1]


#: Batches that are read or written now.
_live: set[_core.Batch] = set()
_is_exiting = False


def _interrupt_all() -> None:
    global _is_exiting
    _is_exiting = True
    for batch in tuple(_live):
        batch.interrupt()


# Before the threads of executors are waited for: what was registered last is called first.
threading._register_atexit(_interrupt_all)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class RustCodecPipeline(CodecPipeline):
    """Reads and writes batches of chunks by the codecs of this library, on its threads, without the interpreter's lock.

    Codecs are those of zarr-python; what it asks of them without elements, such as whether they fit an array, they answer themselves.
    """

    codecs: tuple[Codec, ...]
    _python: BatchedCodecPipeline = field(repr=False, compare=False)
    # The codecs of this library for the last specification of a chunk.
    _engines: list[tuple[Any, _core.Codecs | None]] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec]) -> Self:
        """A pipeline of these codecs."""
        all_codecs = tuple(codecs)
        return cls(all_codecs, BatchedCodecPipeline.from_codecs(all_codecs))

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """The pipeline, of codecs that are completed for elements of an array."""
        python = self._python.evolve_from_array_spec(array_spec)
        return type(self)(tuple(python), python)

    def __iter__(self) -> Iterator[Codec]:
        return iter(self.codecs)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (type(self), self.codecs))

    @property
    def supports_partial_decode(self) -> bool:
        """Whether parts of a chunk are read without the rest of it, as zarr-python counts it: those of shards."""
        return bool(self._python.supports_partial_decode)

    @property
    def supports_partial_encode(self) -> bool:
        """As :attr:`supports_partial_decode`, of writes."""
        return bool(self._python.supports_partial_encode)

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        """Raises the error of a codec that does not fit an array."""
        self._python.validate(shape=shape, dtype=dtype, chunk_grid=chunk_grid)

    def compute_encoded_size(self, byte_length: int, array_spec: ArraySpec) -> int:
        """The size of a chunk, if it does not depend on its elements."""
        return self._python.compute_encoded_size(byte_length, array_spec)

    async def decode(self, chunk_bytes_and_specs: Iterable[tuple[Any, ArraySpec]]) -> Iterable[NDBuffer | None]:
        """Decodes chunks in memory."""
        chunks = list(chunk_bytes_and_specs)
        if chunks and self._engine(chunks[0][1]) is None:
            return list(await self._python.decode(chunks))
        decoded: list[NDBuffer | None] = []
        for value, spec in chunks:
            out = None
            if value is not None:
                out = spec.prototype.nd_buffer.empty(
                    shape=spec.shape, dtype=spec.dtype.to_native_dtype(), order=spec.order
                )
                whole = tuple(slice(0, length) for length in spec.shape)
                await self.read([(_InMemory(value), spec, whole, whole, True)], out)
            decoded.append(out)
        return decoded

    async def encode(self, chunk_arrays_and_specs: Iterable[tuple[NDBuffer | None, ArraySpec]]) -> Iterable[Any]:
        """Encodes chunks in memory."""
        chunks = list(chunk_arrays_and_specs)
        if chunks and self._engine(chunks[0][1]) is None:
            return list(await self._python.encode(chunks))
        encoded: list[Any] = []
        for array, spec in chunks:
            value = _InMemory(None)
            if array is not None:
                whole = tuple(slice(0, length) for length in spec.shape)
                await self._write([(value, spec, whole, whole, True)], array, (), write_empty_chunks=True)
            encoded.append(value.value)
        return encoded

    async def read(
        self,
        batch_info: Iterable[tuple[Any, ArraySpec, Any, Any, bool]],
        out: NDBuffer,
        drop_axes: tuple[int, ...] = (),
    ) -> Any:
        """Reads parts of chunks into parts of ``out``; returns of each chunk whether it was there (``GetResult``)."""
        items = list(batch_info)
        if items and self._engine(items[0][1]) is None:
            return await self._python.read(items, out, drop_axes)
        missing = [False] * len(items)
        for shape, at in _by_shape(items):
            chosen = items if len(at) == len(items) else [items[index] for index in at]
            for index, is_missing in zip(at, await self._read(shape, chosen, out, drop_axes)):
                missing[index] = is_missing
        return tuple({"status": "missing" if is_missing else "present"} for is_missing in missing)

    async def write(
        self,
        batch_info: Iterable[tuple[Any, ArraySpec, Any, Any, bool]],
        value: NDBuffer,
        drop_axes: tuple[int, ...] = (),
    ) -> None:
        """Writes parts of ``value``, or the one element that it is, to parts of chunks."""
        items = list(batch_info)
        if not items:
            return
        spec = items[0][1]
        if self._engine(spec) is None:
            await self._python.write(items, value, drop_axes)
        else:
            if self.supports_partial_encode:
                # Of a shard at the edge of the array zarr-python keeps elements beyond it, of a chunk it does not.
                items = [(*item[:4], False) for item in items]
            await self._write(items, value, drop_axes, write_empty_chunks=spec.config.write_empty_chunks)

    def _engine(self, spec: ArraySpec) -> _core.Codecs | None:
        """The codecs of this library; ``None`` if only Python knows one of them."""
        # It may be another one with the same fields, which differ rarely: fill values need not be comparable.
        key = (spec.dtype, spec.fill_value, spec.order)
        for known, engine in self._engines:
            if known[0] is key[0] and known[1] is key[1] and known[2] == key[2]:
                return engine
        engine = None
        if all(_is_known(codec) for codec in self.codecs):
            try:
                engine = _core.Codecs(json.dumps(_document(self.codecs, spec)), list(spec.shape))
            except UnknownExtensionError:
                engine = None
        if engine is None:
            _count("python-codec")
        self._engines[:] = [(key, engine)]
        return engine

    async def _read(self, shape: tuple[int, ...], items: list[Any], out: NDBuffer, drop_axes: tuple[int, ...]) -> list[bool]:
        spec = items[0][1]
        engine = self._engine(spec)
        assert engine is not None
        target = out.as_ndarray_like()
        batch = _core.Batch.regular(items, list(drop_axes), list(shape))
        points = None
        if batch is None or tuple(batch.shape) != tuple(target.shape):
            if type(target) is np.ndarray and _are_boxes(items):
                # Chunks of one length among those of others: each goes to a view of its own.
                of_array = spec.prototype.nd_buffer.from_numpy_array
                each = [(_alone(item), of_array(target[item[3]])) for item in items]
                reads = [partial(self._read, shape, [item], view, drop_axes) for item, view in each]
                return [is_missing for [is_missing] in await _all(reads)]
            points = [_indices(item[2], shape) for item in items]
            batch = _core.Batch.of_points(items, list(shape), *_positions(points, shape))
        is_direct = (
            points is None
            and engine.form == "fixed"
            and type(target) is np.ndarray
            and target.dtype == engine.dtype
            and target.flags.writeable
        )
        _count("reads")
        if engine.form == "fixed":
            found = target if is_direct else np.empty(batch.shape, engine.dtype)
            missing = await _on_thread(batch, items, False, engine.read, found)
        else:
            elements, missing = await _on_thread(batch, items, False, engine.read_variable)
            inner = engine.dtype if engine.form == "list" else None
            found = _values.array_of(engine.form, inner, batch.shape, elements)
        if is_direct:
            return missing
        if points is None:
            out[...] = spec.prototype.nd_buffer.from_numpy_array(found)
            return missing
        begin = 0
        for item, indices in zip(items, points):
            part = found[begin : begin + indices.size].reshape(indices.shape)
            begin += indices.size
            if drop_axes:
                part = part.squeeze(axis=drop_axes)
            out[item[3]] = spec.prototype.nd_buffer.from_numpy_array(part)
        return missing

    async def _write(
        self, items: list[Any], value: NDBuffer, drop_axes: tuple[int, ...], *, write_empty_chunks: bool
    ) -> None:
        whole = value.as_numpy_array()
        for shape, at in _by_shape(items):
            chosen = items if len(at) == len(items) else [items[index] for index in at]
            spec = chosen[0][1]
            engine = self._engine(spec)
            assert engine is not None
            batch = _core.Batch.regular(chosen, list(drop_axes), list(shape))
            if engine.form == "fixed" and whole.ndim == 0:
                # It is one element in memory, however many are written.
                whole = whole.astype(engine.dtype, copy=False)
            if batch is not None and (whole.ndim == 0 or whole.shape == tuple(batch.shape)):
                elements = np.broadcast_to(whole, batch.shape)
            elif _are_boxes(chosen):
                of_array = spec.prototype.nd_buffer.from_numpy_array
                each = [(_alone(item), of_array(whole if whole.ndim == 0 else whole[item[3]])) for item in chosen]
                write = partial(self._write, drop_axes=drop_axes, write_empty_chunks=write_empty_chunks)
                await _all([partial(write, [item], part) for item, part in each])
                continue
            else:
                points = [_indices(item[2], shape) for item in chosen]
                batch = _core.Batch.of_points(chosen, list(shape), *_positions(points, shape))
                parts = [_part(whole, item, indices, drop_axes) for item, indices in zip(chosen, points)]
                elements = np.concatenate(parts)
            _count("writes")
            if engine.form == "fixed":
                elements = elements.astype(engine.dtype, copy=False)
                await _on_thread(batch, chosen, True, engine.write, elements, write_empty_chunks)
            else:
                inner = engine.dtype if engine.form == "list" else None
                one = elements.size and not any(elements.strides)
                values = _values.encoded(engine.form, inner, _objects(engine.form, elements.flat[:1] if one else elements))
                if one:
                    values = list(values) * elements.size
                await _on_thread(batch, chosen, True, engine.write_variable, values, write_empty_chunks)


register_pipeline(RustCodecPipeline)


def _restored(made: type[RustCodecPipeline], codecs: tuple[Codec, ...]) -> RustCodecPipeline:
    return made.from_codecs(codecs)


async def _on_thread(batch: _core.Batch, items: list[Any], writes: bool, work: Any, *arguments: Any) -> Any:
    """Reads or writes a batch on a thread."""
    getters, prototype = [item[0] for item in items], items[0][1].prototype
    source = await source_of(getters, prototype, writes)
    try:
        return await _waited_for(batch, partial(work, batch, source, *arguments))
    except ArgumentError as error:
        if error.kind != "path" or not isinstance(source, _core.OpenedStore):
            raise
    # A link leads out of the directory. zarr-python follows it.
    return await _waited_for(batch, partial(work, batch, answers(getters, prototype), *arguments))


async def _waited_for(batch: _core.Batch, work: Any) -> Any:
    """Does work on a thread. It uses memory of the caller, and so is waited for even if the caller is cancelled, however often."""
    _live.add(batch)
    try:
        if _is_exiting:
            batch.interrupt()
        future = asyncio.get_running_loop().run_in_executor(_executor(), work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            batch.interrupt()
            while not future.done():
                try:
                    await asyncio.wait([future])
                except asyncio.CancelledError:
                    continue
            if not future.cancelled():
                # Its error, if any, is the consequence.
                future.exception()
            raise
    finally:
        _live.discard(batch)


async def _all(calls: list[Any]) -> list[Any]:
    """The results of all, some at a time. The first error is raised once all have ended, since they use memory of the caller."""
    some = asyncio.Semaphore(min(concurrency(), 64))

    async def one(call: Any) -> Any:
        async with some:
            return await call()

    results = await asyncio.gather(*map(one, calls), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


class _InMemory:
    """A chunk that is no value of a store."""

    def __init__(self, value: Any) -> None:
        self.value = value

    async def get(self, prototype: Any = None, byte_range: Any = None) -> Any:
        value = self.value
        if byte_range is None or value is None:
            return value
        size = len(value)
        start = getattr(byte_range, "start", getattr(byte_range, "offset", None))
        if start is None:
            start = max(0, size - byte_range.suffix)
        return value[start : getattr(byte_range, "end", size)]

    async def set(self, value: Any) -> None:
        self.value = value

    async def delete(self) -> None:
        self.value = None


def _by_shape(items: list[Any]) -> Iterable[tuple[tuple[int, ...], list[int]]]:
    """The shapes of the chunks, and which have each of them."""
    shapes: dict[tuple[int, ...], list[int]] = {}
    last, at = None, []
    for index, item in enumerate(items):
        shape = item[1].shape
        if shape is not last:
            at = shapes.setdefault(shape, [])
            last = shape
        at.append(index)
    return shapes.items()


def _are_boxes(items: list[Any]) -> bool:
    """Whether a box is selected of each chunk that is one of the output too, and there are other chunks beside it."""
    boxes = all(
        isinstance(chunk, tuple)
        and isinstance(out, tuple)
        and all(isinstance(part, (slice, int)) for part in chunk)
        and all(isinstance(part, slice) and part.stop is not None and part.step in (None, 1) for part in out)
        for _, _, chunk, out, _ in items
    )
    return boxes and (len(items) > 1 or items[0][3] != _alone(items[0])[3])


def _alone(item: Any) -> Any:
    """A chunk whose output is a view of its own."""
    return (*item[:3], tuple(slice(0, part.stop - (part.start or 0)) for part in item[3]), item[4])


def _indices(selection: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The elements that are selected of a chunk, by their numbers in C order."""
    count = int(np.prod(shape, dtype=np.int64))
    return np.asarray(np.arange(count, dtype=np.int64).reshape(shape)[selection])


def _positions(
    points: list[np.ndarray[Any, Any]], shape: tuple[int, ...]
) -> tuple[list[np.ndarray[Any, Any]], list[int]]:
    """Their positions along each axis, if the chunks lie one after the other along the first, and the number of the first of each chunk."""
    positions = [np.stack(np.unravel_index(indices.reshape(-1), shape)) for indices in points]
    for number, position in enumerate(positions):
        position[0] += number * shape[0]
    first = np.cumsum([0, *(indices.size for indices in points)])[:-1].tolist()
    return [np.ascontiguousarray(axis, dtype=np.int64) for axis in np.concatenate(positions, axis=1)], first


def _part(value: np.ndarray[Any, Any], item: Any, indices: np.ndarray[Any, Any], drop_axes: tuple[int, ...]) -> Any:
    """The elements that are written to those of a chunk, as zarr-python takes them from a value."""
    part = value if value.ndim == 0 else value[item[3]]
    if drop_axes and value.ndim:
        part = part[tuple(None if axis in drop_axes else slice(None) for axis in range(len(item[1].shape)))]
    return np.broadcast_to(part, indices.shape).reshape(-1)


def _objects(form: str, elements: np.ndarray[Any, Any]) -> list[Any]:
    """Elements of variable length; of texts and bytes none is an empty one, as in numcodecs."""
    values: list[Any] = elements.astype(object).reshape(-1).tolist()
    if form in ("string", "bytes"):
        empty: Any = "" if form == "string" else b""
        values = [empty if value is None or (type(value) is int and value == 0) else value for value in values]
    return values


def _is_known(codec: Any) -> bool:
    """Whether a codec is one of zarr-python or numcodecs, which may be of this library too, and not of the program."""
    parts: list[Any] = [codec]
    if isinstance(codec, ShardingCodec):
        parts += [*codec.codecs, *codec.index_codecs]
    elif isinstance(codec, V2Codec):
        parts += [*(codec.filters or ()), *(() if codec.compressor is None else (codec.compressor,))]
    return all(
        type(part).__module__.partition(".")[0] in ("zarr", "numcodecs") and (part is codec or _is_known(part)) for part in parts
    )


def _document(codecs: tuple[Codec, ...], spec: ArraySpec) -> dict[str, Any]:
    """The metadata of an array with these codecs, but for its shape and chunks."""
    version: Any = 2 if isinstance(codecs[0], V2Codec) else 3
    # Without a fill value zarr-python reads and leaves out the default of the data type.
    fill: Any = spec.dtype.default_scalar() if spec.fill_value is None else spec.fill_value
    fill = spec.dtype.to_json_scalar(fill, zarr_format=version)
    document = {"zarr_format": version, "shape": [], "fill_value": fill}
    dtype: Any = spec.dtype.to_json(zarr_format=version)
    if isinstance(codecs[0], V2Codec):
        filters, compressor = codecs[0].filters, codecs[0].compressor
        return document | {
            "dtype": dtype["name"],
            "order": spec.order,
            "chunks": [],
            "dimension_separator": ".",
            "filters": [codec.get_config() for codec in filters] if filters else None,
            "compressor": None if compressor is None else compressor.get_config(),
        }
    return document | {
        "node_type": "array",
        "data_type": dtype,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "attributes": {},
        "codecs": [codec.to_dict() for codec in codecs],
    }
