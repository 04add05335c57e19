"""Arrays and groups that are created, as the compiled part takes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from zarr_rust import _core, _values
from zarr_rust._array import Array
from zarr_rust._lengths import length_of, lengths_of
from zarr_rust._handle import to_json
from zarr_rust._zarr_python import codecs_and_dialect


def new_group(attributes: Mapping[str, Any] | None, dialect: str | None, overwrite: bool) -> dict[str, Any]:
    """The description of a group, as the compiled part takes it."""
    return {"attributes": to_json(attributes or {}), "dialect": dialect, "overwrite": overwrite}


def new_array(
    shape: int | Sequence[int],
    dtype: Any,
    chunks: int | Sequence[int] | Literal["auto"] | None,
    shards: int | Sequence[int] | None,
    codecs: Any,
    fill_value: Any,
    dimension_names: Sequence[str] | None,
    separator: str | None,
    attributes: Mapping[str, Any] | None,
    dialect: str | None,
    overwrite: bool,
) -> dict[str, Any]:
    """The description of an array, as the compiled part takes it."""
    if separator not in (None, "/", "."):
        raise ValueError(f'separator {separator!r}: expected "/" or "."')
    name, fixed = _values.name_of(dtype)
    lengths = lengths_of(shape)

    if codecs is not None and not isinstance(codecs, str):
        codecs = json.dumps(codecs if isinstance(codecs, (list, tuple)) else [codecs])
    return new_group(attributes, dialect, overwrite) | {
        "shape": lengths,
        "data_type": name,
        "chunks": None if isinstance(chunks, str) and chunks == "auto" else _chunk_lengths("chunks", chunks, lengths),
        "shards": _chunk_lengths("shards", shards, lengths),
        "codecs": codecs,
        "fill": None if fill_value is None else _values.fill_bytes(name, fixed, fill_value),
        "dimension_names": None if dimension_names is None else list(dimension_names),
        "separator": separator,
    }


def _chunk_lengths(name: str, given: Any, shape: Sequence[int]) -> list[int] | None:
    """The lengths of chunks or shards: one number is for all axes, and -1 is all of an axis, as in zarr-python."""
    if given is None:
        return None
    try:
        of_axes = [length_of(length) for length in given] if isinstance(given, (list, tuple, np.ndarray)) else [length_of(given)] * len(shape)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    if len(of_axes) == len(shape):
        of_axes = [max(size, 1) if length == -1 else length for length, size in zip(of_axes, shape, strict=True)]
    return lengths_of(of_axes)


def created(
    create: Callable[[dict[str, Any]], _core.Array],
    shape: Any,
    dtype: Any,
    data: Any,
    of_zarr_python: Mapping[str, Any],
    *,
    codecs: Any,
    dialect: str | None = None,
    of_group: str | None = None,
    **described: Any,
) -> Array:
    """The array that is created of its description, with its elements. ``of_group`` is the dialect of the group in which it is to be."""
    lengths, kind, values = _of_data(shape, dtype, data)
    rank = len(lengths_of(lengths))
    codecs, named = codecs_and_dialect(codecs, dialect, rank, kind, of_group=of_group, **of_zarr_python)
    # Within a group it is that of the group.
    dialect = named if of_group is None else None
    array = Array(create(new_array(lengths, kind, codecs=codecs, dialect=dialect, **described)))
    if values is not None:
        array[...] = values
    return array


def _of_data(shape: Any, dtype: Any, data: Any) -> tuple[Any, Any, np.ndarray[Any, Any] | None]:
    """The shape and the data type of a new array, and its elements."""
    if data is None:
        if shape is None or dtype is None:
            raise TypeError("a new array needs shape and dtype, or data")
        return shape, dtype, None
    values = np.asarray(data)
    if shape is not None and tuple(lengths_of(shape)) != values.shape:
        raise ValueError(f"found data of shape {values.shape}, expected {tuple(lengths_of(shape))}")
    return values.shape, values.dtype if dtype is None else dtype, values
