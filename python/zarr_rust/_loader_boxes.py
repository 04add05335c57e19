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
                raise ValueError(f"shape: found {length} along dimension {dimension}, expected a multiple of {step}, the ratio of resolutions")
            if length > size:
                raise ValueError(f"shape: found {length} along dimension {dimension}, of which there are {size} elements")

    def check(self, starts: Ints) -> None:
        """Refuses positions at which no box lies."""
        steps, last = np.array(self.steps), np.array(self.extent) - self.lens
        bad = np.flatnonzero(((starts < 0) | (starts > last) | (starts % steps != 0)).any(axis=1))
        if len(bad):
            found = tuple(starts[bad[0]].tolist())
            raise ValueError(f"where: found a box at {found}, expected from 0 to {tuple(last.tolist())} in multiples of {tuple(self.steps)}")


def _rooms(space: Space, regions: list[list[tuple[int, int]]], distances: Sequence[int]) -> tuple[Ints, Ints]:
    """Of each region that has room for a box, the first position and how many there are along each dimension at these distances."""
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


class MaskedTiles(Tiles):
    """Those boxes at equal distances in whose middle a mask is true."""

    def __init__(self, space: Space, mask: np.ndarray[Any, Any], strides: Sequence[int]) -> None:
        super().__init__(space, [[(0, size) for size in space.extent]], strides)
        middles = []
        for dimension, (count, length) in enumerate(zip(self.counts[0], space.lens)):
            middle = np.arange(count, dtype=np.int64) * self._strides[dimension] + length // 2
            middles.append(np.minimum(middle * mask.shape[dimension] // space.full[dimension], mask.shape[dimension] - 1))
        self._tiles = np.flatnonzero(mask[np.ix_(*middles)])

    def count(self) -> int:
        return len(self._tiles)

    def starts(self, units: Ints, epoch: int) -> Ints:
        return super().starts(self._tiles[units], epoch)


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
    """Random boxes whose middles lie where an array of weights, or a mask, says, as often as it says."""

    def __init__(self, space: Space, weights: np.ndarray[Any, Any], samples: int, seed: int) -> None:
        self._space, self._shape = space, weights.shape
        self._cells = np.flatnonzero(weights)
        found = weights.ravel()[self._cells].astype(np.float64)
        if not np.isfinite(found).all() or (found < 0).any():
            raise ValueError("where: found weights that are negative, infinite or NaN")
        self._ends = np.cumsum(found)
        self._samples, self._seed = samples, seed

    def count(self) -> int:
        return self._samples if len(self._cells) else 0

    def starts(self, units: Ints, epoch: int) -> Ints:
        space, key = self._space, key_of(self._seed, epoch, 2)
        drawn = np.searchsorted(self._ends, random(key_of(key, 0), units) * self._ends[-1], side="right")
        cells = np.unravel_index(self._cells[np.minimum(drawn, len(self._cells) - 1)], self._shape)
        starts = np.empty((len(units), len(space.lens)), np.int64)
        for dimension, (cell, count, size) in enumerate(zip(cells, self._shape, space.full)):
            # A cell stands for as many elements as the array has for it.
            low, high = -(-cell * size // count), -(-(cell + 1) * size // count)
            middle = low + below(key_of(key, dimension + 1), units, np.maximum(high - low, 1))
            length, step = space.lens[dimension], space.steps[dimension]
            first = np.clip(middle - length // 2, 0, space.extent[dimension] - length)
            starts[:, dimension] = first // step * step
        return starts


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
    if isinstance(where, (list, tuple)) and where and isinstance(where[0], (list, tuple)) and isinstance(where[0][0], slice):
        regions = [_region(space, number, region) for number, region in enumerate(where)]
        return Tiles(space, regions, distances) if samples is None else Sampled(space, regions, samples, seed)
    # A mask may be an array of Zarr, which has as many elements as memory holds.
    array: np.ndarray[Any, Any] = np.asarray(where[...] if isinstance(where, Array) else where)
    if array.dtype.kind in "iu" and array.ndim == 2 and array.shape[1] == ndim:
        if samples is not None or strides is not None:
            raise ValueError("where: positions of boxes go with neither samples= nor stride=")
        starts = array.astype(np.int64)
        space.check(starts)
        return Listed(starts)
    if array.dtype.kind not in "bf" or array.ndim != ndim or 0 in array.shape:
        found = f"{array.dtype} of shape {array.shape}"
        raise ValueError(
            f"where: found {found}, expected a mask or weights of {ndim} dimensions, regions as tuples of slices, or positions of shape (n, {ndim})"
        )
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
