"""The order of a loader: which process reads which units of an epoch, and random numbers that depend on nothing but a seed.

The numbers are those of a few lines of integer arithmetic, so that an order is the same in every version of numpy, and unit ``i`` of an
epoch is known without the units before it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

Ints = np.ndarray[Any, np.dtype[np.int64]]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS = 8
#: Units and random numbers of an epoch are counted in 64 bits, of which products need some.
MAX_UNITS = 1 << 48


@dataclass(frozen=True)
class Share:
    """The part of an epoch that one process reads: units ``index``, ``index + count``, ..."""

    index: int
    count: int


def share_of(rank: int | str, world: int | None, worker: int | str, workers: int | None) -> Share:
    """The share of a process, of which the environment and torch are asked only where ``"env"`` and ``"torch"`` say so."""
    if rank == "env":
        if world is not None:
            raise ValueError('rank="env": found world as well, which the environment says')
        rank, world = _of_environment("RANK", 0), _of_environment("WORLD_SIZE", 1)
    if worker == "torch":
        if workers is not None:
            raise ValueError('worker="torch": found workers as well, which torch says')
        info = import_module("torch.utils.data").get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
    parts = (("rank", rank, "world", 1 if world is None else world), ("worker", worker, "workers", 1 if workers is None else workers))
    for name, number, of, count in parts:
        if not isinstance(number, int) or not isinstance(count, int) or not 0 <= number < count:
            raise ValueError(f"{name}={number!r}, {of}={count!r}: expected a number from 0 and how many there are")
    (_, rank, _, world), (_, worker, _, workers) = parts
    # What a rank reads does not depend on how many workers it has.
    return Share(int(rank) + int(world) * int(worker), int(world) * int(workers))


def _of_environment(name: str, default: int) -> int:
    text = os.environ.get(name, str(default))
    try:
        return int(text)
    except ValueError:
        raise ValueError(f'rank="env": {name} is {text!r}, expected a number') from None


def _mixed(numbers: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """The finalizer of splitmix64: all bits depend on all bits."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def key_of(*parts: int) -> int:
    """A key for random numbers: another one for other parts."""
    key = np.zeros(1, np.uint64)
    for part in parts:
        low = np.array([part & 0xFFFF_FFFF_FFFF_FFFF], np.uint64)
        key = _mixed((key ^ low) + _GOLDEN)
    return int(key[0])


def random(key: int, counters: Ints) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Random numbers from 0 to below 1, one for each counter."""
    numbers = _mixed(np.uint64(key) + (counters.astype(np.uint64) + np.uint64(1)) * _GOLDEN)
    return (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53


def below(key: int, counters: Ints, counts: Any) -> Ints:
    """Random integers from 0 to below ``counts``, one for each counter."""
    return np.minimum((random(key, counters) * counts).astype(np.int64), np.asarray(counts, np.int64) - 1)


def permuted(key: int, numbers: Ints, count: int) -> Ints:
    """Where a random permutation of ``range(count)`` takes numbers. It needs no memory for the others.

    A Feistel network permutes a power of four; numbers that it takes to ``count`` or above go through it again.
    """
    half = np.uint64(max(1, ((count - 1).bit_length() + 1) // 2))
    low = (np.uint64(1) << half) - np.uint64(1)
    keys = [np.uint64(key_of(key, number)) for number in range(_ROUNDS)]
    result = numbers.astype(np.uint64)
    left = np.ones(result.shape, bool)
    while left.any():
        part = result[left]
        for key_of_round in keys:
            upper, lower = part >> half, part & low
            part = (lower << half) | (upper ^ (_mixed(lower + key_of_round) & low))
        result[left] = part
        left &= result >= np.uint64(count)
    return result.astype(np.int64)


@dataclass(frozen=True)
class Order:
    """The units of an epoch, in its order, of which processes take turns."""

    #: How many units there are.
    count: int
    key: int
    is_shuffled: bool

    def of_share(self, share: Share, first: int, end: int) -> Ints:
        """The units ``first`` to ``end`` of those of a share."""
        numbers = np.arange(first, end, dtype=np.int64) * share.count + share.index
        return permuted(self.key, numbers, self.count) if self.is_shuffled else numbers

    def len_of_share(self, share: Share, is_equal: bool) -> int:
        """How many units a share has; ``is_equal`` leaves out those that make shares longer than others."""
        if is_equal:
            return self.count // share.count
        return max(0, -(-(self.count - share.index) // share.count))
