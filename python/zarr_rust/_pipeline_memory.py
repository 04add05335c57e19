"""Chunks in memory."""

from __future__ import annotations

from typing import Any


class InMemory:
    """A chunk that is no value of a store."""

    def __init__(self, value: Any) -> None:
        self.value = value

    async def get(self, prototype: Any = None, byte_range: Any = None) -> Any:
        value = self.value
        if byte_range is None or value is None:
            return value
        size = len(value)
        start = getattr(byte_range, "start", getattr(byte_range, "offset", None))
        if start is None:
            start = max(0, size - byte_range.suffix)
        return value[start : getattr(byte_range, "end", size)]

    async def set(self, value: Any) -> None:
        self.value = value

    async def delete(self) -> None:
        self.value = None
