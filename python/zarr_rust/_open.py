"""Arrays and groups by their addresses."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from zarr_rust import _core
from zarr_rust._array import Array
from zarr_rust._group import Group, address_of, new_array, new_group, of_handle, options_of


def open(
    url: str | os.PathLike[str],
    path: str | None = None,
    mode: str = "r",
    dialect: str | None = None,
    **store_options: Any,
) -> Array | Group:
    """Opens the array or group at an address.

    ``url`` is a path such as ``"weather.zarr/t2m"`` or an address such as ``"s3://bucket/x.zarr"``, ``"https://host/x.zarr"``, ``"x.zip"``,
    ``"sqlite:x.sqlite"`` (the guide of the Rust library, *remote*, has all). ``path`` is that of the node in the hierarchy; without it,
    it follows a name that ends in ``.zarr`` or ``.zip``, or ``::``.

    With ``mode="r"`` writes are refused; ``mode="r+"`` takes them. Nothing is created: see :func:`create_array`, :func:`create_group`.
    ``dialect`` takes the node that is stored so (``"v2"``) where there are several. Further arguments are options of the store, such as
    ``region="eu-central-1"``; credentials are taken from the environment where they are not given.

    >>> import tempfile, zarr_rust
    >>> folder = tempfile.mkdtemp()
    >>> _ = zarr_rust.create_array(f"{folder}/weather.zarr/t2m", shape=(3,), dtype="f4", fill_value=1)
    >>> zarr_rust.open(f"{folder}/weather.zarr/t2m")[:]
    array([1., 1., 1.], dtype=float32)
    >>> zarr_rust.open(f"{folder}/weather.zarr")["t2m"].shape
    (3,)
    """
    if mode not in ("r", "r+"):
        raise ValueError(
            f'mode {mode!r}: expected "r" or "r+"; nodes are made by create_array and create_group, with overwrite=True in the place '
            "of others"
        )
    return of_handle(_core.open(address_of(url), path, mode, dialect, options_of(store_options)))


def open_array(
    url: str | os.PathLike[str],
    path: str | None = None,
    mode: str = "r",
    dialect: str | None = None,
    **store_options: Any,
) -> Array:
    """Opens an array, as :func:`open`. A group is a ``TypeError``."""
    node = open(url, path, mode, dialect, **store_options)
    if not isinstance(node, Array):
        raise TypeError(f"found {node!r}, expected an array")
    return node


def open_group(
    url: str | os.PathLike[str],
    path: str | None = None,
    mode: str = "r",
    dialect: str | None = None,
    **store_options: Any,
) -> Group:
    """Opens a group, as :func:`open`. An array is a ``TypeError``."""
    node = open(url, path, mode, dialect, **store_options)
    if not isinstance(node, Group):
        raise TypeError(f"found {node!r}, expected a group")
    return node


def create_array(
    url: str | os.PathLike[str],
    path: str | None = None,
    *,
    shape: int | Sequence[int],
    dtype: Any,
    chunks: int | Sequence[int] | None = None,
    shards: int | Sequence[int] | None = None,
    codecs: Any = None,
    fill_value: Any = None,
    dimension_names: Sequence[str] | None = None,
    separator: str | None = None,
    attributes: Mapping[str, Any] | None = None,
    dialect: str | None = None,
    overwrite: bool = False,
    **store_options: Any,
) -> Array:
    """Creates an array, groups above it where there are none, and the store.

    ``dtype`` is a data type of numpy, structs too, or the name of one of Zarr: ``"string"``, ``"bytes"``, ``"float32"``. ``chunks`` are inner
    chunks where there are ``shards``; without them they have about 1 MiB. ``codecs`` are text such as ``"zstd(3)"`` or ``"delta,zstd"``, or the
    JSON of a Zarr v3 document as lists and dicts; without them chunks are compressed by zstd. ``separator``, ``"/"`` or ``"."``, is that of the
    numbers in the keys of chunks. The dialect is that of the hierarchy that is there, else ``"v3"``. A node that is there already is an
    error; with ``overwrite`` it is replaced.

    >>> import zarr_rust
    >>> array = zarr_rust.create_array(
    ...     "memory:", shape=(100, 100), dtype="f4", chunks=10, shards=50, codecs="zstd(1)", fill_value=float("nan")
    ... )
    >>> array.chunks, array.shards, array.fill_value
    ((10, 10), (50, 50), np.float32(nan))
    """
    options = options_of(store_options)
    new = new_array(
        shape, dtype, chunks, shards, codecs, fill_value, dimension_names, separator, attributes, dialect, overwrite
    )
    return Array(_core.create_array(address_of(url), path, options, new))


def create_group(
    url: str | os.PathLike[str],
    path: str | None = None,
    *,
    attributes: Mapping[str, Any] | None = None,
    dialect: str | None = None,
    overwrite: bool = False,
    **store_options: Any,
) -> Group:
    """Creates a group, groups above it where there are none, and the store. With ``overwrite`` a node that is there is replaced."""
    new = new_group(attributes, dialect, overwrite)
    return Group(_core.create_group(address_of(url), path, options_of(store_options), new))
