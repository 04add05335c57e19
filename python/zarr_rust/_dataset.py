"""Groups as data sets: variables with named dimensions, whose values are decoded by the CF conventions."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from zarr_rust import _core, _html, _selection, _values
from zarr_rust._arguments import checked
from zarr_rust._array import Array
from zarr_rust._async import in_thread
from zarr_rust._group import Group
from zarr_rust._handle import Text
from zarr_rust._new_dataset import given
from zarr_rust._open import open_group
from zarr_rust._sizes import cache_of
from zarr_rust._stores import StoreLike, where
from zarr_rust._table import Table, table
from zarr_rust._warnings import warn

_METHODS = {None: None, "nearest": "nearest", "pad": "pad", "ffill": "pad", "backfill": "backfill", "bfill": "backfill"}
_DECODE_COORDS = {False: "none", True: "coordinates", "coordinates": "coordinates", "all": "all"}


class Dataset(Mapping[str, "Variable"]):
    """A group whose arrays share dimensions by name, opened by :func:`zarr_rust.dataset`: a mapping from names to variables.

    Nothing but metadata is read before values are asked for; :meth:`isel` and :meth:`sel` make other views of the same. A variable is an
    attribute as well, unless the name is one of a method: ``dataset.t2m`` is ``dataset["t2m"]``.
    """

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __init__(self, core: _core.Dataset) -> None:
        self._core = core

    def __eq__(self, other: object) -> bool:
        return self is other

    @property
    def dims(self) -> dict[str, int]:
        """The dimensions, and their sizes."""
        return dict(self._core.dimensions)

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of the group, without those of conventions."""
        members: dict[str, Any] = json.loads(self._core.attributes)
        return members

    @property
    def coords(self) -> dict[str, Variable]:
        """The variables that are coordinates."""
        return {name: Variable(self, name) for name in self._core.coordinates}

    @property
    def data_vars(self) -> dict[str, Variable]:
        """The variables that are no coordinates."""
        return {name: Variable(self, name) for name in self._core.data_variables}

    def __getitem__(self, name: str) -> Variable:
        variable = Variable(self, name)
        variable.shape  # noqa: B018
        return variable

    def __iter__(self) -> Iterator[str]:
        return iter([*self._core.coordinates, *self._core.data_variables])

    def __len__(self) -> int:
        return len(self._core.coordinates) + len(self._core.data_variables)

    def __contains__(self, name: object) -> bool:
        return name in self._core.coordinates or name in self._core.data_variables

    def __repr__(self) -> str:
        dims = ", ".join(f"{name}: {size}" for name, size in self._core.dimensions)
        return f"<Dataset {self._core.store}{self._core.path} ({dims}) {', '.join(self._core.data_variables)}>"

    def _repr_html_(self) -> str:
        return _html.of_dataset(self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __getattr__(self, name: str) -> Variable:
        """A variable whose name is no attribute of data sets: ``dataset.t2m``."""
        if not name.startswith("_") and name in self:
            return Variable(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute or variable {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in self if name.isidentifier())})

    def overview(self) -> Text:
        """Dimensions, coordinates with their first and last values, which are read, variables and attributes, as text."""
        return Text(self._core.overview().rstrip("\n"))

    def isel(self, indices: Mapping[str, Any] | None = None, **by_name: Any) -> Dataset:
        """The same data set with indices of dimensions: numbers, of which the dimension is gone then, ranges, lists, masks."""
        core = self._core
        for dimension, index in {**(indices or {}), **by_name}.items():
            core = core.isel(dimension, _selection.orthogonal((index,)).parts)
        return Dataset(core)

    def sel(self, labels: Mapping[str, Any] | None = None, method: str | None = None, **by_name: Any) -> Dataset:
        """The same data set with labels of dimensions: values of the coordinates that they have, of which alone is read.

        A label is a number, a text, or of times ``datetime64``, ``datetime`` or a date as text, of which a part stands for all that lies in
        it: ``"2020-01"``. A list gives as many, a slice all between two labels, both included. With ``method`` ``"nearest"``, ``"pad"`` or
        ``"backfill"`` a label that is not there is the nearest one, the last before it or the first behind it.

        Raises ``ValueError`` if there is no such dimension, coordinate or label.
        """
        if method not in _METHODS:
            raise ValueError(f"method {method!r}: expected one of {', '.join(map(repr, _METHODS))}")
        core = self._core
        for dimension, label in {**(labels or {}), **by_name}.items():
            kind, given = labels_of(label)
            core = core.sel(dimension, kind, given, _METHODS[method])
        return Dataset(core)

    def to_arrow(
        self,
        variables: str | Sequence[str] | None = None,
        sel: Mapping[str, Any] | None = None,
        isel: Mapping[str, Any] | None = None,
        *,
        dims: Sequence[str] | None = None,
        coordinates: str = "plain",
        batch_rows: int = 65_536,
        ordered: bool = True,
        memory: int | str = "128MiB",
    ) -> Table:
        """The data set as a table, which DuckDB, Polars, pandas and pyarrow read as a stream of Arrow.

        There is a row for each combination of indices of the dimensions, in C order of ``dims``, and columns for the labels of the dimensions, the other
        coordinates and the variables, as ``xarray.Dataset.to_dataframe`` has them. ``variables`` are those that become columns, beside their
        coordinates; ``isel`` and ``sel`` select first, as the methods of these names. Only chunks of the selection are read. Without ``dims``
        the order is that of the variable with the most dimensions.

        ``coordinates`` says how values that repeat are encoded: ``"plain"``, which every program takes, ``"dictionary"`` or ``"run-end"``, which
        are smaller and faster. With ``ordered=False`` rows are in the order of chunks, so that less ``memory`` suffices to decode each
        chunk once. ``memory`` bounds blocks of elements and decoded chunks. A batch has at most ``batch_rows`` rows.

        Missing values are nulls: NaN, NaT and what the encoding says is missing. ``ValueError`` if a type has no equivalent in Arrow.

        >>> import zarr_rust
        >>> height = ("lat", "lon"), [[1, 2], [3, 4]]
        >>> data = zarr_rust.create_dataset("memory:", variables={"height": height}, coords={"lat": ("lat", [50.0, 60.0])})
        >>> data.to_arrow(sel={"lat": 60.0})
        <Table (lon: 2) lon, lat, height>
        """
        dataset = self.isel(isel) if isel else self
        dataset = dataset.sel(sel) if sel else dataset
        return table(dataset._core, variables, dims, coordinates, batch_rows, ordered, memory)

    def append(self, dim: str, variables: Mapping[str, Any], coords: Mapping[str, Any] | None = None) -> Dataset:
        """Appends along a dimension, and gives the data set as it is then.

        ``variables`` and ``coords``, as of :func:`zarr_rust.create_dataset`, have a part of each variable that has the dimension. Values are
        encoded as the variables are.
        """
        return Dataset(self._core.append(dim, given(variables, coords, None)))

    def write(
        self, variables: Mapping[str, Any], coords: Mapping[str, Any] | None = None, *, by_labels: bool = False, safe_chunks: bool = True
    ) -> None:
        """Writes values of variables that are there, over the part that is selected: ``data.isel(time=slice(0, 10)).write(...)``.

        With ``by_labels`` it is the part whose labels ``coords`` has. A part that covers some chunks in part is a ``ValueError``, unless
        ``safe_chunks=False`` says that nobody writes the rest of them.
        """
        self._core.write(given(variables, coords, None, safe_chunks=safe_chunks), by_labels)

    def update(
        self, variables: Mapping[str, Any], coords: Mapping[str, Any] | None = None, attrs: Mapping[str, Any] | None = None
    ) -> Dataset:
        """Writes whole variables, those that are not there too, sets attributes, and gives the data set as it is then."""
        return Dataset(self._core.update(given(variables, coords, attrs)))


