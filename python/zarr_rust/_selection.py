"""The kinds of indexing, with the meaning that zarr-python gives them."""

from __future__ import annotations

import numbers
import operator
from typing import Any, NamedTuple

import numpy as np

_LARGEST = 2**63 - 1


class Selection(NamedTuple):
    """A selection as the compiled part takes it."""

    kind: str
    parts: tuple[Any, ...]
    #: The shape of the result where it is not that of the selection: of points in several dimensions.
    shape: tuple[int, ...] | None = None


def split_fields(selection: Any) -> tuple[list[str] | None, Any]:
    """The fields of structs that an index names, and the rest of it."""
    if isinstance(selection, str):
        return [selection], ()
    if isinstance(selection, list) and selection and all(isinstance(part, str) for part in selection):
        return list(selection), ()
    if isinstance(selection, tuple):
        names = [part for part in selection if isinstance(part, str)]
        if names:
            return names, tuple(part for part in selection if not isinstance(part, str))
    return None, selection


def of_index(selection: Any, shape: tuple[int, ...]) -> Selection:
    """``array[selection]``: points if all are lists or numbers, else the outer product of at most one list with ranges."""
    parts = selection if isinstance(selection, tuple) else (selection,)
    lists = [part for part in parts if _is_list(part)]
    if len(parts) == 1 and lists and _array(parts[0]).dtype == bool and _array(parts[0]).ndim == len(shape):
        return vectorized(parts[0], shape)
    numbers_only = len(parts) == len(shape) and all(_is_list(part) or _is_number(part) for part in parts)
    if lists and numbers_only and not any(_array(part).dtype == bool for part in lists):
        return vectorized(parts, shape)
    if len(lists) > 1 and len(lists) < len(shape):
        raise IndexError("several lists beside ranges: use oindex for their outer product, vindex for points")
    return orthogonal(parts)


def basic(selection: Any) -> Selection:
    """Numbers and ranges."""
    parts = selection if isinstance(selection, tuple) else (selection,)
    for part in parts:
        if _is_list(part):
            raise IndexError("found a list, expected numbers and ranges")
    return orthogonal(parts)


def orthogonal(selection: Any) -> Selection:
    """The outer product of numbers, ranges, lists of positions and masks of one axis each."""
    parts = selection if isinstance(selection, tuple) else (selection,)
    return Selection("axes", tuple(_part(part) for part in parts))


def blocks(selection: Any) -> Selection:
    """Whole chunks (shards, if there are any), by numbers and ranges."""
    parts = selection if isinstance(selection, tuple) else (selection,)
    for part in parts:
        if _is_list(part) or (isinstance(part, slice) and part.step not in (None, 1)):
            raise IndexError("chunks are selected by numbers and ranges of step 1")
    return Selection("blocks", tuple(_part(part) for part in parts))


def vectorized(selection: Any, shape: tuple[int, ...]) -> Selection:
    """Points: a number or list for each axis, which are broadcast; or a mask with the shape of the array."""
    parts = selection if isinstance(selection, tuple) else (selection,)
    if len(parts) == 1 and _is_list(parts[0]):
        mask = _array(parts[0])
        if mask.dtype == bool:
            return Selection("mask", (_mask(mask),))
    if len(parts) != len(shape):
        raise IndexError(f"found {len(parts)} lists of coordinates, expected {len(shape)}, one for each dimension")
    lists = []
    for part in parts:
        if not (_is_list(part) or _is_number(part)):
            raise IndexError(f"found {part!r}, expected lists of coordinates or a mask of the whole array")
        lists.append(_positions(_array([part] if _is_number(part) else part)))
    try:
        lists = list(np.broadcast_arrays(*lists))
    except ValueError as error:
        raise IndexError(f"lists of coordinates that do not fit: {error}") from None
    # A point without dimensions is a list of one, as in zarr-python.
    shape_of_points = (lists[0].shape or (1,)) if lists else (1,)
    return Selection("points", tuple(np.ascontiguousarray(part).reshape(-1) for part in lists), shape_of_points)


def coordinates(selection: Any, shape: tuple[int, ...]) -> Selection:
    """Points, by a number or list for each axis."""
    parts = selection if isinstance(selection, tuple) else (selection,)
    if any(_is_list(part) and _array(part).dtype == bool for part in parts):
        raise IndexError("found a mask, expected lists of coordinates")
    return vectorized(parts, shape)


def mask(selection: Any, shape: tuple[int, ...]) -> Selection:
    """The elements where a mask of the whole array is true."""
    parts = selection if isinstance(selection, tuple) else (selection,)
    if len(parts) != 1 or not _is_list(parts[0]) or _array(parts[0]).dtype != bool:
        raise IndexError(f"found {selection!r}, expected a mask of the whole array")
    return vectorized(parts, shape)


def _is_number(part: Any) -> bool:
    if isinstance(part, np.ndarray):
        return part.ndim == 0 and part.dtype.kind in "iu"
    return isinstance(part, numbers.Integral) and not isinstance(part, bool)


def _is_list(part: Any) -> bool:
    if isinstance(part, np.ndarray):
        return part.ndim > 0
    if part is None or isinstance(part, (slice, type(Ellipsis), str, bool, np.bool_)) or _is_number(part):
        return False
    return isinstance(part, (list, tuple, range)) or hasattr(part, "__array__")


def _array(part: Any) -> np.ndarray[Any, Any]:
    return np.asarray(part)


def _positions(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.size == 0 and array.dtype.kind == "f":
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise IndexError(f"found a list of {array.dtype}, expected integers or bools")
    if array.dtype.kind == "u" and array.size and int(array.max()) > _LARGEST:
        raise IndexError(f"index {array.max()} is out of bounds")
    # The compiled part takes elements that lie where their data type asks for.
    return np.require(array, np.int64, ["C", "A"])


def _mask(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A mask whose bytes are 0 and 1: those of numpy that came from elsewhere may have others."""
    truths: np.ndarray[Any, Any] = np.ascontiguousarray(array).view(np.uint8) != 0
    return truths


def _part(part: Any) -> Any:
    if part is Ellipsis:
        return part
    if isinstance(part, slice):
        bounds = [None if bound is None else _clipped(operator.index(bound)) for bound in (part.start, part.stop, part.step)]
        if bounds[2] == 0:
            raise ValueError("slice step cannot be zero")
        return slice(*bounds)
    if _is_number(part):
        return _clipped(operator.index(part))
    if not _is_list(part):
        what = "a new axis" if part is None else repr(part)
        raise IndexError(f"found {what}, expected numbers, ranges, lists, masks or an ellipsis")
    array = _array(part)
    if array.ndim != 1:
        raise IndexError(f"found a list of {array.ndim} dimensions, expected 1: each axis has one of its own")
    return _mask(array) if array.dtype == bool else _positions(array)


def _clipped(number: int) -> int:
    """Numbers beyond 64 bits are outside of any array."""
    return max(-_LARGEST, min(_LARGEST, number))
