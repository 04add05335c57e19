"""Arrays of Dask from stored ones, and the reverse.

>>> import tempfile, dask.array, zarr_rust
>>> url = tempfile.mkdtemp() + "/x.zarr"
>>> array = zarr_rust.from_dask(dask.array.ones((400, 600), chunks=(100, 300), dtype="f4"), url)
>>> array.chunks, array[3, 5]
((100, 300), np.float32(1.0))
>>> blocks = zarr_rust.open(url).to_dask(chunks=(200, 300))
>>> float(blocks.sum().compute())
240000.0
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
import sys
from typing import Any

import dask.array
import dask.config
import numpy as np
from dask.array.core import normalize_chunks
from dask.base import tokenize
from dask.delayed import delayed
from dask.system import CPU_COUNT
from dask.utils import parse_bytes

from zarr_rust import _convert
from zarr_rust._array import Array
from zarr_rust._grid import stored_chunks
from zarr_rust._group import Group
from zarr_rust._open import create_array
from zarr_rust._open import open as open_node
from zarr_rust._stores import StoreLike, address_of

__all__ = ["convert", "from_dask", "to_dask"]


def to_dask(array: Array, chunks: Any = None, *, name: str | bool | None = None) -> dask.array.Array:
    """The array as one of Dask, of which each block is read by a task of its own.

    Without ``chunks`` blocks are shards, or, if there are none, as many whole chunks as fit into ``array.chunk-size`` of Dask's configuration
    (128 MiB). ``"auto"`` joins whole shards in the same way, and a size such as ``"32 MiB"`` is one to fill. Other ``chunks`` are as for
    :func:`dask.array.from_array`; a chunk that lies in several blocks is read for each.

    Tasks have the address of the array, and open it once on each worker. The name of the result depends on the address and on the
    metadata, not on the elements: where these were written anew since Dask kept a result, ``name=False`` gives a name that nothing else
    has.
    """
    blocks: Any = blocks_of(array, chunks)
    if name is None or name is True:
        name = f"zarr-{array.basename or 'array'}-{tokenize(array, blocks)}"
    meta = np.empty((0,) * array.ndim, dtype=array.dtype)
    return dask.array.from_array(array, chunks=blocks, name=name, lock=False, asarray=True, meta=meta)


def from_dask(
    x: dask.array.Array,
    store: StoreLike,
    path: str | None = None,
    *,
    chunks: Any = None,
    shards: Any = None,
    rechunk: bool = False,
    compute: bool = True,
    **arguments: Any,
) -> Any:
    """Creates an array as :func:`zarr_rust.create_array` does, with the shape of ``x``, stores ``x`` in it, and gives it.

    Without ``chunks`` and ``shards``, chunks are the blocks of ``x``. Blocks are written as they are, whatever chunks they share with others:
    no element is lost, but such a chunk is read and stored again for each of them. With ``rechunk=True`` blocks become whole chunks (shards,
    if there are any) first.

    With ``compute=False`` the array is created, and the result is a :class:`dask.delayed.Delayed` that stores ``x`` and has the array as its value.
    """
    if any(math.isnan(length) for length in x.shape):
        raise ValueError("blocks of unknown length cannot be stored: call compute_chunk_sizes() before")
    shape = tuple(int(length) for length in x.shape)
    if chunks is None and shards is None:
        chunks = tuple(_even(lengths, axis) for axis, lengths in enumerate(x.chunks))
    arguments.setdefault("dtype", x.dtype)
    array = create_array(store, path, shape=shape, chunks=chunks, shards=shards, **arguments)
    if rechunk:
        largest = math.prod(max(lengths, default=0) for lengths in x.chunks)
        blocks: Any = merged(array, largest * array.itemsize)
        x = x.rechunk(blocks)
    # In one task, so that the array is opened once on each worker and not for each block.
    target = delayed(array, traverse=False)
    stored = dask.array.store(x, target, lock=False, compute=False)
    if compute:
        stored.compute()
        return array
    return delayed(_first, pure=False)(array, stored)


def convert(
    source: StoreLike | Array | Group,
    target: StoreLike,
    *,
    parts: int | None = None,
    compute: bool = True,
    **arguments: Any,
) -> Any:
    """:func:`zarr_rust.convert` by tasks of Dask: other chunks, codecs or another dialect, written by all workers at once.

    Each of the ``parts`` is a task. By default each has elements of about half of ``memory``, but there are no fewer than threads for
    tasks, and no more than four for each thread: chunks of the source that several parts need are decoded for each of them. Of a group there are four for each
    thread. Where a worker is lost, others do its parts again: they keep the chunks that are written and go on. The nodes are in the target after all parts. The arguments are as for
    :func:`zarr_rust.convert`, without ``overwrite``, ``resume``, ``dry_run`` and ``progress``. Each part takes ``memory`` for itself.

    Source and target are opened by the workers, by their addresses; paths are made absolute here. With ``compute=False`` the
    result is a :class:`dask.delayed.Delayed` of it, for ``Client.compute`` or ``scheduler="processes"``.
    """
    for name in arguments:
        if name in ("overwrite", "resume", "dry_run", "progress", "part", "finish"):
            raise TypeError(f"{name}: not of a conversion by tasks of Dask")
    found = source if isinstance(source, (Array, Group)) else _absolute(source)
    if arguments.get("scratch") is not None:
        arguments["scratch"] = _absolute(arguments["scratch"])
    where = _absolute(target)
    count = _parts(found, arguments, _threads()) if parts is None else parts
    part = delayed(_convert_part, pure=False)
    tasks = [part(found, where, (number, count), arguments) for number in range(1, count + 1)]
    result = delayed(_finish_conversion, pure=False)(found, where, arguments, tasks)
    return result.compute() if compute else result


def blocks_of(array: Array, chunks: Any = None) -> tuple[tuple[int, ...], ...]:
    """The blocks that ``chunks`` of :func:`to_dask` asks for."""
    if chunks is None and array.shards is not None:
        chunks = stored_chunks(array)
    elif chunks is None or isinstance(chunks, str):
        size = dask.config.get("array.chunk-size") if chunks in (None, "auto") else chunks
        chunks = merged(array, parse_bytes(size))
    blocks: tuple[tuple[int, ...], ...] = normalize_chunks(
        chunks, shape=array.shape, dtype=array.dtype, previous_chunks=stored_chunks(array)
    )
    return blocks


def merged(array: Array, limit: int) -> tuple[int | tuple[int, ...], ...]:
    """Blocks of whole stored chunks (shards, if there are any), of as many as fit into a number of bytes, but at least one.

    Chunks are joined along all dimensions alike. Chunks of several lengths stay as they are.
    """
    lengths = stored_chunks(array)
    blocks = [min(part, length) if isinstance(part, int) else max(part) for part, length in zip(lengths, array.shape)]
    counts = [1] * len(blocks)
    # The last axis first, along which neighbours are nearest in memory.
    growing = [axis for axis, part in enumerate(lengths) if isinstance(part, int) and blocks[axis] < array.shape[axis]][::-1]
    while growing:
        axis = min(growing, key=lambda axis: counts[axis])
        part, length = lengths[axis], array.shape[axis]
        assert isinstance(part, int)
        longer = min(2 * counts[axis] * part, length)
        rest = math.prod(block for other, block in enumerate(blocks) if other != axis)
        if rest * longer * array.itemsize > limit:
            growing.remove(axis)
            continue
        counts[axis] *= 2
        blocks[axis] = longer
        if longer == length:
            growing.remove(axis)
    return tuple(block if isinstance(part, int) else part for block, part in zip(blocks, lengths))


def _even(lengths: tuple[int, ...], axis: int) -> int:
    """The length of chunks that are these blocks along a dimension."""
    if len(set(lengths[:-1])) > 1 or lengths[-1] > lengths[0]:
        raise ValueError(
            f"found blocks of several lengths along dimension {axis}, {lengths[:4]}, which chunks cannot have: give chunks, and "
            "rechunk=True for blocks that fit them"
        )
    return max(lengths[0], 1)


def _first(value: Any, *_: Any) -> Any:
    return value


def _convert_part(source: Any, target: Any, part: tuple[int, int], arguments: dict[str, Any]) -> tuple[_convert.SkippedChunk, ...]:
    return _convert.convert(source, target, part=part, **arguments).skipped


def _finish_conversion(
    source: Any, target: Any, arguments: dict[str, Any], parts: list[tuple[_convert.SkippedChunk, ...]]
) -> _convert.Conversion:
    done = _convert.convert(source, target, finish=True, **arguments)
    # The parts know of all chunks that they left out, and the target of some, and the number of the others.
    known = dict.fromkeys(done.skipped) | dict.fromkeys(chunk for part in parts for chunk in part)
    skipped = tuple(sorted(known, key=lambda chunk: (chunk.path, chunk.chunk)))
    more = max(len(done.skipped) + done.skipped_more - len(skipped), 0)
    return dataclasses.replace(done, skipped=skipped, skipped_more=more)


def _parts(source: Any, arguments: dict[str, Any], threads: int) -> int:
    """How many tasks convert the source: the fewest that are as large as the memory allows, within what keeps all threads busy."""
    node = source
    if not isinstance(source, (Array, Group)):
        node = open_node(source, arguments.get("path"), storage_options=arguments.get("source_options"))
    if isinstance(node, Group):
        return 4 * threads
    memory = _convert.size_in_bytes(arguments.get("memory", _convert.MEMORY))
    return min(max(-(-2 * node.nbytes // memory), threads), 4 * threads)


def _threads() -> int:
    """How many tasks are done at once."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            return max(sum(distributed.default_client().nthreads().values()), 1)
        except ValueError:
            # There is no cluster.
            pass
    return int(CPU_COUNT)


def _absolute(store: StoreLike) -> Any:
    """An address that means the same in any working directory; an object of Python is one anyway."""
    if not isinstance(store, (str, os.PathLike)):
        return store
    text = address_of(store)
    scheme = re.match(r"[a-z][a-z0-9+.-]+:(?!:)", text)
    if scheme is None:
        return os.path.abspath(text)
    if "://" in text:
        return text
    if scheme[0] == "memory:":
        raise TypeError(f"{text}: a store in the memory of this process is not there for tasks")
    return scheme[0] + os.path.abspath(text[scheme.end() :])
