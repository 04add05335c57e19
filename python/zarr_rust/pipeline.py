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
with one of them are read and written by zarr-python's own pipeline, whole chunks at a time. Stores that this library knows are opened by it; others
are asked for each chunk. :func:`counts` says which way batches went.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
import zarr
from zarr.abc.codec import Codec, CodecPipeline
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import NDBuffer
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.registry import register_pipeline

from zarr_rust import _core, _values
from zarr_rust._pipeline_codecs import document, is_known
from zarr_rust._pipeline_memory import InMemory
from zarr_rust._pipeline_selections import alone, are_boxes, by_shape, indices_of, of_variable_length, part_of, positions
from zarr_rust._pipeline_stores import Native, native_of
from zarr_rust._pipeline_threads import all_of, count, counts, on_thread
from zarr_rust.errors import UnknownExtensionError

__all__ = ["RustCodecPipeline", "counts", "disable", "enable"]

_PATH = "zarr_rust.pipeline.RustCodecPipeline"


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
            count("python-codec")
            return list(await self._python.decode(chunks))
        decoded: list[NDBuffer | None] = []
        for value, spec in chunks:
            out = None
            if value is not None:
                out = spec.prototype.nd_buffer.empty(
                    shape=spec.shape, dtype=spec.dtype.to_native_dtype(), order=spec.order
                )
                whole = tuple(slice(0, length) for length in spec.shape)
                await self.read([(InMemory(value), spec, whole, whole, True)], out)
            decoded.append(out)
        return decoded

    async def encode(self, chunk_arrays_and_specs: Iterable[tuple[NDBuffer | None, ArraySpec]]) -> Iterable[Any]:
        """Encodes chunks in memory."""
        chunks = list(chunk_arrays_and_specs)
        if chunks and self._engine(chunks[0][1]) is None:
            count("python-codec")
            return list(await self._python.encode(chunks))
        encoded: list[Any] = []
        for array, spec in chunks:
            value = InMemory(None)
            if array is not None:
                whole = tuple(slice(0, length) for length in spec.shape)
                await self._write([(value, spec, whole, whole, True)], array, (), None, write_empty_chunks=True)
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
            count("python-codec")
            return await self._python.read(items, out, drop_axes)
        native = await _native_of(items, writes=False)
        missing = [False] * len(items)
        for shape, at in by_shape(items):
            chosen = items if len(at) == len(items) else [items[index] for index in at]
            for index, is_missing in zip(at, await self._read(shape, chosen, out, drop_axes, native)):
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
            count("python-codec")
            await self._python.write(items, value, drop_axes)
        else:
            if self.supports_partial_encode:
                # Of a shard at the edge of the array zarr-python keeps elements beyond it, of a chunk it does not.
                items = [(*item[:4], False) for item in items]
            native = await _native_of(items, writes=True)
            await self._write(items, value, drop_axes, native, write_empty_chunks=spec.config.write_empty_chunks)

    def _engine(self, spec: ArraySpec) -> _core.Codecs | None:
        """The codecs of this library; ``None`` if only Python knows one of them."""
        # It may be another one with the same fields, which differ rarely: fill values need not be comparable.
        key = (spec.dtype, spec.fill_value, spec.order)
        for known, engine in self._engines:
            if known[0] is key[0] and known[1] is key[1] and known[2] == key[2]:
                return engine
        engine = None
        if all(is_known(codec) for codec in self.codecs):
            try:
                engine = _core.Codecs(json.dumps(document(self.codecs, spec)), list(spec.shape))
            except UnknownExtensionError:
                engine = None
        self._engines[:] = [(key, engine)]
        return engine

    async def _read(
        self, shape: tuple[int, ...], items: list[Any], out: NDBuffer, drop_axes: tuple[int, ...], native: Native | None
    ) -> list[bool]:
        spec = items[0][1]
        engine = self._engine(spec)
        assert engine is not None
        target = out.as_ndarray_like()
        batch = _core.Batch.regular(items, list(drop_axes), list(shape))
        points = None
        if batch is None or tuple(batch.shape) != tuple(target.shape):
            if type(target) is np.ndarray and are_boxes(items):
                # Chunks of one length among those of others: each goes to a view of its own.
                of_array = spec.prototype.nd_buffer.from_numpy_array
                each = [(alone(item), of_array(target[item[3]])) for item in items]
                reads = [partial(self._read, shape, [item], view, drop_axes, native) for item, view in each]
                return [is_missing for [is_missing] in await all_of(reads)]
            points = [indices_of(item[2], shape) for item in items]
            batch = _core.Batch.of_points(items, list(shape), *positions(points, shape))
        is_direct = (
            points is None
            and type(target) is np.ndarray
            and (target.dtype == engine.dtype if engine.form == "fixed" else engine.form == "string" and target.dtype.kind == "T")
            and target.flags.writeable
        )
        if engine.form == "fixed":
            found: Any = target if is_direct else _values.empty(batch.shape, engine.dtype)
            missing = await on_thread(batch, items, native, False, engine.read, found)
        else:
            into = target if is_direct else None
            elements, missing = await on_thread(batch, items, native, False, engine.read_variable, into)
            inner = engine.dtype if engine.form == "list" else None
            found = target if is_direct else _values.array_of(engine.form, inner, batch.shape, elements)
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
        self,
        items: list[Any],
        value: NDBuffer,
        drop_axes: tuple[int, ...],
        native: Native | None,
        *,
        write_empty_chunks: bool,
    ) -> None:
        whole = value.as_numpy_array()
        for shape, at in by_shape(items):
            chosen = items if len(at) == len(items) else [items[index] for index in at]
            spec = chosen[0][1]
            engine = self._engine(spec)
            assert engine is not None
            batch = _core.Batch.regular(chosen, list(drop_axes), list(shape))
            if engine.form == "fixed" and whole.ndim == 0:
                # It is one element in memory, however many are written.
                whole = _values.cast(whole, engine.dtype)
            if batch is not None and (whole.ndim == 0 or whole.shape == tuple(batch.shape)):
                elements = np.broadcast_to(whole, batch.shape)
            elif are_boxes(chosen):
                of_array = spec.prototype.nd_buffer.from_numpy_array
                each = [(alone(item), of_array(whole if whole.ndim == 0 else whole[item[3]])) for item in chosen]
                write = partial(self._write, drop_axes=drop_axes, native=native, write_empty_chunks=write_empty_chunks)
                await all_of([partial(write, [item], part) for item, part in each])
                continue
            else:
                points = [indices_of(item[2], shape) for item in chosen]
                batch = _core.Batch.of_points(chosen, list(shape), *positions(points, shape))
                parts = [part_of(whole, item, indices, drop_axes) for item, indices in zip(chosen, points)]
                elements = np.concatenate(parts)
            if engine.form == "fixed":
                elements = _values.cast(elements, engine.dtype)
                await on_thread(batch, chosen, native, True, engine.write, elements, write_empty_chunks)
            else:
                inner = engine.dtype if engine.form == "list" else None
                values = _values.encoded(engine.form, inner, of_variable_length(engine.form, elements))
                await on_thread(batch, chosen, native, True, engine.write_variable, values, write_empty_chunks)


register_pipeline(RustCodecPipeline)


async def _native_of(items: list[Any], writes: bool) -> Native | None:
    """The store, opened here, of the chunks of a batch, if it is opened here."""
    return await native_of([item[0] for item in items], items[0][1].prototype, writes) if items else None


def _restored(made: type[RustCodecPipeline], codecs: tuple[Codec, ...]) -> RustCodecPipeline:
    return made.from_codecs(codecs)


