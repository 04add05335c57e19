"""Data sets of xarray over arrays of this package: ``xarray.open_dataset(url, engine="zarr_rust")``.

>>> import tempfile, xarray, zarr_rust, zarr_rust.xarray
>>> url = tempfile.mkdtemp() + "/weather.zarr"
>>> array = zarr_rust.create_array(url, "t2m", shape=(4, 6), dtype="f4", fill_value=280, dimension_names=["y", "x"])
>>> data = xarray.open_dataset(url, engine=zarr_rust.xarray.ZarrRustBackend)
>>> data.t2m.isel(x=[5, 1], y=2).values
array([280., 280.], dtype=float32)

Where the package is installed by pip, the engine has the name ``"zarr_rust"``.
"""

from __future__ import annotations

import os
import posixpath
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import xarray
from xarray.backends import AbstractDataStore, BackendArray, BackendEntrypoint, StoreBackendEntrypoint
from xarray.backends.zarr import FillValueCoder
from xarray.core import indexing

from zarr_rust import _selection
from zarr_rust._array import Array
from zarr_rust._async import in_thread
from zarr_rust._xarray_encoding import codecs_of
from zarr_rust._grid import stored_chunks
from zarr_rust._group import Group, of_handle
from zarr_rust._open import open_group
from zarr_rust.errors import ZarrWarning

#: The attribute by which xarray names dimensions before version 3.
_DIMENSIONS = "_ARRAY_DIMENSIONS"


class LazyArray(BackendArray):
    """An array of which xarray reads parts."""

    __slots__ = ("_array", "dtype", "shape")

    def __init__(self, array: Array) -> None:
        self._array = array
        self.shape = array.shape
        self.dtype = array.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        # All kinds of indexing and steps of either sign are read as they are, so that xarray has nothing left to do.
        if isinstance(key, indexing.VectorizedIndexer):
            chosen = _selection.vectorized(key.tuple, self.shape)
        else:
            chosen = _selection.orthogonal(key.tuple)
        return self._array._read(chosen, None)

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        """As ``[]``, in a thread. It ends where the task is cancelled."""
        return await in_thread(lambda: self[key])


class _Store(AbstractDataStore):
    """The arrays of one group as variables that are not decoded."""

    def __init__(self, group: Group, arrays: Mapping[str, Array], masks_fill_value: bool | None) -> None:
        self._group = group
        self._arrays = arrays
        self._masks_fill_value = group._core.fill_value_marks_missing if masks_fill_value is None else masks_fill_value

    def get_variables(self) -> Mapping[str, xarray.Variable]:
        return {name: self._variable(array) for name, array in self._arrays.items()}

    def get_attrs(self) -> Mapping[str, Any]:
        return _shown(self._group.attrs.asdict())

    def get_dimensions(self) -> Mapping[str, int]:
        sizes: dict[str, int] = {}
        for array in self._arrays.values():
            sizes.update(zip(_dimensions(array), array.shape))
        return sizes

    def _variable(self, array: Array) -> xarray.Variable:
        dimensions = _dimensions(array)
        attributes = array.attrs.asdict()
        data = LazyArray(array)
        stored = stored_chunks(array)
        encoding: dict[str, Any] = {
            "chunks": array.chunks if array.shards else stored,
            "shards": stored if array.shards else None,
            # A part of a shard costs more to read than it seems, and much more to write.
            "preferred_chunks": dict(zip(dimensions, stored)),
        }
        encoding |= codecs_of(array)
        if data.dtype.kind == "T":
            encoding["dtype"] = data.dtype
        if not array._core.has_dimension_names:
            attributes = {name: value for name, value in _shown(attributes).items() if name != _DIMENSIONS}
        if self._masks_fill_value:
            if _has_fill_value(array):
                attributes["_FillValue"] = array.fill_value
        elif not array._core.fill_value_marks_missing:
            encoding["fill_value"] = array.fill_value
            if isinstance(attributes.get("_FillValue"), (str, list)) and array.dtype.kind in "fcSO":
                attributes["_FillValue"] = _decoded(attributes["_FillValue"], array)
        return xarray.Variable(dimensions, indexing.LazilyIndexedArray(data), attributes, encoding)


class ZarrRustBackend(BackendEntrypoint):
    """The engine ``"zarr_rust"`` of xarray.

    Arguments that not all engines of xarray have:

    - ``group``: the path of the group; the root without it.
    - ``consolidated``: ``None`` takes consolidated metadata where there is some, ``True`` makes it an error that there is none, ``False``
      reads the documents of all arrays, as all do for a store object that says that it supports none.
    - ``storage_options``: options of the store, as for :func:`zarr_rust.open`, whose stores it takes, such as ``{"region": "eu-central-1"}``.
    - ``use_zarr_fill_value_as_mask``: whether elements that are the fill value are missing values; without it they are in version 2 of
      Zarr and before, as in xarray's own engine, and in the drafts of version 3 that have null as a fill value.
    - ``dialect``: that of :func:`zarr_rust.open`.

    The encoding of a variable has ``compressors``, ``filters`` and, in version 3, the ``serializer`` as xarray's own engine has them, so that
    ``to_zarr`` keeps them: objects of zarr-python and numcodecs. They are left out where these are not installed or do not know the codecs,
    and for the other formats.

    Arrays that cannot be opened, for example because of a codec that is not known, are left out with a
    :class:`zarr_rust.errors.ZarrWarning`.
    """

    description = "Open Zarr in every format, by zarr-rust"
    url = "https://github.com/zarr-rs/zarr"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        if isinstance(filename_or_obj, Group):
            return True
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        return str(filename_or_obj).rstrip("/").endswith((".zarr", ".zarr.zip"))

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        consolidated: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        dialect: str | None = None,
    ) -> xarray.Dataset:
        found = _found(filename_or_obj, group, consolidated, storage_options, dialect, False)
        store = found.store(found.path, drop_variables, use_zarr_fill_value_as_mask)
        return StoreBackendEntrypoint().open_dataset(
            store,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    # xarray reads the names of the arguments off ``open_dataset`` alone, and gives these the same ones.
    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        group: str | None = None,
        consolidated: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        dialect: str | None = None,
        **decoding: Any,
    ) -> dict[str, xarray.Dataset]:
        found = _found(filename_or_obj, group, consolidated, storage_options, dialect, True)
        groups = {}
        for path in found.groups:
            name = posixpath.relpath(path, found.path)
            groups[name if group else posixpath.normpath(f"/{name}")] = StoreBackendEntrypoint().open_dataset(
                found.store(path, drop_variables, use_zarr_fill_value_as_mask), drop_variables=drop_variables, **decoding
            )
        return groups

    def open_datatree(self, filename_or_obj: Any, **arguments: Any) -> xarray.DataTree:
        return xarray.DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **arguments))


