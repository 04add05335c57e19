"""Variables that are written into data sets."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zarr_rust import _values
from zarr_rust._arguments import check_encoding
from zarr_rust._lengths import lengths_of
from zarr_rust._handle import to_json


def given(
    variables: Mapping[str, Any],
    coords: Mapping[str, Any] | None,
    attrs: Mapping[str, Any] | None,
    *,
    dialect: str | None = None,
    overwrite: bool = False,
    consolidated: bool = True,
    safe_chunks: bool = True,
) -> dict[str, Any]:
    """The description of a data set, as the compiled part takes it."""
    both = [name for name in variables if name in (coords or {})]
    if both:
        raise ValueError(f"found {both[0]!r} twice: as a variable and as a coordinate")
    described = [_described(name, value, False) for name, value in variables.items()]
    described += [_described(name, value, True) for name, value in (coords or {}).items()]
    return {
        "attributes": to_json(attrs or {}),
        "dialect": dialect,
        "overwrite": overwrite,
        "consolidated": consolidated,
        "safe_chunks": safe_chunks,
        "variables": described,
    }


def _described(name: str, value: Any, is_coordinate: bool) -> dict[str, Any]:
    try:
        return _variable(name, value, is_coordinate)
    except (TypeError, ValueError) as error:
        error.add_note(f"variable {name!r}")
        raise


def _variable(name: str, value: Any, is_coordinate: bool) -> dict[str, Any]:
    if not isinstance(value, tuple) or not 2 <= len(value) <= 4:
        raise TypeError(f"variable {name!r}: expected a tuple (dims, data), and maybe attributes and encoding")
    dims, data, attributes, encoding = (*value, {}, {})[:4]
    encoding = dict(encoding or {})
    check_encoding(encoding)
    stored_as = encoding.pop("dtype", None)
    codecs = encoding.pop("codecs", None)
    if codecs is not None and not isinstance(codecs, str):
        codecs = json.dumps(codecs if isinstance(codecs, (list, tuple)) else [codecs])
    chunks, shards = encoding.pop("chunks", None), encoding.pop("shards", None)
    values = np.asarray(data)
    if values.dtype.kind in "OT":
        data_type: str = "string"
        array = values
    else:
        data_type, fixed = _values.name_of(values.dtype)
        array = _values.cast(values, fixed.newbyteorder("=") if fixed is not None else values.dtype)
    return {
        "name": name,
        "dimensions": [dims] if isinstance(dims, str) else list(dims),
        "is_coordinate": is_coordinate,
        "attributes": to_json(attributes or {}),
        "encoding": to_json({key: _spelled(part) for key, part in encoding.items()}),
        "stored_as": None if stored_as is None else _name(stored_as),
        "chunks": _lengths(chunks),
        "shards": _lengths(shards),
        "codecs": codecs,
        "data_type": data_type,
        "array": array,
    }


def _spelled(value: Any) -> Any:
    """A part of an encoding; floats that JSON lacks are the texts that Zarr has for them."""
    if isinstance(value, (float, np.floating)) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _name(dtype: Any) -> str:
    return _values.name_of(dtype)[0]


def _lengths(shape: int | Sequence[int] | None) -> list[int] | None:
    return None if shape is None else lengths_of(shape)
