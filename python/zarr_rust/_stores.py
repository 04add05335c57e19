"""Stores as programs name them: addresses, paths, and objects of Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from zarr_rust._arguments import options_of
from zarr_rust.errors import _of_parts as of_parts

#: A store: an address, a path of this machine, a dict of values, or an object: a store of zarr-python, icechunk or obstore, or a group or array of
#: zarr-python or of this package.
StoreLike: TypeAlias = Any


class Where(NamedTuple):
    """A store, the path of a node in it, and options, as the compiled part takes them."""

    store: Any
    path: str | None
    options: list[tuple[str, str]]


def where(store: Any, path: str | None, storage_options: Mapping[str, Any] | None, *, writes: bool = True) -> Where:
    """A store as the compiled part takes it. A path of this machine is one, whatever it looks like.

    Objects that have their values where this library has stores for them go by that address, and others are asked themselves. With
    ``writes`` they may be written to.
    """
    if isinstance(store, (str, os.PathLike)):
        return Where(address_of(store), path, options_of(storage_options))
    if storage_options:
        raise TypeError(f"storage_options are of an address, and the store is a {type(store).__name__}")
    core = getattr(store, "_core", None)
    if core is not None and type(store).__module__.startswith("zarr_rust."):
        if core.address is None and core.asked is None:
            raise TypeError(f"{store!r}: a store in the memory of this process has no address: call the methods of the node")
        if writes:
            store._check_writable()
        return Where(core.address or core.asked, _below(core.path, path), core.store_options)
    found, above = _object(store)
    return _of_object(found, _below(above, path), writes)


def _below(above: str, path: str | None) -> str:
    return "/".join(part for part in (above.strip("/"), (path or "").strip("/")) if part)


def _object(store: Any) -> tuple[Any, str]:
    """The store of zarr-python that an object is or has, and the path in it."""
    zarr = sys.modules.get("zarr")
    if type(store) is dict:
        try:
            from zarr.storage import MemoryStore
        except ImportError:
            raise TypeError("found a dict as a store, which needs zarr-python to be installed") from None
        return MemoryStore(store), ""
    if zarr is not None:
        from zarr.abc.store import Store
        from zarr.storage import StorePath

        if isinstance(store, (zarr.Array, zarr.Group)):
            return store.store_path.store, store.store_path.path
        if isinstance(store, StorePath):
            return store.store, store.path
        if isinstance(store, Store):
            return store, ""
    if type(store).__module__.startswith("obstore."):
        from zarr.storage import ObjectStore

        return ObjectStore(store), ""
    if type(store).__module__.startswith("fsspec.") and hasattr(store, "fs"):
        from zarr.storage import FsspecStore

        return FsspecStore.from_mapper(store), ""
    raise TypeError(
        f"found a store of type {type(store).__name__}, expected an address, a path, a dict, or a store, group or array of zarr-python; "
        "with zarr_rust.enable() zarr-python opens its arrays itself, and this library reads and writes them"
    )


def _of_object(store: Any, path: str, writes: bool) -> Where:
    from zarr.core.sync import sync

    from zarr_rust import _pipeline_stores
    from zarr_rust._asked import Asked

    if writes and store.read_only:
        raise of_parts(f"{store}: the store takes no writes", "store", "ReadOnly", 'open with mode="r"', (str(store), None, None, None, None))
    place = sync(_pipeline_stores.place_of(store, writes))
    if place is not None and _is_address(place.kind, place.address):
        address = f"zip:{place.address}" if place.kind == "zip" else place.address
        return Where(address, path, list(place.options))
    return Where(Asked(store), path, [])


def _is_address(kind: str, text: str) -> bool:
    """Whether an address names the same store: what it ends with, or has in it, may mean something else."""
    return "::" not in text and (kind == "zip" or not text.rstrip("/").endswith((".zip", ".sqlite", ".h5")))


def named(store: Any) -> Any:
    """A store as the compiled part takes it again: in another process, objects of Python come as they are."""
    if isinstance(store, str):
        return store
    from zarr_rust._asked import Asked

    return Asked(store)


def address_of(store: str | os.PathLike[str]) -> str:
    """An address; a path of this machine is one, whatever it looks like."""
    if isinstance(store, str):
        return store
    path = os.fspath(store)
    if not isinstance(path, str):
        raise TypeError(f"found the path {path!r}, expected a text")
    return os.path.abspath(path)
