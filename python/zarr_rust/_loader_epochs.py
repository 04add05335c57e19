"""Epochs of loaders: batches that are read ahead, in memory of the caller or new, and where a loop stands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from zarr_rust import _core
from zarr_rust._array import Array
from zarr_rust._dataset import Variable
from zarr_rust._loader_order import Ints, Share, share_of
from zarr_rust._sizes import size_in_bytes
from zarr_rust.errors import ZarrError

#: First indices and lengths of a box.
Box = tuple[list[int], list[int]]
_STATE = 1


class Batches(Protocol):
    """The batches of an epoch for one share."""

    #: How many batches there are.
    count: int
    #: How many batches are read together.
    together: int
    #: Whether they are read to where they are given: apart, and in the order of their rows.
    is_direct: bool

    def boxes(self, first: int, end: int) -> list[list[Box]]:
        """For each array, the boxes of so many batches."""
        ...

    def rows(self, first: int, end: int) -> list[Ints] | None:
        """For each batch, the rows that it has of those that were read; ``None`` if they are read to where they are given."""
        ...


class Sources:
    """The arrays of a loader, which step together, and the form of its batches."""

    def __init__(self, given: Any) -> None:
        self._names: list[str] | None = None
        self._is_one = isinstance(given, (Array, Variable))
        if isinstance(given, Mapping):
            self._names, given = list(given), list(given.values())
        elif self._is_one:
            given = [given]
        self.nodes: list[Array | Variable] = list(given)
        if not self.nodes:
            raise ValueError("found no arrays, expected at least one")
        for number, node in enumerate(self.nodes):
            if not isinstance(node, (Array, Variable)):
                raise TypeError(f"{self.name(number)}: found {type(node).__name__}, expected an Array or a Variable")
        self._handles: list[_core.Array] | None = None
        for number, handle in enumerate(self.handles):
            if handle.form not in ("fixed", "absent"):
                raise TypeError(f"{self.name(number)}: elements of type {handle.data_type}, expected elements of fixed size")
            if not handle.shape or 0 in handle.shape:
                raise ValueError(f"{self.name(number)}: found the shape {tuple(handle.shape)}, expected dimensions with elements")

    def name(self, number: int) -> str:
        """The name of an array in messages."""
        if self._names is not None:
            return f"array {self._names[number]!r}"
        return "the array" if self._is_one else f"array {number}"

    @property
    def handles(self) -> list[_core.Array]:
        if self._handles is None:
            self._handles = [self._handle(number) for number in range(len(self.nodes))]
        return self._handles

    def _handle(self, number: int) -> _core.Array:
        node = self.nodes[number]
        if isinstance(node, Array):
            return node._core
        handle = node._dataset._core.array_of(node.name)
        if handle is None:
            raise TypeError(f"{self.name(number)}: values that are joined, or missing without a value that says so, are in no array")
        return handle

    def __getstate__(self) -> dict[str, Any]:
        for number, node in enumerate(self.nodes):
            if isinstance(node, Variable):
                raise TypeError(f"{self.name(number)}: a variable does not go to other processes: open the data set there, or take arrays")
        return {**self.__dict__, "_handles": None}

    def batch(self, arrays: Sequence[Any]) -> Any:
        """Arrays in the form in which the caller gave theirs."""
        if self._names is not None:
            return dict(zip(self._names, arrays))
        return arrays[0] if self._is_one else tuple(arrays)

    def arrays_of(self, batch: Any) -> list[np.ndarray[Any, Any]]:
        """The arrays of memory that has the form of a batch."""
        if self._names is not None:
            if not isinstance(batch, Mapping) or set(batch) != set(self._names):
                raise ValueError(f"out: expected a mapping with the names {', '.join(map(repr, self._names))}")
            return [batch[name] for name in self._names]
        return [batch] if self._is_one else list(batch)


class Out:
    """Memory of the caller, in which the batches of one loop at a time are read."""

    def __init__(self, batches: Sequence[Any]) -> None:
        self.batches = list(batches)
        #: The reads of the loop that has the memory, and of those that it ends at present. They stay when the loop is dropped, which may wait
        #: for them in another thread, or be interrupted.
        self._reads: list[_core.Reads] = []

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_reads": []}

    def give_to(self, reads: _core.Reads) -> None:
        """Ends the reads of the loops that had the memory, and waits for those that have begun. If the wait is interrupted, they have it
        still."""
        # Of threads that ask at the same time, the last one to append has the memory: there is no lock that a fork could leave locked.
        self._reads.append(reads)
        known = list(self._reads)
        if reads in known:
            for other in known[: known.index(reads)]:
                other.close()
                try:
                    self._reads.remove(other)
                except ValueError:
                    # Another thread has ended them too.
                    pass


def converter(to: str | Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function that makes of an array of numpy what batches have."""
    if callable(to):
        return to
    if to == "numpy":
        return lambda array: array
    if to == "torch":
        return import_module("torch").from_numpy
    if to == "dlpack":
        return lambda array: array.__dlpack__()
    raise ValueError(f'to={to!r}: expected "numpy", "torch", "dlpack" or a function of an array')


