"""Sizes of memory, as callers name them."""

from __future__ import annotations

import re

_UNITS = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}
_UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def size_in_bytes(size: int | str) -> int:
    """Bytes, given as a number or a text."""
    if isinstance(size, str):
        parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", size)
        unit = _UNITS.get(parts[2].upper()) if parts else None
        if parts is None or unit is None:
            raise ValueError(f'memory {size!r}: expected a number of bytes, or a text such as "500MiB"')
        size = int(float(parts[1]) * unit)
    if not 0 < size < 2**64:
        raise ValueError(f"memory {size!r}: expected a number of bytes")
    return size
