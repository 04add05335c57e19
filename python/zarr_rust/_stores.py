"""Stores as programs name them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from zarr_rust._arguments import options_of

#: A store: an address, or a path of this machine.
StoreLike: TypeAlias = str | os.PathLike[str]


class Where(NamedTuple):
    """A store, the path of a node in it, and options, as the compiled part takes them."""

    store: Any
    path: str | None
    options: list[tuple[str, str]]


def where(store: Any, path: str | None, storage_options: Mapping[str, Any] | None) -> Where:
    """A store as the compiled part takes it. A path of this machine is one, whatever it looks like."""
    if isinstance(store, (str, os.PathLike)):
        return Where(address_of(store), path, options_of(storage_options))
    raise TypeError(f"found a store of type {type(store).__name__}, expected an address or a path")


def address_of(store: str | os.PathLike[str]) -> str:
    """An address; a path of this machine is one, whatever it looks like."""
    if isinstance(store, str):
        return store
    path = os.fspath(store)
    if not isinstance(path, str):
        raise TypeError(f"found the path {path!r}, expected a text")
    return os.path.abspath(path)