def _numbers(share: Share | None) -> list[int] | None:
    return None if share is None else [share.index, share.count]


class Loader:
    """The base of loaders: their arguments, and where a loop stands."""

    _sources: Sources
    #: The shape of a whole batch of each array.
    _shapes: list[list[int]]

    def __init__(
        self,
        arrays: Any,
        *,
        seed: int,
        rank: int | str,
        world: int | None,
        worker: int | str,
        workers: int | None,
        prefetch: int,
        memory: int | str,
        out: Sequence[Any] | None,
        to: str | Callable[[Any], Any],
    ) -> None:
        self._sources = Sources(arrays)
        if not isinstance(seed, int):
            raise TypeError(f"seed={seed!r}: expected an integer")
        if not isinstance(prefetch, int) or prefetch < 0:
            raise ValueError(f"prefetch={prefetch!r}: expected a number of batches")
        self._seed = seed
        self._place = (rank, world, worker, workers)
        if worker != "torch":
            share_of(*self._place)
        self._prefetch = prefetch
        self._memory = size_in_bytes(memory)
        self._out = None if out is None else Out(out)
        self._to = to
        converter(to)
        self._epoch = 0
        #: Batches of the epoch that were given, and those after which the next loop begins.
        self._given = 0
        self._resumed = 0
        #: The share that a state was loaded for.
        self._share_resumed: Share | None = None
        #: The rows that were read last for a batch that was asked for by its number, with the share, the epoch and the first batch that they
        #: are of. Only of arrays that are read-only, since writes would not be seen.
        self._kept: tuple[Share, int, int, list[np.ndarray[Any, Any]]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None}

    def _batches(self, share: Share, epoch: int) -> Batches:
        raise NotImplementedError

    def _check_out(self) -> None:
        """Checks memory of the caller."""
        if self._out is None:
            return
        if not self._out.batches:
            raise ValueError("out: found no memory, expected that of at least one batch")
        seen: list[np.ndarray[Any, Any]] = []
        for number, batch in enumerate(self._out.batches):
            arrays = self._sources.arrays_of(batch)
            if len(arrays) != len(self._shapes):
                raise ValueError(f"out[{number}]: found {len(arrays)} arrays, expected {len(self._shapes)}")
            for array, shape, handle in zip(arrays, self._shapes, self._sources.handles):
                if not isinstance(array, np.ndarray) or array.dtype != handle.dtype or list(array.shape) != shape:
                    found = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
                    raise ValueError(f"out[{number}]: found {found}, expected an array of {handle.dtype} of shape {tuple(shape)}")
                if not array.flags.c_contiguous or not array.flags.writeable:
                    raise ValueError(f"out[{number}]: expected memory in C order that can be written to")
                if any(np.may_share_memory(array, other) for other in seen):
                    raise ValueError(f"out[{number}]: the memory is that of another array as well")
                seen.append(array)

    def _share(self) -> Share:
        return share_of(*self._place)

    @property
    def epoch(self) -> int:
        """The number of the epoch that the next loop reads, or that a loop reads at present. A loop that ends goes to the next one."""
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """Sets the number of the epoch of the next loop, from which with the seed its order follows: for processes that begin each epoch
        anew, such as workers of torch that are not persistent. After :meth:`load_state_dict` the epoch that was loaded goes on where it
        stood."""
        if not isinstance(epoch, int) or epoch < 0:
            raise ValueError(f"epoch {epoch!r}: expected a number from 0")
        self._kept = None
        if epoch == self._epoch and self._resumed:
            return
        self._epoch, self._given, self._resumed = epoch, 0, 0

    def _by_number(self, number: int, epoch: int) -> tuple[Share, Batches, int]:
        """The share and batches of an epoch, and the number of one of them, from 0."""
        share = self._share()
        batches = self._batches(share, epoch)
        if not -batches.count <= number < batches.count:
            raise IndexError(f"batch {number} of {batches.count}")
        return share, batches, number % batches.count

    def _check_numbers(self) -> None:
        if self._place[2] == "torch":
            raise TypeError('worker="torch": torch gives batches to workers by their numbers itself: leave worker out, or use to_torch()')

    def __len__(self) -> int:
        """The batches of an epoch, of this process."""
        self._check_numbers()
        return self._batches(self._share(), self._epoch).count

    def __iter__(self) -> Iterator[Any]:
        first, share = self._resumed, self._share()
        if first and share != self._share_resumed:
            raise ValueError(
                f"state: found batch {first} of epoch {self._epoch} of share {_numbers(self._share_resumed)}, expected share {_numbers(share)}, "
                "that of this process: workers go on at an epoch, so set_epoch of another one"
            )
        epoch = Epoch(self, self._batches(share, self._epoch), self._epoch, first)
        self._given, self._resumed, self._kept = first, 0, None
        return epoch

    def __getitem__(self, number: int) -> Any:
        """Reads a batch of the epoch: all may be asked for in any order, as torch asks a source of the map style. With ``shuffle_buffer`` the
        rows of all batches that are mixed are read: batches side by side cost the least, since the rows are kept for the next call if all
        arrays are read-only, until a loop begins or :meth:`set_epoch` is called. Writes of others meanwhile are not seen."""
        self._check_numbers()
        number_of_epoch = self._epoch
        share, batches, number = self._by_number(number, number_of_epoch)
        first = number - number % batches.together
        # Other threads may set it meanwhile.
        kept = self._kept
        rows = kept[3] if kept is not None and kept[:3] == (share, number_of_epoch, first) else None
        batch, memory = Epoch(self, batches, number_of_epoch, number, is_alone=True).alone(rows)
        if not batches.is_direct and all(node.read_only for node in self._sources.handles):
            self._kept = (share, number_of_epoch, first, memory)
        return batch

    def state_dict(self) -> dict[str, Any]:
        """Where the loop stands: after the last batch that it gave. Batches that copies of the loader gave, such as those of workers of torch,
        are not counted."""
        share = self._share()
        count = self._batches(share, self._epoch).count
        return {
            "version": _STATE,
            "seed": self._seed,
            "epoch": self._epoch,
            "batch": self._given,
            "batches": count,
            "share": [share.index, share.count],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Has the next loop go on where another stood, in this process or in another one with the same arguments."""
        if state.get("version") != _STATE:
            raise ValueError(f"state: found version {state.get('version')!r}, expected {_STATE}")
        epoch, batch = state["epoch"], state["batch"]
        share = self._share()
        due = {"seed": self._seed, "batches": self._batches(share, epoch).count, "share": [share.index, share.count]}
        for name, expected in due.items():
            found = list(state[name]) if name == "share" else state[name]
            if found != expected:
                raise ValueError(f"state: found {name} {found!r}, expected {expected!r}, that of this loader")
        if not 0 <= batch <= due["batches"]:
            raise ValueError(f"state: found batch {batch!r} of {due['batches']}")
        self._resumed = 0
        self.set_epoch(epoch)
        self._given, self._resumed, self._share_resumed = batch, batch, share

    def to_torch(self) -> Any:
        """The loader as a ``torch.utils.data.IterableDataset``, of which each worker of a ``DataLoader(..., batch_size=None)`` reads its part."""
        from zarr_rust._loader_torch import iterable

        return iterable(self)


class Epoch(Iterator[Any]):
    """A loop over the batches of an epoch, or one batch of it.

    A handler of a signal may raise an exception after each call here, and the loop may go on nevertheless. All that a batch needs therefore
    follows from the number of the next batch, which is counted when nothing can fail any more: each step before may be done again.
    """

    def __init__(self, loader: Loader, batches: Batches, epoch: int, first: int, *, is_alone: bool = False) -> None:
        self._loader = loader
        self._batches = batches
        self._epoch = epoch
        self._end = min(first + 1, batches.count) if is_alone else batches.count
        #: The first batch, and the next one to give.
        self._first = self._next = first
        #: The first batch of the first read.
        self._start = first - first % batches.together
        self._convert = converter(loader._to)
        out = None if is_alone else loader._out
        #: The memory of the caller.
        self._out = None if out is None else [loader._sources.arrays_of(batch) for batch in out.batches]
        self._is_direct = batches.is_direct
        size = sum(math.prod(shape) * handle.dtype.itemsize for shape, handle in zip(loader._shapes, loader._sources.handles))
        size *= batches.together
        # Batches that are read together are one read.
        self._depth = max(1, min(-(-loader._prefetch // batches.together), loader._memory // max(1, size)))
        self._ahead = 0 if loader._prefetch == 0 else self._depth
        if self._out is not None and self._is_direct:
            self._depth = min(self._depth, len(self._out))
            self._ahead = min(self._ahead, len(self._out) - 1)
        self._reads = _core.Reads(1 if is_alone else self._depth)
        #: How many reads there are, and how many have begun.
        self._count = max(0, -(-(self._end - self._start) // batches.together))
        self._unread = 0
        #: By the numbers of reads that have begun, the boxes and the memory of each array.
        self._begun: dict[int, tuple[list[list[Box]], list[np.ndarray[Any, Any]]]] = {}
        #: The read whose batches are given at present: its number, the memory, and for each batch the rows of it, if it has those of several
        #: batches.
        self._ready: tuple[int, list[np.ndarray[Any, Any]], list[Ints] | None] | None = None
        #: Ends the reads when the loop is dropped. If the wait for them is interrupted, they have the memory still, and the next loop waits.
        self._reads_end = None if out is None else _core.ReadsEnd(self._reads)
        if out is not None:
            out.give_to(self._reads)

    def __next__(self) -> Any:
        if self._next >= self._end:
            if self._next == self._batches.count and self._loader._epoch == self._epoch:
                self._loader.set_epoch(self._epoch + 1)
                self._next += 1
            raise StopIteration
        batch = self._batch()
        # There is no call behind this, after which a handler of a signal could raise.
        self._next += 1
        self._loader._given = self._next
        return batch

    def _batch(self) -> Any:
        """The next batch, which comes again if it is asked for again."""
        self._reads.check()
        at, in_read = divmod(self._next - self._start, self._batches.together)
        ready = self._ready
        if ready is None or ready[0] != at:
            # The memory of batches that were given is theirs alone.
            self._ready = None
            ready = self._read(at)
            if not self._is_direct:
                self._ready = ready
        _, memory, rows = ready
        return self._batch_of(memory, None if rows is None else rows[in_read])

    def alone(self, kept: list[np.ndarray[Any, Any]] | None) -> tuple[Any, list[np.ndarray[Any, Any]]]:
        """The only batch, and the memory that it was read to. ``kept`` is such memory, if it is there."""
        if kept is None:
            _, kept, rows = self._read(0)
        else:
            rows = self._batches.rows(*self._of_read(0))
        return self._batch_of(kept, None if rows is None else rows[self._next - self._start]), kept

    def _batch_of(self, arrays: list[np.ndarray[Any, Any]], rows: Ints | None) -> Any:
        if rows is not None:
            arrays = self._gathered(arrays, rows)
        return self._loader._sources.batch([self._convert(array) for array in arrays])

    def _of_read(self, number: int) -> tuple[int, int]:
        """The first batch of a read, and the one after its last."""
        first = self._start + number * self._batches.together
        return first, min(first + self._batches.together, self._batches.count)

    def _read(self, number: int) -> tuple[int, list[np.ndarray[Any, Any]], list[Ints] | None]:
        """Waits for a read, and begins to read what comes after it."""
        for old in [old for old in self._begun if old < number]:
            self._begun.pop(old, None)
        self._begin(number + self._depth)
        first, end = self._of_read(number)
        boxes, memory = self._begun[number]
        failed = self._reads.wait(number)
        if failed is not None:
            of_array, met, error = failed
            # The loop ends here, and its epoch does not.
            located = self._located(error, first, end, of_array, [boxes[of_array][at] for at in met] or boxes[of_array])
            self._reads.close()
            self._next = self._batches.count + 1
            raise located
        rows = self._batches.rows(first, end)
        self._begin(number + 1 + self._ahead)
        return number, memory, rows

    def _begin(self, end: int) -> None:
        """Begins the reads before number ``end``."""
        while self._unread < min(end, self._count):
            number = self._unread
            if number not in self._begun:
                boxes = self._batches.boxes(*self._of_read(number))
                self._begun[number] = (boxes, self._memory(number, boxes))
            boxes, memory = self._begun[number]
            parts = []
            for handle, of_array, array in zip(self._loader._sources.handles, boxes, memory):
                rows = sum(lens[0] for _, lens in of_array)
                parts.append((handle, of_array, array.reshape(rows, *of_array[0][1][1:])))
            self._reads.push(number, parts)
            self._unread = number + 1

    def _memory(self, number: int, boxes: list[list[Box]]) -> list[np.ndarray[Any, Any]]:
        """Memory for the boxes of all arrays of a read, in the shapes of batches."""
        memory = []
        for at, (of_array, shape, handle) in enumerate(zip(boxes, self._loader._shapes, self._loader._sources.handles)):
            rows = sum(math.prod(lens) for _, lens in of_array) // math.prod(shape[1:])
            if self._out is not None and self._is_direct:
                memory.append(self._out[number % len(self._out)][at][:rows])
            else:
                memory.append(np.empty((rows, *shape[1:]), handle.dtype))
        return memory

    def _gathered(self, memory: list[np.ndarray[Any, Any]], rows: Ints) -> list[np.ndarray[Any, Any]]:
        """A batch of rows of what was read."""
        if self._out is None:
            return [array[rows] for array in memory]
        out = [array[: len(rows)] for array in self._out[(self._next - self._first) % len(self._out)]]
        for array, target in zip(memory, out):
            np.take(array, rows, axis=0, out=target, mode="clip")
        return out

    def _located(self, error: BaseException, first: int, end: int, number: int, boxes: list[Box]) -> BaseException:
        """An error that says in which boxes of which batch it is."""
        where = [f"[{', '.join(f'{at}:{at + length}' for at, length in zip(*box))}]" for box in boxes[:4]]
        dots = ", ..." if len(boxes) > 4 else ""
        batch = f"batch {first}" if end == first + 1 else f"batches {first} to {end - 1}"
        message = f"epoch {self._epoch}, {batch}, {self._loader._sources.name(number)}, box {', '.join(where)}{dots}"
        if isinstance(error, ZarrError):
            error.message = f"{message}: {error.message}"
        else:
            error.add_note(message)
        return error
