"""The functions of zarr-python that read, write or look through whole stores."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from zarr_rust import _core
from zarr_rust._arguments import checked
from zarr_rust._array import Array
from zarr_rust._group import Group
from zarr_rust._handle import Text
from zarr_rust._open import create_array, open, open_group
from zarr_rust._stores import StoreLike


@checked
def group(
    store: StoreLike | None = None,
    *,
    path: str | None = None,
    overwrite: bool = False,
    attributes: Mapping[str, Any] | None = None,
    dialect: str | None = None,
    zarr_format: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """Opens a group to be written, or creates it; with ``overwrite`` in the place of what is there. Without ``store`` it is in memory."""
    return open_group(
        "memory:" if store is None else store,
        path,
        "w" if overwrite else "a",
        dialect,
        attributes=attributes,
        zarr_format=zarr_format,
        storage_options=storage_options,
    )


def save(store: StoreLike, *args: Any, path: str | None = None, **kwargs: Any) -> None:
    """Writes one array, or several in a group: those without names are ``arr_0``, ``arr_1``, ... What is there is replaced.

    ``zarr_format``, ``dialect`` and ``storage_options`` are as in :func:`zarr_rust.open`; other arguments are arrays.

    >>> import numpy as np, tempfile, zarr_rust
    >>> url = tempfile.mkdtemp() + "/x.zarr"
    >>> zarr_rust.save(url, a=np.arange(3), b=np.ones(2))
    >>> zarr_rust.load(url)["a"]
    array([0, 1, 2])
    """
    settings = {name: kwargs.pop(name) for name in ("zarr_format", "dialect", "storage_options") if name in kwargs}
    if not args and not kwargs:
        raise TypeError("found no array, expected some")
    if len(args) == 1 and not kwargs:
        save_array(store, args[0], path=path, **settings)
    else:
        save_group(store, *args, path=path, **settings, **kwargs)


def save_array(store: StoreLike, arr: Any, *, path: str | None = None, **arguments: Any) -> None:
    """Writes an array in the place of what is there; further arguments are those of :func:`zarr_rust.create_array`."""
    create_array(store, path, **{"data": arr, "overwrite": True} | arguments)


def save_group(
    store: StoreLike,
    *args: Any,
    path: str | None = None,
    dialect: str | None = None,
    zarr_format: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Writes several arrays in a new group, in the place of what is there; see :func:`save`."""
    arrays = {f"arr_{number}": data for number, data in enumerate(args)} | kwargs
    if len(arrays) < len(args) + len(kwargs):
        raise TypeError("found an array twice, by a name such as arr_0 and by its place")
    if not arrays:
        raise ValueError("found no array, expected at least one")
    made = open_group(store, path, "w", dialect, zarr_format=zarr_format, storage_options=storage_options)
    for name, data in arrays.items():
        made[name] = data


@checked
def load(
    store: StoreLike,
    path: str | None = None,
    zarr_format: int | None = None,
    *,
    dialect: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Any:
    """Reads an array whole, or of a group all arrays directly below it, as a dict."""
    node = open(store, path, "r", dialect, zarr_format=zarr_format, storage_options=storage_options)
    return node.read() if isinstance(node, Array) else {name: array.read() for name, array in node.arrays()}


@checked
def consolidate_metadata(
    store: StoreLike | Group,
    path: str | None = None,
    zarr_format: int | None = None,
    *,
    dialect: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """Writes consolidated metadata of a group: copies of the metadata of all nodes below, with which readers open them by one request.

    A change of a node below drops it, with a :class:`~zarr_rust.errors.ZarrWarning`, since it would be stale. Changes that others make at the
    same time may leave it stale: this is for hierarchies that rest.

    >>> import tempfile, zarr_rust
    >>> url = tempfile.mkdtemp() + "/x.zarr"
    >>> _ = zarr_rust.create_array(url, "a/b", shape=3, dtype="i2")
    >>> _ = zarr_rust.consolidate_metadata(url)
    >>> zarr_rust.open_consolidated(url)
    <Group ...>
    """
    if isinstance(store, Group):
        if path is not None or zarr_format is not None or dialect is not None or storage_options:
            raise TypeError("the group is open: path, zarr_format, dialect and storage_options are of a store that is named")
        found = store
        found._check_writable()
    else:
        found = open_group(store, path, "r+", dialect, zarr_format=zarr_format, storage_options=storage_options)
    found._core.consolidate()
    return found


@checked
def open_consolidated(
    store: StoreLike,
    path: str | None = None,
    mode: str = "r",
    dialect: str | None = None,
    *,
    zarr_format: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """Opens a group that has consolidated metadata; without it, that is a ``ValueError``. ``group.members()`` believes it."""
    found = open_group(store, path, mode, dialect, zarr_format=zarr_format, storage_options=storage_options)
    if not found._core.is_consolidated():
        raise ValueError(f"{found!r}: found no consolidated metadata; zarr_rust.consolidate_metadata writes it")
    return found


def tree(grp: Group, expand: bool | None = None, level: int | None = None) -> Text:
    """All nodes below a group, as a tree; no deeper than ``level``. ``expand`` does nothing, as in zarr-python."""
    return grp.tree(expand, level)


def print_debug_info() -> None:
    """Prints versions, for a report of a fault."""
    versions = {"platform": platform.platform(), "python": platform.python_version(), "zarr_rust": _core.__version__, "numpy": np.__version__}
    for name in ("zarr", "numcodecs", "xarray", "dask", "obstore", "fsspec"):
        module = sys.modules.get(name)
        versions[name] = "not imported" if module is None else str(getattr(module, "__version__", "unknown"))
    for name, version in versions.items():
        print(f"{name}: {version}")


__all__ = [
    "consolidate_metadata",
    "group",
    "load",
    "open_consolidated",
    "print_debug_info",
    "save",
    "save_array",
    "save_group",
    "tree",
]
