"""The boxes of an epoch: where they may lie, and which of them come."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from zarr_rust._array import Array
from zarr_rust._loader_order import MAX_UNITS, Ints, below, key_of, random


class Space:
    """The positions at which boxes may lie: their first indices along each dimension, in multiples of ``steps``."""

    def __init__(self, extent: Sequence[int], lens: Sequence[int], steps: Sequence[int], full: Sequence[int]) -> None:
        #: The number of elements along each dimension that all arrays have, the lengths of a box, and the shape of the first array.
        self.extent, self.lens, self.steps, self.full = list(extent), list(lens), list(steps), list(full)
        for dimension, (size, length, step) in enumerate(zip(self.extent, self.lens, self.steps)):
            if length < 1 or length % step:
                expected = f"a multiple of {step}, the ratio of resolutions"
                raise ValueError(f"shape: found {length} along dimension {dimension}, expected {expected}")
            if length > size:
                raise ValueError(f"shape: found {length} along dimension {dimension}, of which there are {size} elements")

    def check(self, starts: Ints) -> None:
        """Refuses positions at which no box lies."""
        steps, last = np.array(self.steps), np.array(self.extent) - self.lens
        bad = np.flatnonzero(((starts < 0) | (starts > last) | (starts % steps != 0)).any(axis=1))
        if len(bad):
            found = tuple(starts[bad[0]].tolist())
            expected = f"from 0 to {tuple(last.tolist())} in multiples of {tuple(self.steps)}"
            raise ValueError(f"where: found a box at {found}, expected {expected}")


def _rooms(space: Space, regions: list[list[tuple[int, int]]], distances: Sequence[int]) -> tuple[Ints, Ints]:
    """The first position of each region that has room for a box, and the number of positions along each dimension at these distances."""
    first, counts = [], []
    for region in regions:
        starts = [-(-start // step) * step for (start, _), step in zip(region, space.steps)]
        room = [end - start - length for (_, end), start, length in zip(region, starts, space.lens)]
        if all(left >= 0 for left in room):
            first.append(starts)
            counts.append([left // distance + 1 for left, distance in zip(room, distances)])
    shape = (len(first), len(space.lens))
    return np.array(first, np.int64).reshape(shape), np.array(counts, np.int64).reshape(shape)


class Positions(Protocol):
    """The units of an epoch, and where the box of each lies."""

    def count(self) -> int:
        """How many boxes there are."""
        ...

    def starts(self, units: Ints, epoch: int) -> Ints:
        """The first indices of boxes."""
        ...


class Tiles:
    """Boxes of regions at equal distances, each once."""

    def __init__(self, space: Space, regions: list[list[tuple[int, int]]], strides: Sequence[int]) -> None:
        self._strides = np.array(strides, np.int64)
        self.first, self.counts = _rooms(space, regions, strides)
        sizes = [math.prod(row) for row in self.counts.tolist()]
        if sum(sizes) > MAX_UNITS:
            raise ValueError(f"there are {sum(sizes)} boxes, more than {MAX_UNITS}: draw some of them by samples=")
        self._ends = np.cumsum(np.array(sizes, np.int64))

    def count(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def starts(self, units: Ints, epoch: int) -> Ints:
        region = np.searchsorted(self._ends, units, side="right")
        rest = units - np.where(region > 0, self._ends[region - 1], 0)
        starts = np.empty((len(units), self.first.shape[1]), np.int64)
        for dimension in reversed(range(self.first.shape[1])):
            counts = self.counts[region, dimension]
            starts[:, dimension] = self.first[region, dimension] + rest % counts * self._strides[dimension]
            rest = rest // counts
        return starts


class Listed:
    """Boxes at given positions, each once."""

    def __init__(self, starts: Ints) -> None:
        self._starts = starts

    def count(self) -> int:
        return len(self._starts)

    def starts(self, units: Ints, epoch: int) -> Ints:
        return self._starts[units]


class Cells:
    """The boxes in whose middle are cells of a mask, or of weights, at positions that are ``distances`` apart along each dimension."""

    def __init__(self, space: Space, shape: Sequence[int], distances: Sequence[int]) -> None:
        self._shape, self._distances = tuple(shape), list(distances)
        #: Along each dimension the first position for each cell, and how many there are.
        self._first: list[Ints] = []
        self._counts: list[Ints] = []
        axes = zip(shape, space.full, space.extent, space.lens, distances)
        for count, size, extent, length, distance in axes:
            cells = np.arange(count + 1, dtype=np.int64)
            # The first element of each cell, without a product that is too large: a cell stands for as many elements as the array has for it.
            edges = cells * (size // count) + -(-cells * (size % count) // count)
            first = -(-np.maximum(edges[:-1] - length // 2, 0) // distance)
            end = -(-np.minimum(edges[1:] - length // 2, extent - length + 1) // distance)
            self._first.append(first * distance)
            self._counts.append(np.maximum(end - first, 0))

    def sizes(self, cells: Ints) -> np.ndarray[Any, np.dtype[np.float64]]:
        """How many positions the boxes of cells have, given by their numbers."""
        sizes = np.ones(len(cells))
        step = math.prod(self._shape)
        for count, counts in zip(self._shape, self._counts):
            step //= count
            sizes *= counts[cells // step % count]
        return sizes

    def along(self, dimension: int, cells: Ints) -> tuple[Ints, Ints]:
        """The first position along a dimension for each cell, given by its index there, and how many there are."""
        return self._first[dimension][cells], self._counts[dimension][cells]


class MaskedTiles:
    """Boxes at equal distances, each once, in whose middle a mask is true."""

    def __init__(self, space: Space, mask: np.ndarray[Any, Any], strides: Sequence[int]) -> None:
        self._room, self._shape, self._strides = Cells(space, mask.shape, strides), mask.shape, list(strides)
        cells = np.flatnonzero(mask)
        sizes = self._room.sizes(cells)
        if sizes.sum() > MAX_UNITS:
            raise ValueError(f"where: the mask takes about {sizes.sum():.3g} boxes, more than {MAX_UNITS}: draw some of them by samples=")
        self._cells = cells[sizes > 0]
        self._ends = np.cumsum(sizes[sizes > 0].astype(np.int64))

    def count(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def starts(self, units: Ints, epoch: int) -> Ints:
        number = np.searchsorted(self._ends, units, side="right")
        rest = units - np.where(number > 0, self._ends[number - 1], 0)
        cells = np.unravel_index(self._cells[number], self._shape)
        starts = np.empty((len(units), len(self._shape)), np.int64)
        for dimension in reversed(range(len(self._shape))):
            first, counts = self._room.along(dimension, cells[dimension])
            starts[:, dimension] = first + rest % counts * self._strides[dimension]
            rest = rest // counts
        return starts


class Sampled:
    """Random boxes of regions, where each position is as likely as others."""

    def __init__(self, space: Space, regions: list[list[tuple[int, int]]], samples: int, seed: int) -> None:
        # There may be more positions than can be counted, so that dimensions are drawn one by one.
        self._first, self._counts = _rooms(space, regions, space.steps)
        self._steps = np.array(space.steps, np.int64)
        weights = np.prod(self._counts.astype(np.float64), axis=1)
        self._ends = np.cumsum(weights / max(weights.sum(), 1))
        self._samples, self._seed = samples, seed

    def count(self) -> int:
        return self._samples if len(self._ends) else 0

    def starts(self, units: Ints, epoch: int) -> Ints:
        key = key_of(self._seed, epoch, 1)
        region = np.searchsorted(self._ends, random(key_of(key, 0), units) * self._ends[-1], side="right")
        region = np.minimum(region, len(self._ends) - 1)
        starts = np.empty((len(units), len(self._steps)), np.int64)
        for dimension, step in enumerate(self._steps):
            drawn = below(key_of(key, dimension + 1), units, self._counts[region, dimension])
            starts[:, dimension] = self._first[region, dimension] + drawn * step
        return starts


class Weighted:
    """Random boxes in whose middle a mask is true, each position as likely as others; or cells of weights, as often as they say. Cells that no
    box has in its middle count for nothing."""

    def __init__(self, space: Space, weights: np.ndarray[Any, Any], samples: int, seed: int) -> None:
        self._room, self._shape, self._steps = Cells(space, weights.shape, space.steps), weights.shape, list(space.steps)
        cells = np.flatnonzero(weights)
        sizes = self._room.sizes(cells)
        found = sizes if weights.dtype.kind == "b" else weights.ravel()[cells].astype(np.float64)
        if not np.isfinite(found).all() or (found < 0).any():
            raise ValueError("where: found weights that are negative, infinite or NaN")
        self._cells = cells[sizes > 0]
        with np.errstate(over="ignore"):
            self._ends = np.cumsum(found[sizes > 0])
        if len(self._ends) and not np.isfinite(self._ends[-1]):
            raise ValueError("where: found weights whose sum is infinite")
        self._samples, self._seed = samples, seed

    def count(self) -> int:
        return self._samples if len(self._cells) else 0

    def starts(self, units: Ints, epoch: int) -> Ints:
        key = key_of(self._seed, epoch, 2)
        drawn = np.searchsorted(self._ends, random(key_of(key, 0), units) * self._ends[-1], side="right")
        cells = np.unravel_index(self._cells[np.minimum(drawn, len(self._cells) - 1)], self._shape)
        starts = np.empty((len(units), len(self._shape)), np.int64)
        for dimension, step in enumerate(self._steps):
            first, counts = self._room.along(dimension, cells[dimension])
            starts[:, dimension] = first + below(key_of(key, dimension + 1), units, counts) * step
        return starts


_EXPECTED = "expected a mask or weights of {ndim} dimensions, regions as tuples of slices, or positions of shape (n, {ndim})"


def _is_region(region: Sequence[Any]) -> bool:
    return not region or any(isinstance(axis, slice) for axis in region)


def positions(space: Space, where: Any, strides: Sequence[int] | int | None, samples: int | None, seed: int) -> Positions:
    """The boxes of an epoch, as a caller says it."""
    ndim = len(space.lens)
    if strides is not None and samples is not None:
        raise ValueError("found stride= and samples=, expected one of them")
    if samples is not None and (not isinstance(samples, int) or not 0 < samples <= MAX_UNITS):
        raise ValueError(f"samples={samples!r}: expected a number of boxes")
    distances = list(space.lens) if strides is None else [strides] * ndim if isinstance(strides, int) else list(strides)
    if len(distances) != ndim or any(not isinstance(one, int) or one < 1 or one % step for one, step in zip(distances, space.steps)):
        raise ValueError(f"stride={strides!r}: expected {ndim} numbers, multiples of {tuple(space.steps)}")
    everything = [[(0, size) for size in space.extent]]
    if where is None:
        return Tiles(space, everything, distances) if samples is None else Sampled(space, everything, samples, seed)
    if isinstance(where, (list, tuple)) and where and isinstance(where[0], (list, tuple)) and _is_region(where[0]):
        regions = [_region(space, number, region) for number, region in enumerate(where)]
        return Tiles(space, regions, distances) if samples is None else Sampled(space, regions, samples, seed)
    # A mask may be an array of Zarr, which has as many elements as memory holds.
    try:
        array: np.ndarray[Any, Any] = np.asarray(where[...] if isinstance(where, Array) else where)
    except ValueError as error:
        raise ValueError(f"where: found {type(where).__name__}, {_EXPECTED.format(ndim=ndim)} ({error})") from None
    if array.dtype.kind in "iu" and array.ndim == 2 and array.shape[1] == ndim:
        if samples is not None or strides is not None:
            raise ValueError("where: positions of boxes go with neither samples= nor stride=")
        starts = array.astype(np.int64)
        space.check(starts)
        return Listed(starts)
    if array.dtype.kind not in "bf" or array.ndim != ndim or 0 in array.shape:
        raise ValueError(f"where: found {array.dtype} of shape {array.shape}, {_EXPECTED.format(ndim=ndim)}")
    if any(count > size for count, size in zip(array.shape, space.full)):
        raise ValueError(f"where: found the shape {array.shape}, expected at most that of the first array, {tuple(space.full)}")
    if samples is not None:
        return Weighted(space, array, samples, seed)
    if array.dtype.kind == "f":
        raise ValueError("where: weights say how often boxes are drawn: expected samples=, the number of boxes of an epoch")
    return MaskedTiles(space, array, distances)


def _region(space: Space, number: int, region: Sequence[slice]) -> list[tuple[int, int]]:
    if len(region) != len(space.lens) or any(not isinstance(axis, slice) or axis.step not in (None, 1) for axis in region):
        raise ValueError(f"where: region {number}: found {region!r}, expected {len(space.lens)} slices of step 1")
    return [axis.indices(size)[:2] for axis, size in zip(region, space.extent)]
