"""Batches of arrays for training: boxes and blocks of rows, in random order, read ahead.

A loader is a loop over the batches of an epoch. Its order follows from the seed and the epoch alone; processes that train together read
parts of one epoch, each unit once. Batches are read ahead on threads that hold no lock of the interpreter, each chunk of a batch once, from
files and from buckets. It needs neither torch nor jax.

>>> import numpy as np, zarr_rust
>>> from zarr_rust.loader import Boxes
>>> images = zarr_rust.create_array("memory:", data=np.arange(64 * 64, dtype="f4").reshape(64, 64), chunks=(16, 16))
>>> loader = Boxes(images, shape=(8, 8), batch=4, seed=7)
>>> len(loader), {batch.shape for batch in loader}
(16, {(4, 8, 8)})
>>> [step for step, batch in zip(range(2), loader)], loader.state_dict()["batch"]
([0, 1], 2)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from zarr_rust._array import Array
from zarr_rust._dataset import Variable
from zarr_rust._loader_boxes import Positions, Space, positions
from zarr_rust._loader_epochs import Box, Loader
from zarr_rust._loader_order import Ints, Order, Share, key_of, permuted

__all__ = ["Boxes", "Rows"]

Arrays = Array | Variable | Sequence[Array | Variable] | Mapping[str, Array | Variable]


class Boxes(Loader):
    """Batches of boxes of one or several arrays.

    ``arrays`` is an array or a variable of a data set, a sequence of them or a mapping from names; batches are an array, a tuple or a dict
    in the same way. Arrays step together: they have the same shape along the dimensions of ``shape``, or one that is smaller or larger by
    an integer factor, as inputs and targets of other resolution have; boxes of these are smaller or larger by the factor. ``shape`` is that
    of a box of the first array, along its first dimensions; ``None`` takes all of a dimension, and so do further dimensions.

    An epoch has each box of a grid of boxes once, ``stride`` apart, by default ``shape``, without those that reach over the end; or with
    ``samples`` so many boxes at random positions. ``where`` says which. A mask, a boolean array of the shape of the first array or of lower
    resolution, takes boxes in whose middle it is true; at the ends of the array, where no box has its middle, it says nothing. A list of
    regions, tuples of slices, takes boxes within one of them, and a box that two regions have comes twice. Weights, an array of floats like
    a mask, draw ``samples`` boxes as often as they say. An array of integers of shape ``(n, dimensions)`` has the first indices of boxes.

    ``seed`` and the epoch say the order; with ``shuffle=False`` it is that of regions, or of cells of the mask, and of the positions in each.
    ``rank`` of ``world`` processes, ``"env"`` for ``RANK`` and ``WORLD_SIZE`` in the environment, and ``worker`` of ``workers`` in each of
    them, ``"torch"`` for what torch says, take turns: each box is read by one of them. ``drop_last`` leaves out the batch that is not whole,
    and boxes that not all processes would have, so that all have as many batches.

    Up to ``prefetch`` batches, or as many as fit in ``memory``, are read ahead. ``out`` is a list of memory, each of the form of a batch, in
    which batches are read by turns, such as pinned memory: a batch is valid until the next is asked for. One loop at a time has that memory:
    a loop that begins ends the one before. ``to`` is ``"numpy"``, ``"torch"`` (``torch.from_numpy``), ``"dlpack"``, or a function of an array
    of numpy.
    """

    def __init__(
        self,
        arrays: Arrays,
        shape: int | Sequence[int | None],
        batch: int,
        *,
        where: Any = None,
        stride: int | Sequence[int] | None = None,
        samples: int | None = None,
        seed: int = 0,
        shuffle: bool = True,
        drop_last: bool = False,
        rank: int | str = 0,
        world: int | None = None,
        worker: int | str = 0,
        workers: int | None = None,
        prefetch: int = 4,
        memory: int | str = "1GiB",
        out: Sequence[Any] | None = None,
        to: str | Callable[[Any], Any] = "numpy",
    ) -> None:
        super().__init__(
            arrays, seed=seed, rank=rank, world=world, worker=worker, workers=workers, prefetch=prefetch, memory=memory, out=out, to=to
        )
        if not isinstance(batch, int) or batch < 1:
            raise ValueError(f"batch={batch!r}: expected a number of boxes")
        self._batch, self._drop_last, self._shuffle = batch, drop_last, shuffle
        given = [shape] if isinstance(shape, int) else list(shape)
        shapes = [list(handle.shape) for handle in self._sources.handles]
        if not given or any(len(one) < len(given) for one in shapes):
            raise ValueError(f"shape={shape!r}: expected as many lengths as dimensions, or fewer, but at least one")
        self._ratios = [self._ratio(number, one, shapes[0], len(given)) for number, one in enumerate(shapes)]
        first = shapes[0][: len(given)]
        steps = [math.lcm(*(ratio[axis][1] for ratio in self._ratios)) for axis in range(len(given))]
        # Elements that all arrays have.
        extent = [
            min(one[axis] * ratio[axis][1] // ratio[axis][0] for one, ratio in zip(shapes, self._ratios)) for axis in range(len(given))
        ]
        lens = [size // step * step if length is None else length for length, size, step in zip(given, extent, steps)]
        if any(not isinstance(length, int) for length in lens):
            raise TypeError(f"shape={shape!r}: expected integers, or None for all of a dimension")
        self._space = Space(extent, lens, steps, first)
        self._positions: Positions = positions(self._space, where, stride, samples, seed)
        if self._positions.count() == 0:
            raise ValueError("where: found room for no box")
        #: The lengths of boxes, and the shapes of batches.
        self._lens = [
            [length * up // down for length, (up, down) in zip(lens, ratio)] + one[len(given) :]
            for one, ratio in zip(shapes, self._ratios)
        ]
        self._shapes = [[batch, *of_array] for of_array in self._lens]
        self._check_out()

    def _ratio(self, number: int, shape: list[int], first: list[int], ndim: int) -> list[tuple[int, int]]:
        """How many elements of an array, and of the first one, have the same size along each dimension."""
        ratio = []
        for axis in range(ndim):
            size, of_first = shape[axis], first[axis]
            up, down = max(1, round(size / of_first)), max(1, round(of_first / size))
            # Levels of pyramids are rounded up or down.
            fits = of_first in (size // up, -(-size // up)) if up > 1 else size in (of_first // down, -(-of_first // down))
            if not fits:
                raise ValueError(
                    f"{self._sources.name(number)}: found {size} elements along dimension {axis}, expected {of_first}, those of the first "
                    "array, or so many times more or fewer"
                )
            ratio.append((up, down))
        return ratio

    def _order(self, epoch: int) -> Order:
        return Order(self._positions.count(), key_of(self._seed, epoch, 0), self._shuffle)

    def _batches(self, share: Share, epoch: int) -> _BoxBatches:
        return _BoxBatches(self, share, epoch)

    def starts(self, batch: int) -> Ints:
        """The first indices of the boxes of a batch of the epoch, in elements of the first array: one row for each box."""
        share, _, number = self._by_number(batch, self.epoch)
        return self._batches(share, self.epoch).starts(number, number + 1)


class _BoxBatches:
    """The batches of boxes of an epoch, of one share."""

    together = 1
    is_direct = True

    def __init__(self, loader: Boxes, share: Share, epoch: int) -> None:
        self._loader, self._share, self._epoch = loader, share, epoch
        self._order = loader._order(epoch)
        self._units = self._order.len_of_share(share, loader._drop_last)
        self.count = self._units // loader._batch if loader._drop_last else -(-self._units // loader._batch)

    def starts(self, first: int, end: int) -> Ints:
        size = self._loader._batch
        units = self._order.of_share(self._share, first * size, min(end * size, self._units))
        return self._loader._positions.starts(units, self._epoch)

    def boxes(self, first: int, end: int) -> list[list[Box]]:
        starts = self.starts(first, end).tolist()
        boxes = []
        for lens, ratio in zip(self._loader._lens, self._loader._ratios):
            rest = [0] * (len(lens) - len(ratio))
            boxes.append([([at * up // down for at, (up, down) in zip(start, ratio)] + rest, lens) for start in starts])
        return boxes

    def rows(self, first: int, end: int) -> None:
        return None


class Rows(Loader):
    """Batches of blocks of rows of one or several arrays, along their first dimension: samples of tables, of embeddings, of single cells.

    A batch has ``blocks_per_batch`` blocks of ``block`` rows that lie side by side, since reading rows one by one is slow. Blocks come in
    random order. With ``shuffle_buffer`` that many rows, as whole batches, are read together, and each of these batches has random rows of
    them. An epoch has each row once.
    Arrays step together: all have as many rows. The other arguments are those of :class:`Boxes`; ``drop_last`` leaves out the rows that are
    no whole block as well.

    >>> import numpy as np, zarr_rust
    >>> from zarr_rust.loader import Rows
    >>> root = zarr_rust.create_group("memory:")
    >>> x = root.create_array("x", data=np.arange(100, dtype="f4").reshape(50, 2), chunks=(10, 2))
    >>> y = root.create_array("y", data=np.arange(50, dtype="i2"), chunks=(10,))
    >>> loader = Rows({"x": x, "y": y}, block=5, blocks_per_batch=2, shuffle_buffer=20, seed=1)
    >>> sorted(row for batch in loader for row in batch["y"].tolist()) == list(range(50))
    True
    """

    def __init__(
        self,
        arrays: Arrays,
        block: int = 32,
        blocks_per_batch: int = 4,
        *,
        shuffle_buffer: int = 0,
        seed: int = 0,
        shuffle: bool = True,
        drop_last: bool = False,
        rank: int | str = 0,
        world: int | None = None,
        worker: int | str = 0,
        workers: int | None = None,
        prefetch: int = 4,
        memory: int | str = "1GiB",
        out: Sequence[Any] | None = None,
        to: str | Callable[[Any], Any] = "numpy",
    ) -> None:
        super().__init__(
            arrays, seed=seed, rank=rank, world=world, worker=worker, workers=workers, prefetch=prefetch, memory=memory, out=out, to=to
        )
        for name, value, least in (("block", block, 1), ("blocks_per_batch", blocks_per_batch, 1), ("shuffle_buffer", shuffle_buffer, 0)):
            if not isinstance(value, int) or value < least:
                raise ValueError(f"{name}={value!r}: expected a number from {least}")
        shapes = [list(handle.shape) for handle in self._sources.handles]
        for number, shape in enumerate(shapes):
            if shape[0] != shapes[0][0]:
                raise ValueError(f"{self._sources.name(number)}: found {shape[0]} rows, expected {shapes[0][0]}, those of the first array")
        self._rows, self._block, self._blocks_per_batch = shapes[0][0], block, blocks_per_batch
        self._drop_last, self._shuffle, self._buffer = drop_last, shuffle, shuffle_buffer
        self._size = block * blocks_per_batch
        self._shapes = [[self._size, *shape[1:]] for shape in shapes]
        self._check_out()

    def _batches(self, share: Share, epoch: int) -> _RowBatches:
        return _RowBatches(self, share, epoch)


class _RowBatches:
    """The batches of blocks of an epoch, of one share."""

    def __init__(self, loader: Rows, share: Share, epoch: int) -> None:
        self._loader, self._share, self._epoch = loader, share, epoch
        blocks = loader._rows // loader._block if loader._drop_last else -(-loader._rows // loader._block)
        self._order = Order(blocks, key_of(loader._seed, epoch, 0), loader._shuffle)
        self._blocks = self._order.len_of_share(share, loader._drop_last)
        size = loader._blocks_per_batch
        self.count = self._blocks // size if loader._drop_last else -(-self._blocks // size)
        self.together = max(1, loader._buffer // loader._size)
        self.is_direct = loader._buffer == 0

    def _blocks_of(self, first: int, end: int) -> list[tuple[int, int]]:
        """The first row and the rows of each block of batches."""
        loader = self._loader
        size = loader._blocks_per_batch
        units = self._order.of_share(self._share, first * size, min(end * size, self._blocks))
        return [(at, min(loader._block, loader._rows - at)) for at in (units * loader._block).tolist()]

    def boxes(self, first: int, end: int) -> list[list[Box]]:
        blocks = self._blocks_of(first, end)
        return [[([at, *([0] * (len(shape) - 1))], [rows, *shape[1:]]) for at, rows in blocks] for shape in self._loader._shapes]

    def rows(self, first: int, end: int) -> list[Ints] | None:
        if self.is_direct:
            return None
        count, size = sum(rows for _, rows in self._blocks_of(first, end)), self._loader._size
        # Each share has its own order, so that processes do not mix rows in the same way.
        order = permuted(key_of(self._loader._seed, self._epoch, 3, self._share.index, first), np.arange(count), count)
        return [order[at : at + size] for at in range(0, count, size)]