class _Found(NamedTuple):
    """The groups at and below a path, and their arrays."""

    path: str
    groups: dict[str, Group]
    arrays: dict[str, dict[str, Array]]

    def store(self, path: str, dropped: str | Iterable[str] | None, masks_fill_value: bool | None) -> _Store:
        names = {dropped} if isinstance(dropped, str) else set(dropped or ())
        arrays = {name: array for name, array in self.arrays.get(path, {}).items() if name not in names}
        return _Store(self.groups[path], arrays, masks_fill_value)


def _found(
    source: Any,
    path: str | None,
    consolidated: bool | None,
    options: Mapping[str, Any] | None,
    dialect: str | None,
    recursive: bool,
) -> _Found:
    """The group at a path below the source, with its arrays and, if asked for, all groups below."""
    path = (path or "").strip("/")
    if not getattr(source, "supports_consolidated_metadata", True):
        # As in xarray's own engine, whatever is asked for: zarr-python writes none there.
        consolidated = False
    if isinstance(source, Group):
        if options:
            raise ValueError("storage_options go with an address, and not with a group that is open already")
        if dialect is not None and dialect != source.dialect:
            raise ValueError(f"dialect {dialect!r}: found {source!r}, which is open already as {source.dialect}")
        root: Group | None = source
        url = ""
    else:
        url = os.path.expanduser(source) if isinstance(source, str) else source
        try:
            root = open_group(url, dialect=dialect, storage_options=options)
        except KeyError:
            # The root needs no document of its own where a group below it is wanted.
            if not path:
                raise
            root = None
    if path:
        # Consolidated metadata of the root has the groups below too; a store that cannot list has no other way to them.
        if root is not None and consolidated is not False and root._core.is_consolidated():
            return _members(root, path, recursive, True)
        group = open_group(url, path, dialect=dialect, storage_options=options) if root is None else root[path]
        if not isinstance(group, Group):
            raise TypeError(f"found {group!r}, expected a group")
    else:
        assert root is not None
        group = root
    if consolidated and not group._core.is_consolidated():
        raise ValueError(f"{group!r}: found no consolidated metadata, which consolidated=True asks for")
    return _members(group, "", recursive, consolidated is not False)


def _members(root: Group, name: str, recursive: bool, consolidated: bool) -> _Found:
    """The group of a name below another one, with its arrays and, if asked for, all groups below."""
    nodes, broken = root._core.members(name, recursive or name != "", consolidated)
    for message in broken:
        warnings.warn(message, ZarrWarning, stacklevel=4)
    above = posixpath.join(root.name, name) if name else root.name
    groups = {} if name else {above: root}
    arrays: dict[str, dict[str, Array]] = {}
    for path, handle in nodes:
        node = of_handle(handle)
        folder, base = posixpath.split(path)
        if isinstance(node, Group):
            if recursive or path == above:
                groups.setdefault(path, node)
        elif path != above and (recursive or folder == above):
            try:
                node.dtype  # noqa: B018
            except TypeError as error:
                warnings.warn(f"{node.store}: {path}: {error}", ZarrWarning, stacklevel=4)
                continue
            arrays.setdefault(folder, {})[base] = node
    if above not in groups:
        # Which has the error of a group that is not there.
        group = root[name]
        raise TypeError(f"found {group!r}, expected a group")
    return _Found(above, groups, arrays)


def _dimensions(array: Array) -> tuple[str, ...]:
    names = array.dims
    if names is None:
        if array.ndim == 0:
            return ()
        wanted = "dimension_names" if array._core.has_dimension_names else f"the attribute {_DIMENSIONS}"
        raise KeyError(f"{array.store}: {array.name}: found no names of dimensions ({wanted}), which variables of xarray need")
    unnamed = [axis for axis, name in enumerate(names) if name is None]
    if unnamed:
        raise KeyError(f"{array.store}: {array.name}: found no name of dimension {unnamed[0]}, which variables of xarray need")
    return tuple(name for name in names if name is not None)


def _has_fill_value(array: Array) -> bool:
    return array.metadata.get("fill_value") is not None


def _shown(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes without the ones that netCDF keeps for itself."""
    return {name: value for name, value in attributes.items() if not name.lower().startswith("_nc")}


def _decoded(value: Any, array: Array) -> Any:
    """A ``_FillValue`` as xarray writes it in version 3; one that others wrote is as it is."""
    form = array._core.form
    try:
        return FillValueCoder.decode(value, form if form in ("string", "bytes") else array.dtype)
    except (TypeError, ValueError):
        return value
