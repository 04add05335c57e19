"""Sizes of memory, as callers name them."""

from __future__ import annotations

import re
from operator import index
from typing import Any

from zarr_rust import _core

_UNITS = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}
_UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def size_in_bytes(size: int | str) -> int:
    """Bytes, given as a number or a text."""
    if isinstance(size, str):
        size = _of_text("memory", size)
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise TypeError(f'memory={size!r}: expected a number of bytes, or a text such as "500MiB"')
    bytes = index(size)
    if not 0 < bytes < 2**64:
        raise ValueError(f"memory {size!r}: expected a number of bytes from 1 to 2**64 - 1")
    return bytes


def size_of_cache(size: Any) -> int:
    """Bytes of a cache, given as a number or a text; a cache of none holds nothing."""
    if isinstance(size, str):
        size = _of_text("cache", size)
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise TypeError(f'cache={size!r}: expected a number of bytes, a text such as "1GiB", a Cache, or None')
    bytes = index(size)
    if not 0 <= bytes < 1 << 63:
        raise ValueError(f"cache={size!r}: expected a number of bytes from 0 to 2**63 - 1")
    return bytes


def cache_of_name(size: int, name: str) -> _core.Cache:
    """The cache of this process with a name, by which pickled handles share it."""
    return _core.Cache(size, name=name)


def cache_of(cache: Any) -> _core.Cache | None:
    """The cache that an argument stands for."""
    return cache if cache is None or isinstance(cache, _core.Cache) else _core.Cache(cache)


def _of_text(what: str, size: str) -> int:
    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", size)
    unit = _UNITS.get(parts[2].upper()) if parts else None
    if parts is None or unit is None:
        raise ValueError(f'{what} {size!r}: expected a number of bytes, or a text such as "500MiB"')
    return int(float(parts[1]) * unit)