class Variable:
    """A variable of a :class:`Dataset`: an array with names of its dimensions, whose values are decoded where they are read.

    Missing data are NaN and NaT, and ``None`` in arrays of objects; packed numbers are floats; times are ``datetime64[ns]``, or in calendars
    that numpy lacks texts as in ISO 8601.
    """

    def __init__(self, dataset: Dataset, name: str) -> None:
        self._dataset = dataset
        self.name = name

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the dimensions."""
        return tuple(self._dataset._core.dimensions_of(self.name))

    @property
    def shape(self) -> tuple[int, ...]:
        """Values along each dimension."""
        return tuple(self._dataset._core.shape_of(self.name))

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many values there are."""
        return math.prod(self.shape)

    @property
    def data_type(self) -> str:
        """The data type of the values, decoded, by its name in Zarr. Of times the first and the last one are read for it."""
        return self._dataset._core.data_type_of(self.name)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type of numpy of the values, decoded. Where some of another type than floats and times are missing, it is that of the
        others. No value is read."""
        nothing = dict.fromkeys(self.dims, slice(0, 0))
        found: np.dtype[Any] = self.isel(nothing).read().dtype
        return found

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes, without those that are the encoding."""
        members: dict[str, Any] = json.loads(self._dataset._core.attributes_of(self.name))
        return members

    @property
    def encoding(self) -> dict[str, Any]:
        """The attributes that are the encoding: ``scale_factor``, ``units`` of times, ``coordinates``, ... ``_FillValue`` is among them in
        every format, as a value of the stored data type; NaN is ``"NaN"``."""
        members: dict[str, Any] = json.loads(self._dataset._core.encoding_of(self.name))
        return members

    @property
    def coords(self) -> dict[str, Variable]:
        """The coordinates whose dimensions the variable has all of."""
        return {name: Variable(self._dataset, name) for name in self._dataset._core.coordinates_of(self.name)}

    def isel(self, indices: Mapping[str, Any] | None = None, **by_name: Any) -> Variable:
        """The same variable with indices of dimensions, as :meth:`Dataset.isel`."""
        return Variable(self._dataset.isel(indices, **by_name), self.name)

    def sel(self, labels: Mapping[str, Any] | None = None, method: str | None = None, **by_name: Any) -> Variable:
        """The same variable with labels of dimensions, as :meth:`Dataset.sel`."""
        return Variable(self._dataset.sel(labels, method, **by_name), self.name)

    def to_arrow(self, sel: Mapping[str, Any] | None = None, isel: Mapping[str, Any] | None = None, **options: Any) -> Table:
        """The variable and its coordinates as a table, as :meth:`Dataset.to_arrow`."""
        return self._dataset.to_arrow(self.name, sel, isel, **options)

    def read(self) -> np.ndarray[Any, Any]:
        """Reads the values, decoded."""
        shape, form, data, missing, inner = self._dataset._core.read(self.name)
        if form == "times":
            values = np.array([text.replace(" ", "T") for text in data], dtype=object).reshape(shape)
        else:
            values = _values.array_of(form, inner, shape, data)
        if missing is not None:
            values = values.astype(object)
            values[missing.reshape(shape)] = None
        return values

    @property
    def values(self) -> np.ndarray[Any, Any]:
        """The values, which are read each time."""
        return self.read()

    async def read_async(self) -> np.ndarray[Any, Any]:
        """As :meth:`read`, in a task of asyncio; see :meth:`zarr_rust.Array.read_async`."""
        return await in_thread(self.read)

    def __getitem__(self, selection: Any) -> np.ndarray[Any, Any]:
        """Reads values by indices along the dimensions: numbers, ranges, lists and masks, whose outer product is taken, and an ellipsis."""
        parts = selection if isinstance(selection, tuple) else (selection,)
        dims = self.dims
        if any(part is Ellipsis for part in parts):
            at = next(number for number, part in enumerate(parts) if part is Ellipsis)
            parts = (*parts[:at], *[slice(None)] * (len(dims) - len(parts) + 1), *parts[at + 1 :])
        if len(parts) > len(dims):
            raise IndexError(f"found {len(parts)} indices, expected at most {len(dims)}, one for each dimension")
        if len(set(dims)) < len(dims) and any(not isinstance(part, slice) or part != slice(None) for part in parts):
            # An index of a dimension is one of each axis that has its name.
            raise IndexError(f"{self.name}: found dimensions {dims}, of which one is there twice: index what read() gives")
        return self.isel(dict(zip(dims, parts))).read()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("the values of a stored variable are always a copy")
        data = self.read()
        return data if dtype is None else data.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a variable without dimensions")
        return self.shape[0]

    def _repr_html_(self) -> str:
        return _html.of_variable(self)

    def __repr__(self) -> str:
        dims = ", ".join(f"{name}: {size}" for name, size in zip(self.dims, self.shape))
        return f"<Variable {self.name} ({dims})>"


