"""Elements as numpy's: data types, fill values, and elements of variable length."""

from __future__ import annotations

import ast
import base64
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

#: The data type of texts of any length: ``StringDType`` where numpy has it, as in zarr-python.
STRING: np.dtype[Any] = np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else np.dtype(object)

#: Names of data types of variable length, which numpy would take for fixed ones or does not know.
_VARIABLE_NAMES = {"string": "string", "bytes": "bytes", "variable_length_bytes": "variable_length_bytes"}


def dtype_of(literal: str | None, name: str) -> np.dtype[Any]:
    """The data type that the header of a ``.npy`` file spells so, in the byte order of this machine."""
    if literal is None:
        raise TypeError(f"numpy has no data type for elements of type {name}")
    found: np.dtype[Any] = np.dtype(ast.literal_eval(literal)).newbyteorder("=")
    return found


def cast(elements: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Elements of a data type of numpy; the same ones if they are of it."""
    times = dtype.kind in "mM" and elements.dtype.kind == dtype.kind
    if not times or np.datetime_data(dtype)[0] != "generic" or elements.dtype == dtype:
        return elements.astype(dtype, copy=False)
    # astype takes a unit that is generic for any, and leaves the byte order and the scale of the counts as they are.
    if np.datetime_data(elements.dtype)[0] == "generic":
        counts = elements.view(np.dtype("i8").newbyteorder(elements.dtype.byteorder))
        return counts.astype(np.dtype("i8").newbyteorder(dtype.byteorder), copy=False).view(dtype)
    made = empty(elements.shape, dtype)
    made[...] = elements
    return made


def empty(shape: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array of a data type, also of times whose unit is generic: numpy makes one of native order and of scale 1 instead."""
    if dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic":
        return np.empty(shape, np.dtype("i8").newbyteorder(dtype.byteorder)).view(dtype)
    return np.empty(shape, dtype)


def dtype_of_form(form: str, fixed: np.dtype[Any] | None) -> np.dtype[Any]:
    """The data type of arrays that elements of this form are read into."""
    if form == "string":
        return STRING
    return np.dtype(object) if fixed is None else fixed


def name_of(dtype: Any) -> tuple[str, np.dtype[Any] | None]:
    """What a new array's data type is called, and numpy's data type if it has one of fixed size."""
    if isinstance(dtype, str) and dtype in _VARIABLE_NAMES:
        return _VARIABLE_NAMES[dtype], None
    if dtype is str:
        return "string", None
    if dtype is bytes:
        return "bytes", None
    try:
        found = np.dtype(dtype)
    except TypeError:
        if isinstance(dtype, str):
            # A data type of Zarr that numpy lacks.
            return dtype, None
        raise
    if found.kind == "T":
        return "string", None
    if found.hasobject:
        raise TypeError(f'elements of type {found} cannot be stored: name the type, such as "string" or "bytes"')
    if found.names is None:
        if found.subdtype is not None:
            raise TypeError(f"elements of type {found}: make its dimensions those of the array")
        return found.str, found
    packed = _packed(found)
    return json.dumps(_descr(packed)), packed


def _packed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    from numpy.lib import recfunctions

    packed: np.dtype[Any] = recfunctions.repack_fields(np.empty(0, dtype), align=False, recurse=True).dtype
    return packed


def _descr(dtype: np.dtype[Any]) -> Any:
    if dtype.names is None:
        return dtype.str
    fields = []
    for name in dtype.names:
        field = dtype[name]
        base, shape = field.base, list(field.shape)
        fields.append([name, _descr(base), shape] if shape else [name, _descr(base)])
    return fields


def fill_bytes(name: str, dtype: np.dtype[Any] | None, fill: Any) -> bytes:
    """The bytes of one element that is the fill value of a new array."""
    if dtype is not None:
        return np.asarray(fill, dtype=dtype.newbyteorder("=")).tobytes()
    if name == "string" and isinstance(fill, str):
        return fill.encode()
    if isinstance(fill, (bytes, bytearray)):
        return bytes(fill)
    raise TypeError(f"a fill value of {type(fill).__name__} for elements of type {name}")


def fill_value(form: str, inner: np.dtype[Any] | None, fill: bytes) -> Any:
    """The fill value whose bytes these are."""
    if form == "fixed":
        assert inner is not None
        return np.frombuffer(fill, inner)[0] if fill else np.zeros((), inner)[()]
    return decoded(form, inner, fill.decode() if form == "string" else fill)


def decoded(form: str, inner: np.dtype[Any] | None, element: Any) -> Any:
    """An element of variable length as a value of Python."""
    if form == "list":
        assert inner is not None
        return np.frombuffer(element, inner).copy()
    if form == "json":
        return json.loads(element, object_hook=_from_json) if element else None
    return element


def _from_json(members: dict[str, Any]) -> Any:
    match members:
        case {"$float": str(text)} if len(members) == 1:
            return float(text)
        case {"$bytes": str(text)} if len(members) == 1:
            return base64.b64decode(text)
    return members


def array_of(form: str, inner: np.dtype[Any] | None, shape: Sequence[int], elements: Any) -> np.ndarray[Any, Any]:
    """Elements of variable length as an array: those that are one already, or their bytes in C order."""
    if isinstance(elements, np.ndarray):
        return elements.reshape(shape)
    flat = np.empty(len(elements), object)
    for index, element in enumerate(elements):
        flat[index] = decoded(form, inner, element)
    return flat.reshape(shape)


def fit(value: np.ndarray[Any, Any], shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """A value in the shape of what it is written to, as numpy broadcasts it."""
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    if value.shape == tuple(shape):
        return value
    return np.broadcast_to(value, tuple(shape))


def objects(form: str, value: Any, is_one: bool) -> np.ndarray[Any, Any]:
    """Elements of variable length that are to be written, as an array."""
    if form == "string":
        # A fixed number of characters has none of number 0 at its end.
        array = np.asarray(value, dtype=object if isinstance(value, (list, tuple, str)) else None)
        if array.dtype.kind not in "OUT":
            raise TypeError(f"found elements of type {array.dtype}, expected texts")
        return array
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value
    if form == "bytes":
        array = np.empty((), object)
        if isinstance(value, (bytes, bytearray, memoryview)):
            array[()] = bytes(value)
            return array
        return np.array(value, dtype=object)
    if is_one or (form == "json" and not isinstance(value, (list, tuple, np.ndarray))):
        array = np.empty((), object)
        array[()] = value
        return array
    values = list(value)
    array = np.empty(len(values), object)
    for index, element in enumerate(values):
        array[index] = element
    return array


def encoded(form: str, inner: np.dtype[Any] | None, values: np.ndarray[Any, Any]) -> Any:
    """Elements of variable length as the compiled part takes them: texts and bytes as they are, of others the bytes of each."""
    if form in ("string", "bytes"):
        return values
    if values.size and not any(values.strides):
        # One that was broadcast.
        return [_encoded(form, inner, values.flat[0])] * values.size
    return [_encoded(form, inner, value) for value in values.flat]


def _encoded(form: str, inner: np.dtype[Any] | None, value: Any) -> bytes:
    if form == "list":
        array = np.asarray(value, dtype=inner)
        if array.ndim != 1:
            raise ValueError(f"found an element of {array.ndim} dimensions, expected a list")
        return array.tobytes()
    return b"" if value is None else json.dumps(_to_json(value), separators=(",", ":"), allow_nan=False).encode()


def _to_json(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, dict):
        return {key: _to_json(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_json(element) for element in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return _to_json(value.tolist())
    return value
