"""Arrays and groups by their addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

from zarr_rust import _core
from zarr_rust._arguments import checked
from zarr_rust._array import Array
from zarr_rust._lengths import lengths_of
from zarr_rust._async import in_thread
from zarr_rust._group import Group, of_handle
from zarr_rust._new_node import created, new_array, new_group
from zarr_rust._sizes import cache_of
from zarr_rust._stores import StoreLike, Where, where
from zarr_rust._zarr_python import AUTO, codecs_and_dialect, dialect_of
from zarr_rust.errors import NodeExistsError, NodeNotFoundError

Made = TypeVar("Made", bound=Array | Group)

_MODES = ("r", "r+", "a", "w", "w-")

#: The members of the metadata that arguments say.
_MEMBERS = {
    "shape": ("shape",),
    "dtype": ("data_type",),
    "chunks": ("chunk_grid",),
    "shards": ("chunk_grid",),
    "codecs": ("codecs",),
    "fill_value": ("fill_value",),
    "dimension_names": ("dimension_names",),
    "separator": ("chunk_key_encoding",),
}


@checked
def open(
    store: StoreLike,
    path: str | None = None,
    mode: str = "r",
    dialect: str | None = None,
    *,
    zarr_format: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    cache: int | str | _core.Cache | None = None,
) -> Array | Group:
    """Opens the array or group at an address.

    ``store`` is a path such as ``"weather.zarr/t2m"`` or an address such as ``"s3://bucket/x.zarr"``, ``"https://host/x.zarr"``, ``"x.zip"``,
    ``"sqlite:x.sqlite"`` (the guide of the Rust library, *remote*, has all), or an object: a dict, a store
    of zarr-python, icechunk or obstore, or a group or array of zarr-python. ``path`` is that of the node in the hierarchy; without it,
    it follows a name that ends in ``.zarr`` or ``.zip``, or ``::``.

    With ``mode="r"`` writes are refused; ``mode="r+"`` takes them, and neither creates anything. As in zarr-python, ``mode="a"`` creates a
    group if nothing is there, ``mode="w"`` creates one in the place of what is there, and ``mode="w-"`` where nothing is; arrays are made by
    :func:`open_array` and :func:`create_array`. ``dialect`` takes the node that is stored so (``"v2"``) where there are several, and
    ``zarr_format``, 2 or 3, stands for it as in zarr-python. ``storage_options`` are options of the store, such as
    ``{"region": "eu-central-1"}``; credentials are taken from the environment where they are not given.

    ``cache`` keeps decoded chunks, inner chunks and indexes of shards in memory: reads of them cost no request and no decoding, and a chunk
    that several threads read at the same time is read once (in a forked child, reads ahead of a loop read it each). It is a number of bytes,
    a text such as ``"1GiB"``, or a :class:`Cache` that several nodes share, whose :meth:`~Cache.stats` count. All arrays that are opened from
    one group share its cache. What is written through them is seen at once; what others write, also through arrays that were opened by
    themselves, is not, as long as old chunks are kept:
    ``cache.clear()``.

    >>> import tempfile, zarr_rust
    >>> folder = tempfile.mkdtemp()
    >>> _ = zarr_rust.create_array(f"{folder}/weather.zarr/t2m", shape=(3,), dtype="f4", fill_value=1)
    >>> zarr_rust.open(f"{folder}/weather.zarr/t2m")[:]
    array([1., 1., 1.], dtype=float32)
    >>> zarr_rust.open(f"{folder}/weather.zarr")["t2m"].shape
    (3,)
    """
    check_mode(mode)
    kept = cache_of(cache)
    dialect, place = dialect_of(dialect, zarr_format), where(store, path, storage_options, writes=mode != "r")
    return _in_mode(
        mode,
        lambda mode: _opened(place, mode, dialect, kept),
        lambda: Group(_core.create_group(*place, new_group(None, dialect, mode == "w"), kept)),
    )


@checked
def open_array(
    store: StoreLike,
    path: str | None = None,
    mode: str = "r",
    dialect: str | None = None,
    *,
    shape: int | Sequence[int] | None = None,
    dtype: Any = None,
    chunks: int | Sequence[int] | Literal["auto"] | None = None,
    shards: int | Sequence[int] | None = None,
    codecs: Any = None,
    fill_value: Any = None,
    dimension_names: Sequence[str] | None = None,
    separator: str | None = None,
    attributes: Mapping[str, Any] | None = None,
    compressors: Any = AUTO,
    filters: Any = AUTO,
    serializer: Any = AUTO,
    order: str | None = None,
    zarr_format: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    cache: int | str | _core.Cache | None = None,
) -> Array:
    """Opens an array, as :func:`open`, or creates it. A group is a ``TypeError``.

    With ``mode="a"`` it is created if it is not there, with ``mode="w"`` in the place of what is there, and with ``mode="w-"`` where nothing
    is; :func:`create_array` describes the arguments for that. Of an array that is there, what is given must be so: another shape, data type,
    codec or attribute is a ``ValueError``.

    >>> import tempfile, zarr_rust
    >>> url = tempfile.mkdtemp() + "/x.zarr"
    >>> for _ in range(2):
    ...     array = zarr_rust.open_array(url, "a", mode="a", shape=(3,), dtype="i2", codecs="gzip(1)")
    ...     array[0] += 1
    >>> array[:]
    array([2, 0, 0], dtype=int16)
    """
    check_mode(mode)
    kept = cache_of(cache)
    dialect, place = dialect_of(dialect, zarr_format), where(store, path, storage_options, writes=mode != "r")
    of_zarr_python = {"compressors": compressors, "filters": filters, "serializer": serializer, "order": order}
    arguments = {
        "shape": shape,
        "dtype": dtype,
        "chunks": chunks,
        "shards": shards,
        "codecs": codecs,
        "fill_value": fill_value,
        "dimension_names": dimension_names,
        "separator": separator,
        "attributes": attributes,
    }
    given = {name: value for name, value in arguments.items() if value is not None}

    def opened(mode: str) -> Array:
        node = _opened(place, mode, dialect, kept)
        if not isinstance(node, Array):
            raise TypeError(f"found {node!r}, expected an array")
        of_node, _ = codecs_and_dialect(codecs, None, node.ndim, _kind(node), of_group=node.dialect, **of_zarr_python)
        _check_same(node, given if of_node is None else given | {"codecs": of_node})
        return node

    def make() -> Array:
        if shape is None or dtype is None:
            raise ValueError(f"mode {mode!r}: a new array needs shape and dtype")
        of_new, _ = codecs_and_dialect(codecs, dialect, len(lengths_of(shape)), dtype, **of_zarr_python)
        new = new_array(
            shape, dtype, chunks, shards, of_new, fill_value, dimension_names, separator, attributes, dialect, mode == "w"
        )
        return Array(_core.create_array(*place, new, kept))

    return _in_mode(mode, opened, make)


@checked
def open_group(
    store: StoreLike,
    path: str | None = None,
    mode: str = "r",
    dialect: str | None = None,
    *,
    attributes: Mapping[str, Any] | None = None,
    zarr_format: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    cache: int | str | _core.Cache | None = None,
) -> Group:
    """Opens a group, or creates it, as :func:`open` does. An array is a ``TypeError``.

    ``attributes`` are those of a new group; one that is there must have them.
    """
    check_mode(mode)
    kept = cache_of(cache)
    dialect, place = dialect_of(dialect, zarr_format), where(store, path, storage_options, writes=mode != "r")

    def opened(mode: str) -> Group:
        node = _opened(place, mode, dialect, kept)
        if not isinstance(node, Group):
            raise TypeError(f"found {node!r}, expected a group")
        _check_attributes(node, attributes or {})
        return node

    new = new_group(attributes, dialect, mode == "w")
    return _in_mode(mode, opened, lambda: Group(_core.create_group(*place, new, kept)))


@checked
async def open_async(
    store: StoreLike,
    path: str | None = None,
    mode: str = "r",
    dialect: str | None = None,
    *,
    zarr_format: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    cache: int | str | _core.Cache | None = None,
) -> Array | Group:
    """As :func:`open`, in a task of asyncio; see :meth:`zarr_rust.Array.read_async`."""
    return await in_thread(lambda: open(store, path, mode, dialect, zarr_format=zarr_format, storage_options=storage_options, cache=cache))


@checked
def create_array(
    store: StoreLike,
    path: str | None = None,
    *,
    shape: int | Sequence[int] | None = None,
    dtype: Any = None,
    data: Any = None,
    chunks: int | Sequence[int] | Literal["auto"] | None = None,
    shards: int | Sequence[int] | None = None,
    codecs: Any = None,
    fill_value: Any = None,
    dimension_names: Sequence[str] | None = None,
    separator: str | None = None,
    attributes: Mapping[str, Any] | None = None,
    dialect: str | None = None,
    overwrite: bool = False,
    compressors: Any = AUTO,
    filters: Any = AUTO,
    serializer: Any = AUTO,
    order: str | None = None,
    zarr_format: int | None = None,
    name: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array:
    """Creates an array, groups above it where there are none, and the store.

    ``dtype`` is a data type of numpy, structs too, or the name of one of Zarr: ``"string"``, ``"bytes"``, ``"float32"``. ``data`` are the
    elements of the new array, with whose shape and data type ``shape`` and ``dtype`` can be left out. ``chunks`` are inner
    chunks where there are ``shards``; without them they have about 1 MiB. ``codecs`` are text such as ``"zstd(3)"`` or ``"delta,zstd"``, or the
    JSON of a Zarr v3 document as lists and dicts; without them chunks are compressed by zstd. ``separator``, ``"/"`` or ``"."``, is that of the
    numbers in the keys of chunks. The dialect is that of the hierarchy that is there, else ``"v3"``. A node that is there already is an
    error; with ``overwrite`` it is replaced.

    Calls of zarr-python work as they are: ``compressors``, ``filters`` and ``serializer``, objects of zarr-python or numcodecs and dicts, stand
    for ``codecs``, ``zarr_format`` for ``dialect``, and ``order="F"`` with ``zarr_format=2`` for a transpose.

    >>> import numpy as np, zarr_rust
    >>> array = zarr_rust.create_array(
    ...     "memory:", shape=(100, 100), dtype="f4", chunks=10, shards=50, codecs="zstd(1)", fill_value=float("nan")
    ... )
    >>> array.chunks, array.shards, array.fill_value
    ((10, 10), (50, 50), np.float32(nan))
    >>> zarr_rust.create_array("memory:", data=np.arange(4))[1:3]
    array([1, 2])
    """
    if name is not None and path is not None:
        raise TypeError(f"found path={path!r} and name={name!r}, expected one of them")
    return created(
        partial(_core.create_array, *where(store, path if name is None else name, storage_options)),
        shape,
        dtype,
        data,
        {"compressors": compressors, "filters": filters, "serializer": serializer, "order": order, "zarr_format": zarr_format},
        dialect=dialect,
        chunks=chunks,
        shards=shards,
        codecs=codecs,
        fill_value=fill_value,
        dimension_names=dimension_names,
        separator=separator,
        attributes=attributes,
        overwrite=overwrite,
    )


@checked
def create_group(
    store: StoreLike,
    path: str | None = None,
    *,
    attributes: Mapping[str, Any] | None = None,
    dialect: str | None = None,
    overwrite: bool = False,
    zarr_format: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """Creates a group, groups above it where there are none, and the store. With ``overwrite`` a node that is there is replaced."""
    new = new_group(attributes, dialect_of(dialect, zarr_format), overwrite)
    return Group(_core.create_group(*where(store, path, storage_options), new))


def check_mode(mode: str) -> None:
    """Refuses a mode that there is not."""
    if mode not in _MODES:
        raise ValueError(f"mode {mode!r}: expected one of {', '.join(map(repr, _MODES))}")


def _opened(place: Where, mode: str, dialect: str | None, cache: _core.Cache | None) -> Array | Group:
    return of_handle(_core.open(place.store, place.path, mode, dialect, place.options, cache))


def _in_mode(mode: str, opened: Callable[[str], Made], make: Callable[[], Made]) -> Made:
    """The node that is there, opened to read (``"r"``) or write (``"r+"``), or a new one, as the mode says."""
    if mode in ("r", "r+"):
        return opened(mode)
    if mode == "a":
        try:
            return opened("r+")
        except NodeNotFoundError:
            pass
    try:
        return make()
    except NodeExistsError:
        if mode != "a":
            raise
        # Another made it meanwhile.
        return opened("r+")


def _check_attributes(node: Array | Group, attributes: Mapping[str, Any]) -> None:
    found = dict(node.attrs)
    for name, value in attributes.items():
        if name not in found or found[name] != value:
            raise ValueError(f"{node!r} is there, with attribute {name!r} {found.get(name)!r}, expected {value!r}")


def _check_same(array: Array, given: dict[str, Any]) -> None:
    """Refuses an array that is not as the arguments say: an array that they make is compared with it."""
    _check_attributes(array, given.get("attributes", {}))
    members = {member for name in given for member in _MEMBERS.get(name, ())}
    if not members:
        return
    found = array.metadata
    # Chunks are those of the array, if the shape says nothing else.
    known: dict[str, Any] = {"shape": array.shape, "dtype": _kind(array), "chunks": array.chunks, "shards": array.shards}
    codecs = given.get("codecs")
    if isinstance(codecs, list) and any(isinstance(codec, dict) and codec.get("name") == "sharding_indexed" for codec in codecs):
        # They say which inner chunks there are.
        known |= {"chunks": tuple(array._core.chunk_shape), "shards": None}
    arguments = known | {name: value for name, value in given.items() if name != "attributes"}
    made = create_array("memory:", dialect=array.dialect, **arguments)
    expected = made.metadata
    for member in sorted(members):
        if found.get(member) != expected.get(member):
            raise ValueError(f"{array!r} is there, with {member} {found.get(member)!r}, expected {expected.get(member)!r}")
    # The chunks of a shard, which are in the codecs.
    if ("chunks" in given or "shards" in given) and (array.chunks, array.shards) != (made.chunks, made.shards):
        there, wanted = f"chunks {array.chunks}, shards {array.shards}", f"chunks {made.chunks}, shards {made.shards}"
        raise ValueError(f"{array!r} is there, with {there}, expected {wanted}")


def _kind(array: Array) -> Any:
    """The data type of an array, as an argument."""
    core = array._core
    return array.dtype if core.form == "fixed" else core.data_type
