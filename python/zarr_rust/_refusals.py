"""Stores of zarr-python that take no ranges of bytes, and are asked for whole values."""

from __future__ import annotations

import io
import weakref
from contextlib import suppress
from typing import Any

#: What stores raise that take no ranges, or not of this kind. If the whole value cannot be had either, that is what is raised.
REFUSALS = (NotImplementedError, TypeError, ValueError)

#: Those that say so of each range. A ``ValueError`` may be of the one.
_LASTING = (NotImplementedError, TypeError, io.UnsupportedOperation)

#: Stores that refused a range so and gave the whole value, by their ids: they need not be hashable.
_known: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def is_lasting(error: Exception) -> bool:
    """Whether a refusal is of all ranges."""
    return isinstance(error, _LASTING)


def refuses_ranges(store: Any) -> bool:
    """Whether a store is known to take no ranges."""
    return _known.get(id(store)) is store


def note(store: Any) -> None:
    """Keeps in mind that a store takes no ranges."""
    with suppress(TypeError):
        _known[id(store)] = store
