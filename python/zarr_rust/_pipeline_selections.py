"""What a batch selects of its chunks, and of the memory that is read into or written from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def by_shape(items: list[Any]) -> Iterable[tuple[tuple[int, ...], list[int]]]:
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


def are_boxes(items: list[Any]) -> bool:
    """Whether a box is selected of each chunk that is one of the output too, and there are other chunks beside it."""
    boxes = all(
        isinstance(chunk, tuple)
        and isinstance(out, tuple)
        and all(isinstance(part, (slice, int)) for part in chunk)
        and all(isinstance(part, slice) and part.stop is not None and part.step in (None, 1) for part in out)
        for _, _, chunk, out, _ in items
    )
    return boxes and (len(items) > 1 or items[0][3] != alone(items[0])[3])


def alone(item: Any) -> Any:
    """A chunk whose output is a view of its own."""
    return (*item[:3], tuple(slice(0, part.stop - (part.start or 0)) for part in item[3]), item[4])


def indices_of(selection: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The elements that are selected of a chunk, by their numbers in C order."""
    count = int(np.prod(shape, dtype=np.int64))
    return np.asarray(np.arange(count, dtype=np.int64).reshape(shape)[selection])


def positions(
    points: list[np.ndarray[Any, Any]], shape: tuple[int, ...]
) -> tuple[list[np.ndarray[Any, Any]], list[int]]:
    """Their positions along each axis, if the chunks lie one after the other along the first, and the number of the first of each chunk."""
    positions = [np.stack(np.unravel_index(indices.reshape(-1), shape)) for indices in points]
    for number, position in enumerate(positions):
        position[0] += number * shape[0]
    first = np.cumsum([0, *(indices.size for indices in points)])[:-1].tolist()
    return [np.ascontiguousarray(axis, dtype=np.int64) for axis in np.concatenate(positions, axis=1)], first


def part_of(value: np.ndarray[Any, Any], item: Any, indices: np.ndarray[Any, Any], drop_axes: tuple[int, ...]) -> Any:
    """The elements that are written to those of a chunk, as zarr-python takes them from a value."""
    part = value if value.ndim == 0 else value[item[3]]
    if drop_axes and value.ndim:
        part = part[tuple(None if axis in drop_axes else slice(None) for axis in range(len(item[1].shape)))]
    return np.broadcast_to(part, indices.shape).reshape(-1)


def of_variable_length(form: str, elements: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Elements of variable length as the objects that zarr-python would encode, or texts, which need not be objects."""
    return elements if form == "string" and elements.dtype.kind in "TU" else elements.astype(object, copy=False)
