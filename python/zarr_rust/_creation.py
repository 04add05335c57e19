"""The functions of zarr-python that make arrays: thin layers over :func:`zarr_rust.create_array`."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from zarr_rust._arguments import checked
from zarr_rust._array import Array
from zarr_rust._grid import stored_chunks
from zarr_rust._open import create_array, open_array
from zarr_rust._stores import StoreLike
from zarr_rust._zarr_python import AUTO, dialect_of

#: Stands for what the array has that is copied.
KEEP = "keep"


@checked
def create(
    shape: int | Sequence[int],
    *,
    store: StoreLike | None = None,
    path: str | None = None,
    dtype: Any = "f8",
    chunks: Any = None,
    shards: Any = None,
    codecs: Any = None,
    data: Any = None,
    fill_value: Any = 0,
    dimension_names: Sequence[str] | None = None,
    separator: str | None = None,
    dimension_separator: str | None = None,
    attributes: Mapping[str, Any] | None = None,
    dialect: str | None = None,
    overwrite: bool = False,
    compressor: Any = AUTO,
    compressors: Any = AUTO,
    filters: Any = AUTO,
    serializer: Any = AUTO,
    order: str | None = None,
    zarr_format: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array:
    """Creates an array, as :func:`zarr_rust.create_array` does, of floats and in memory unless it is said otherwise.

    ``compressor`` and ``dimension_separator`` are the names of ``compressors`` and ``separator`` in version 2 of zarr-python.

    >>> import zarr_rust
    >>> zarr_rust.create((2, 3), chunks=(1, 3), fill_value=7)[0]
    array([7., 7., 7.])
    """
    if not _is_auto(compressor):
        if not _is_auto(compressors):
            raise TypeError("found compressor and compressors, expected one of them")
        compressors = compressor
    if type(fill_value) is int and fill_value == 0:
        # Zero, in whatever form the data type has it.
        fill_value = None
    made = create_array(
        "memory:" if store is None else store,
        path,
        shape=shape,
        dtype=dtype,
        chunks=None if chunks is True else chunks,
        shards=shards,
        codecs=codecs,
        fill_value=fill_value,
        dimension_names=dimension_names,
        separator=dimension_separator if separator is None else separator,
        attributes=attributes,
        dialect=dialect,
        overwrite=overwrite,
        compressors=compressors,
        filters=filters,
        serializer=serializer,
        order=order,
        zarr_format=zarr_format,
        storage_options=storage_options,
    )
    if data is not None:
        made[...] = data
    return made


def zeros(shape: int | Sequence[int], **arguments: Any) -> Array:
    """Creates an array of zeros, with the arguments of :func:`create`."""
    return create(shape, fill_value=0, **arguments)


def ones(shape: int | Sequence[int], **arguments: Any) -> Array:
    """Creates an array of ones, with the arguments of :func:`create`."""
    return create(shape, fill_value=1, **arguments)


def empty(shape: int | Sequence[int], **arguments: Any) -> Array:
    """Creates an array, with the arguments of :func:`create`. Its elements are the fill value: nothing stored is without a value."""
    return create(shape, **arguments)


def full(shape: int | Sequence[int], fill_value: Any, **arguments: Any) -> Array:
    """Creates an array of one value, with the arguments of :func:`create`."""
    return create(shape, fill_value=fill_value, **arguments)


def array(data: Any, **arguments: Any) -> Array:
    """Creates an array of elements that are there, with the arguments of :func:`create`.

    >>> import zarr_rust
    >>> zarr_rust.array([[1, 2], [3, 4]], chunks=(1, 2))[1]
    array([3, 4])
    """
    values = np.asarray(data)
    return create(values.shape, **_with({"dtype": values.dtype, "data": values}, **arguments))


def zeros_like(a: Any, **arguments: Any) -> Array:
    """Creates an array of zeros that is stored as another one is; ``arguments`` say what differs."""
    return zeros(**_differing(like(a, "fill_value"), arguments))


def ones_like(a: Any, **arguments: Any) -> Array:
    """Creates an array of ones that is stored as another one is; ``arguments`` say what differs."""
    return ones(**_differing(like(a, "fill_value"), arguments))


def empty_like(a: Any, **arguments: Any) -> Array:
    """Creates an array that is stored as another one is, without its elements; ``arguments`` say what differs."""
    return empty(**_differing(like(a), arguments))


def full_like(a: Any, fill_value: Any, **arguments: Any) -> Array:
    """Creates an array of one value that is stored as another one is; ``arguments`` say what differs.

    >>> import zarr_rust
    >>> a = zarr_rust.zeros((4, 6), shards=(4, 6), chunks=(2, 3), dtype="i2", codecs="gzip(1)")
    >>> b = zarr_rust.full_like(a, 5, shape=(8, 6))
    >>> b.shape, b.shards, b.chunks, b.dtype, b[7, 5]
    ((8, 6), (4, 6), (2, 3), dtype('int16'), np.int16(5))
    """
    return full(fill_value=fill_value, **_differing(like(a, "fill_value"), arguments))


def open_like(a: Any, path: StoreLike, **arguments: Any) -> Array:
    """Opens the array at an address, or creates one there that is stored as another one is."""
    return open_array(path, **_with({"mode": "a"}, **_differing(like(a), arguments)))


@checked
def from_array(
    store: StoreLike,
    *,
    data: Any,
    name: str | None = None,
    path: str | None = None,
    write_data: bool = True,
    chunks: Any = KEEP,
    shards: Any = KEEP,
    codecs: Any = None,
    compressors: Any = KEEP,
    filters: Any = KEEP,
    serializer: Any = KEEP,
    fill_value: Any = None,
    order: str | None = None,
    zarr_format: int | None = None,
    dialect: str | None = None,
    attributes: Mapping[str, Any] | None = None,
    dimension_names: Sequence[str] | None = None,
    separator: str | None = None,
    overwrite: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> Array:
    """Creates an array that is stored as another one is, or of an array of numpy, with its elements unless ``write_data`` is false.

    What is given differs from that array. Elements are copied a stored chunk at a time; :func:`zarr_rust.convert` is faster for what is stored already,
    and copies chunks as they are where it can.

    >>> import numpy as np, zarr_rust
    >>> a = zarr_rust.array(np.arange(12).reshape(3, 4), chunks=(2, 2), attributes={"units": "m"})
    >>> b = zarr_rust.from_array("memory:", data=a, chunks=(3, 4))
    >>> b.chunks, b.attrs["units"], b[2]
    ((3, 4), 'm', array([ 8,  9, 10, 11]))
    """
    named = {"compressors": compressors, "filters": filters, "serializer": serializer, "order": order, "codecs": codecs}
    given = {key: value for key, value in named.items() if value is not None and not _is_keep(value)}
    given |= {key: None for key in ("compressors", "filters") if named[key] is None}
    dialect = dialect_of(dialect, zarr_format)
    data = _own(data)
    if given.keys() & _CODECS.keys() and isinstance(data, Array) and dialect in (None, data.dialect):
        # What is not given is that of the array.
        kept = {key: getattr(data, key) for key in _CODECS if _is_keep(named[key])}
        given |= {key: value for key, value in kept.items() if value is not None}
    described = like(data) if _is_keep(chunks) and _is_keep(shards) and not given else {}
    if not described or dialect not in (None, getattr(data, "dialect", dialect)):
        described = like(data, "codecs") | _chunks_and_codecs(data, chunks, shards, dialect, not given)
    changed = {
        "fill_value": fill_value,
        "attributes": data.attrs.asdict() if attributes is None and isinstance(data, Array) else attributes,
        "dimension_names": dimension_names,
        "separator": separator,
        "dialect": dialect,
    }
    described |= given | {key: value for key, value in changed.items() if value is not None}
    made = create_array(store, path, name=name, overwrite=overwrite, storage_options=storage_options, **described)
    if write_data:
        for region in regions(made):
            made[region] = data[region]
    return made


def _chunks_and_codecs(data: Any, chunks: Any, shards: Any, dialect: str | None, keeps_codecs: bool) -> dict[str, Any]:
    """The chunks, shards and codecs of an array that differs from another one in some of them, or in the dialect."""
    is_other = isinstance(data, Array) and dialect not in (None, data.dialect)
    described: dict[str, Any] = {}
    if isinstance(data, Array):
        described = {"chunks": data.chunks, "shards": None if is_other and dialect == "v2" else data.shards}
        if keeps_codecs and not is_other:
            described["codecs"] = inner_codecs(data)
    described |= {} if _is_keep(chunks) else {"chunks": chunks}
    return described | ({} if _is_keep(shards) else {"shards": shards})


def like(a: Any, *without: str) -> dict[str, Any]:
    """The arguments by which an array is made that is stored as another one is, of this package, zarr-python, numpy or Dask."""
    a = _own(a)
    if not isinstance(a, Array):
        described = {"shape": tuple(a.shape), "dtype": a.dtype}
        chunks, shards = getattr(a, "chunks", None), getattr(a, "shards", None)
        if isinstance(chunks, tuple) and all(isinstance(length, int) for length in chunks) and chunks:
            described["chunks"] = chunks
            if shards is not None:
                described["shards"] = shards
        fill_value = getattr(a, "fill_value", None)
        if fill_value is not None and hasattr(a, "store"):
            described["fill_value"] = fill_value
        return {name: value for name, value in described.items() if name not in without}
    core = a._core
    inner = inner_codecs(a)
    # The codecs of shards in shards, as those of a grid of several lengths, have the chunks among them, and chunks are those that are stored.
    is_plain = a.shards is not None and all(codec["name"] != "sharding_indexed" for codec in inner)
    described = {
        "shape": a.shape,
        "dtype": a.dtype if core.form == "fixed" else core.data_type,
        "chunks": a.chunks if is_plain else tuple(core.chunk_shape),
        "shards": a.shards if is_plain else None,
        "codecs": inner if is_plain else a.metadata["codecs"],
        "fill_value": a.fill_value,
        "dimension_names": a.dims,
        "dialect": a.dialect,
    }
    return {name: value for name, value in described.items() if name not in without and value is not None}


#: Arguments that say what ``codecs`` says, of elements, of bytes and between them.
_CODECS: dict[str, None] = dict.fromkeys(("compressors", "filters", "serializer"))


def _differing(described: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of an array that is as described but for what is given."""
    said = {"codecs"} if arguments.keys() & _CODECS.keys() else set()
    if arguments.get("zarr_format") is not None:
        said.add("dialect")
    return {name: value for name, value in described.items() if name not in said} | arguments


def _own(a: Any) -> Any:
    """An array of zarr-python as one of this package, where its store can be had."""
    zarr = sys.modules.get("zarr")
    if zarr is None or not isinstance(a, zarr.Array):
        return a
    try:
        return open_array(a, mode="r")
    except TypeError:
        return a


def inner_codecs(a: Array) -> list[Any]:
    """The codecs of chunks, whether there are shards or not."""
    codecs: list[Any] = a.metadata["codecs"]
    for codec in codecs:
        if codec["name"] == "sharding_indexed":
            inner: list[Any] = codec["configuration"]["codecs"]
            return inner
    return codecs


def regions(a: Array) -> Iterator[tuple[slice, ...]]:
    """The regions of the stored chunks of an array."""
    axes = []
    for part, length in zip(stored_chunks(a), a.shape):
        edges = list(itertools.accumulate(part, initial=0)) if isinstance(part, tuple) else [*range(0, length, part), length]
        axes.append([slice(start, end) for start, end in itertools.pairwise(edges)])
    return itertools.product(*axes)


def _with(arguments: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    """Arguments, with others in the place of those of the same names."""
    return {**arguments, **others}


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == AUTO


def _is_keep(value: Any) -> bool:
    return isinstance(value, str) and value == KEEP
