"""Shapes, and lengths along dimensions."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np


def lengths_of(shape: Any) -> list[int]:
    """A shape, of which a single number is one of one dimension."""
    if isinstance(shape, (str, bytes)) or not isinstance(shape, Iterable):
        shape = (shape,)
    lengths = [length_of(length) for length in shape]
    if any(length < 0 for length in lengths):
        raise ValueError(f"a shape with negative lengths: {tuple(lengths)}")
    return lengths


def length_of(length: Any) -> int:
    """A length, which is an integer, as in numpy: no float, no bool, no text."""
    if isinstance(length, (bool, np.bool_)):
        raise TypeError(f"found {length!r}, expected an integer")
    try:
        return operator.index(length)
    except TypeError:
        raise TypeError(f"found {length!r}, expected an integer") from None