@checked
def dataset(
    source: StoreLike | Group,
    path: str | None = None,
    mode: str = "r",
    dialect: str | None = None,
    *,
    decode_coords: bool | str = True,
    number_dimensions: bool = False,
    consolidated: bool = True,
    storage_options: Mapping[str, Any] | None = None,
    cache: int | str | _core.Cache | None = None,
) -> Dataset:
    """Opens a group as a data set: at an address, as :func:`zarr_rust.open` takes it, or one that is open.

    With ``mode="r+"`` it takes writes; of a group that is open its own mode and dialect count.

    Dimensions are named by ``dimension_names`` of Zarr v3, by xarray's ``_ARRAY_DIMENSIONS`` or by NCZarr; with ``number_dimensions`` those
    without names are ``dim_0``, ``dim_1``, else they are an error. ``decode_coords`` says which variables are coordinates beside those named
    as their dimension: ``False`` none, ``True`` those in attributes ``coordinates``, ``"all"`` also those in ``bounds``, ``grid_mapping``, ...
    ``cache`` keeps decoded values in memory, as :func:`zarr_rust.open` does; of a group that is open its own cache counts. A data set that
    takes writes has none, and its writes clear that of the group. With ``consolidated=False`` the nodes are looked for although there is
    consolidated metadata. Arrays that cannot be variables are a :class:`~zarr_rust.errors.ZarrWarning`.

    >>> import numpy as np, zarr_rust
    >>> group = zarr_rust.create_group("memory:")
    >>> days = group.create_array("time", data=np.array([0, 1, 31], "i4"), dimension_names=["time"], attributes={"units": "days since 2020-01-01"})
    >>> t2m = group.create_array("t2m", data=np.array([0, 3, 40], "i2"), dimension_names=["time"], attributes={"scale_factor": 0.5, "add_offset": 273.0})
    >>> weather = zarr_rust.dataset(group)
    >>> weather.dims, list(weather.coords)
    ({'time': 3}, ['time'])
    >>> weather["t2m"].sel(time="2020-01").values
    array([273. , 274.5])
    >>> weather["time"][-1]
    array('2020-02-01T00:00:00.000000000', dtype='datetime64[ns]')
    """
    if decode_coords not in _DECODE_COORDS:
        raise ValueError(f'decode_coords {decode_coords!r}: expected a bool or "all"')
    if isinstance(source, Array):
        raise TypeError(f"found {source!r}, expected a group")
    if isinstance(source, Group):
        if path is not None or dialect is not None or storage_options or cache is not None:
            raise TypeError("the group is open: path, dialect, storage_options and cache are of a store that is named")
        found: Any = source._core
    elif mode not in ("r", "r+"):
        raise ValueError(f'mode {mode!r}: expected "r" or "r+"; create_dataset makes one')
    elif mode == "r+" and cache is not None:
        raise ValueError("cache: a data set that takes writes has no cache, since decoded values are not what is written")
    elif mode == "r+" or dialect is not None:
        found = open_group(source, path, mode, dialect, storage_options=storage_options, cache=cache)._core
    else:
        found = where(source, path, storage_options, writes=False)
    core = _core.open_dataset(found, _DECODE_COORDS[decode_coords], number_dimensions, consolidated, cache_of(cache))
    for message in core.broken:
        warn(message)
    return Dataset(core)


@checked
def create_dataset(
    store: StoreLike,
    path: str | None = None,
    variables: Mapping[str, Any] | None = None,
    coords: Mapping[str, Any] | None = None,
    attrs: Mapping[str, Any] | None = None,
    *,
    dialect: str | None = None,
    overwrite: bool = False,
    consolidated: bool = True,
    storage_options: Mapping[str, Any] | None = None,
) -> Dataset:
    """Creates a data set, as xarray writes them, and the store if it is not there.

    Each of ``variables`` and ``coords`` is a tuple ``(dims, data)``, ``(dims, data, attrs)`` or ``(dims, data, attrs, encoding)``: names of
    dimensions, or one, an array of numpy or what makes one, attributes, and how it is stored: ``dtype``, ``scale_factor``, ``add_offset``,
    ``_FillValue``, ``units`` and ``calendar`` of times, ``chunks``, ``shards``, ``codecs``. All is encoded before anything is stored.

    >>> import numpy as np, zarr_rust
    >>> weather = zarr_rust.create_dataset(
    ...     "memory:",
    ...     variables={"t2m": ("time", [280.5, np.nan, 281.0], {"units": "K"}, {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -1})},
    ...     coords={"time": ("time", np.array(["2020-01-01", "2020-01-02", "2020-02-01"], "M8[D]"))},
    ... )
    >>> weather = weather.append("time", {"t2m": ("time", [282.0])}, {"time": ("time", [np.datetime64("2020-02-02")])})
    >>> weather.sel(time="2020-02")["t2m"].values
    array([281., 282.])
    """
    new = given(variables or {}, coords, attrs, dialect=dialect, overwrite=overwrite, consolidated=consolidated)
    return Dataset(_core.create_dataset(*where(store, path, storage_options), new))


def labels_of(label: Any) -> tuple[str, list[Any]]:
    """The kind of a selection by labels, and the labels, as the compiled part takes them."""
    if isinstance(label, slice):
        if label.step is not None:
            raise ValueError("a slice of labels has no step")
        return "slice", [None if end is None else _label(end) for end in (label.start, label.stop)]
    if isinstance(label, (list, tuple, range)) or (isinstance(label, np.ndarray) and label.ndim == 1):
        return "list", [_label(one) for one in label]
    return "one", [_label(label)]


def _label(label: Any) -> int | float | str:
    if isinstance(label, np.ndarray) and label.ndim == 0:
        label = label[()]
    if isinstance(label, (np.datetime64, np.timedelta64)):
        unit = "datetime64[ns]" if isinstance(label, np.datetime64) else "timedelta64[ns]"
        return int(label.astype(unit).astype(np.int64))
    if isinstance(label, datetime.datetime):
        if label.tzinfo is not None:
            label = label.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return int(np.datetime64(label, "ns").astype(np.int64))
    if isinstance(label, datetime.date):
        return label.isoformat()
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, (bool, int, float, str)):
        return label
    raise TypeError(f"found a label of type {type(label).__name__}, expected a number, a text or a time")
