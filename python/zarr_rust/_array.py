"""Arrays."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from zarr_rust import _codec_objects, _core, _grid, _html, _plan, _selection, _values
from zarr_rust._async import in_thread
from zarr_rust._fields import Fields, part
from zarr_rust._handle import Node, Spec, Text
from zarr_rust._indexers import BlockIndex, OIndex, VIndex
from zarr_rust._lengths import lengths_of
from zarr_rust._plan import Plan
from zarr_rust._selecting import Selecting
from zarr_rust._selection import Selection
from zarr_rust._stores import StoreLike, named
from zarr_rust.errors import _of_parts as of_parts


class Array(Selecting, Node[_core.Array]):
    """An array in a store, opened by :func:`zarr_rust.open` or created.

    It is indexed as an array of numpy is, and gives numpy arrays; nothing is read before that.

    >>> import numpy as np, zarr_rust
    >>> array = zarr_rust.create_array("memory:", shape=(4, 6), chunks=(2, 3), dtype="int16")
    >>> array[:] = np.arange(24).reshape(4, 6)
    >>> array[1, ::-2]
    array([11,  9,  7], dtype=int16)
    >>> array.oindex[[3, 0], [1, 1]]
    array([[19, 19],
           [ 1,  1]], dtype=int16)
    >>> array.vindex[[3, 0], [1, 5]]
    array([19,  5], dtype=int16)

    Reads and writes may come from many threads at once; they hold no lock of the interpreter.
    """

    @classmethod
    def open(cls, store: StoreLike) -> Array:
        """Opens an array to be written, as :func:`zarr_rust.open_array` does, which has more arguments."""
        from zarr_rust._open import open_array

        return open_array(store, mode="r+")

    def _open(self, spec: Spec) -> _core.Array:
        opened = _core.open(named(spec.url), spec.path, spec.mode, spec.dialect, spec.options, spec.cache)
        if not isinstance(opened, _core.Array):
            raise TypeError(f"{opened.store}: {opened.path}: found a group, expected an array")
        return opened

    def _facts(self) -> Any:
        return self._core.metadata

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each dimension."""
        return tuple(self._core.shape)

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return len(self._core.shape)

    @property
    def size(self) -> int:
        """How many elements there are."""
        return math.prod(self._core.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type of numpy that elements are read as, in the byte order of this machine.

        Texts of any length are ``StringDType`` where numpy has it (from 2.0 on), else ``object``, as in zarr-python; bytes and lists of
        any length are ``object``.

        Raises ``TypeError`` if numpy has no such data type.
        """
        core = self._core
        form = core.form
        return _values.dtype_of_form(form, core.dtype if form in ("fixed", "absent") else None)

    @property
    def itemsize(self) -> int:
        """Bytes of an element in memory."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory."""
        return self.size * self.itemsize

    @property
    def nchunks(self) -> int:
        """How many chunks there are, stored or not: inner chunks, if there are shards."""
        return math.prod(self.cdata_shape)

    def nbytes_stored(self) -> int:
        """Bytes of all chunks as they are stored, which are listed for that.

        Raises ``StoreError`` if the store cannot list.
        """
        return self._stored()[1]

    def nchunks_stored(self) -> int:
        """How many chunks (shards, if there are any) are stored; as :meth:`nbytes_stored`."""
        return self._stored()[0]

    def _stored(self) -> tuple[int, int]:
        _, stored = self._core.sizes()
        if stored is None:
            store, path = self._core.store, self._core.path
            raise of_parts(f"{store}: {path}: the store cannot list", "store", None, None, (store, path, None, None, None))
        return stored

    def info_complete(self) -> Text:
        """The lines of :attr:`info`, and how much is stored, for which chunks are listed.

        >>> import zarr_rust
        >>> array = zarr_rust.create_array("memory:", shape=(4, 6), chunks=(2, 3), dtype="int16")
        >>> array[:2] = 1
        >>> (array.nchunks, array.nchunks_stored(), "2 of 4" in array.info_complete())
        (4, 2, True)
        """
        return Text(self._core.sizes()[0].rstrip("\n"))

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of chunks: of inner chunks, if there are shards. Where chunks have several shapes, the largest."""
        return tuple(self._core.part_shape)

    @property
    def shards(self) -> tuple[int, ...] | None:
        """The shape of shards; ``None`` if there are none."""
        core = self._core
        return tuple(core.chunk_shape) if core.is_sharded else None

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """How many chunks there are along each dimension: of inner chunks, if there are shards."""
        core = self._core
        if not core.is_sharded:
            return tuple(core.grid_shape)
        return tuple(-(-length // chunk) if length else 0 for length, chunk in zip(core.shape, core.part_shape))

    @property
    def nchunks_initialized(self) -> int:
        """How many chunks are stored, for which they are listed; of inner chunks all of each shard that is stored."""
        core = self._core
        inner = [outer // chunk for outer, chunk in zip(core.chunk_shape, core.part_shape)] if core.is_sharded else []
        return self.nchunks_stored() * math.prod(inner)

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of chunks along each dimension, within the shape: of inner chunks, if there are shards."""
        return _grid.sizes(self.chunks, self.shape) if self.shards else self.write_chunk_sizes

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of shards along each dimension, within the shape; of chunks, if there are no shards."""
        return _grid.sizes(_grid.stored_chunks(self), self.shape)

    @property
    def compressors(self) -> tuple[Any, ...]:
        """The codecs that make bytes of bytes: objects of zarr-python (of numcodecs in version 2) where it is installed and knows them, else
        the members of the document. Of shards they are those of inner chunks."""
        return _codec_objects.compressors(self._core)

    @property
    def filters(self) -> tuple[Any, ...]:
        """The codecs that make elements of elements; as :attr:`compressors`."""
        return _codec_objects.filters(self._core)

    @property
    def serializer(self) -> Any:
        """The codec that makes bytes of elements, as :attr:`compressors`; ``None`` in version 2."""
        return _codec_objects.serializer(self._core)

    @property
    def compressor(self) -> Any:
        """The compressor of version 2, an object of numcodecs; ``None`` if there is none.

        Raises ``TypeError`` in other dialects, which have :attr:`compressors`.
        """
        if self.dialect != "v2":
            raise TypeError(f"{self!r}: compressor is of version 2, and the array is of dialect {self.dialect!r}: see compressors")
        return next(iter(self.compressors), None)

    @property
    def order(self) -> str:
        """``"F"`` if the elements of a chunk are stored in Fortran order, as version 2 has it, else ``"C"``."""
        return _codec_objects.order(self._core)

    @property
    def dims(self) -> tuple[str | None, ...] | None:
        """Names of the dimensions; ``None`` if they have none."""
        names = self._core.dimension_names
        return None if names is None else tuple(names)

    @property
    def fill_value(self) -> Any:
        """The value of elements that are not stored."""
        core = self._core
        form = core.form
        inner = core.dtype if form in ("fixed", "list", "absent") else None
        return _values.fill_value(form, inner, core.fill)

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata in the vocabulary of Zarr v3, whatever dialect the array is stored in."""
        members: dict[str, Any] = json.loads(self._core.metadata)
        return members

    def __repr__(self) -> str:
        core = self._core
        return f"<Array {core.store}{core.path} shape={self.shape} dtype={core.data_type}>"

    def _repr_html_(self) -> str:
        return _html.of_array(self)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("the elements of a stored array are always a copy")
        data = self.read()
        return data if dtype is None else data.astype(dtype, copy=False)

    def __getitem__(self, selection: Any) -> Any:
        """Elements, as zarr-python selects them.

        Numbers, ranges with steps of either sign, an ellipsis, a list beside ranges, lists for all dimensions (points), a mask of the whole
        array, names of fields. A result without dimensions is a number.
        """
        return self._get(selection, _selection.of_index)

    def __setitem__(self, selection: Any, value: Any) -> None:
        """Sets elements to a value, which is broadcast and converted as numpy does."""
        self._set(selection, value, _selection.of_index)

    @property
    def oindex(self) -> OIndex:
        """Orthogonal indexing: the outer product of lists, masks, ranges and numbers."""
        return OIndex(self)

    @property
    def vindex(self) -> VIndex:
        """Vectorized indexing: points, one list of coordinates for each dimension, or a mask of the whole array."""
        return VIndex(self)

    @property
    def blocks(self) -> BlockIndex:
        """Whole chunks (shards, if there are any), by their numbers."""
        return BlockIndex(self)

    @property
    def fields(self) -> Fields:
        """The fields of the structs that the elements are.

        >>> import numpy as np, zarr_rust
        >>> array = zarr_rust.create_array("memory:", shape=(4,), dtype=[("x", "f4"), ("n", "i2")])
        >>> array.fields["x"][1:3] = [1.5, 2.5]
        >>> array["n"] = 7
        >>> array.fields["x"][:], array[1]
        (array([0. , 1.5, 2.5, 0. ], dtype=float32), np.void((1.5, 7), dtype=[('x', '<f4'), ('n', '<i2')]))

        A field is written by reading the structs, changing them in memory and writing them: what others write meanwhile to other fields of
        the same elements is lost.
        """
        return Fields(self)

    def plan(self, selection: Any = Ellipsis) -> Plan:
        """The requests that a read of a selection makes, and what they cost, without the read. Of shards it may read an index.

        >>> import zarr_rust
        >>> array = zarr_rust.create_array("memory:", shape=(1000, 1000), chunks=(100, 100), dtype="int16", codecs="none")
        >>> plan = array.plan((0, ...))
        >>> plan.chunks, plan.request_count, plan.rounds, plan.selected_bytes, plan.requests[0].key
        (10, 10, 1, 2000, 'c/0/0')
        """
        chosen = _selection.of_index(selection, self.shape)
        return _plan.of_dict(self._core.plan(chosen.kind, chosen.parts))

    async def read_async(self, selection: Any = Ellipsis, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """As :meth:`read`, in a task of asyncio.

        It, and the others whose names end in ``async``, wait on a thread of the loop's executor (``loop.set_default_executor`` says how many
        there are), while decoding is done by the threads that all reads share. A task that is cancelled makes no further request, and
        ``CancelledError`` is raised when those under way have ended; reads of servers are given up at once.

        >>> import asyncio, zarr_rust
        >>> async def total(array: zarr_rust.Array) -> int:
        ...     rows = await asyncio.gather(*(array.read_async(row) for row in range(4)))
        ...     return int(sum(row.sum() for row in rows))
        >>> asyncio.run(total(zarr_rust.create_array("memory:", shape=(4, 5), dtype="i4", fill_value=2)))
        40
        """
        return await in_thread(lambda: self.read(selection, out))

    async def write_async(self, selection: Any, value: Any) -> None:
        """Sets elements, as ``array[selection] = value``, in a task of asyncio; see :meth:`read_async`."""
        await in_thread(lambda: self.__setitem__(selection, value))

    async def append_async(self, data: Any, axis: int = 0) -> tuple[int, ...]:
        """As :meth:`append`, in a task of asyncio; see :meth:`read_async`."""
        return await in_thread(lambda: self.append(data, axis))

    async def resize_async(self, *shape: int | Sequence[int]) -> None:
        """As :meth:`resize`, in a task of asyncio; see :meth:`read_async`."""
        await in_thread(lambda: self.resize(*shape))

    def read(self, selection: Any = Ellipsis, out: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """Reads a selection into memory: a new array, or ``out``, of any strides, which has the data type of the array.

        >>> import numpy as np, zarr_rust
        >>> array = zarr_rust.create_array("memory:", shape=(2, 3), dtype="f4", fill_value=1)
        >>> image = np.zeros((3, 4), dtype="f4")
        >>> _ = array.read(out=image.T[:2, :3])
        >>> image.sum()
        np.float32(6.0)

        If it fails, ``out`` has old and new elements. Other threads must leave it alone meanwhile.
        """
        fields, rest = _selection.split_fields(selection)
        if fields is not None:
            raise TypeError("fields are read by array[names]")
        return self._read(_selection.of_index(rest, self.shape), out)

    def read_many(
        self, selections: Iterable[Any], out: Sequence[np.ndarray[Any, Any]] | None = None
    ) -> list[np.ndarray[Any, Any]]:
        """Reads several regions as one read: each chunk is fetched and decoded once, however many of them meet it.

        ``out`` has an array for each of the selections, which are of numbers and ranges. The memory of these arrays is apart: none may
        lie upon another, or between the elements of another, as the left and the right half of a matrix do.

        >>> import zarr_rust
        >>> array = zarr_rust.create_array("memory:", shape=(100, 100), dtype="u1")
        >>> [window.shape for window in array.read_many([(slice(0, 9), slice(4, 8)), (5, slice(2, 4))])]
        [(9, 4), (2,)]
        """
        core = self._core
        chosen = [_selection.basic(selection) for selection in selections]
        if core.form not in ("fixed", "absent"):
            raise TypeError(f"elements of type {core.data_type}: several regions at once are read of elements of fixed size")
        if out is None:
            outputs = [_values.empty(core.selected_shape(one.kind, one.parts), core.dtype) for one in chosen]
        else:
            outputs = list(out)
        if len(outputs) != len(chosen):
            raise ValueError(f"found {len(outputs)} arrays, expected {len(chosen)}, one for each selection")
        core.read_many([(one.parts, output) for one, output in zip(chosen, outputs)])
        return outputs

    def append(self, data: Any, axis: int = 0) -> tuple[int, ...]:
        """Appends elements along a dimension, and gives the new shape. Appends of others are kept: those of this one go behind them."""
        self._check_writable()
        core = self._core
        shape = list(core.shape)
        if not -len(shape) <= axis < len(shape):
            raise IndexError(f"axis {axis} is out of bounds for an array of {len(shape)} dimensions")
        axis %= len(shape)
        if core.form in ("fixed", "absent"):
            core.append(axis, _values.cast(np.asarray(data, dtype=core.dtype), core.dtype))
        else:
            value = _values.objects(core.form, data, False)
            inner = core.dtype if core.form == "list" else None
            core.append_variable(axis, list(value.shape), _values.encoded(core.form, inner, value))
        return self.shape

    def resize(self, *shape: int | Sequence[int]) -> None:
        """Changes the shape: elements beyond a smaller one are erased, those that a larger one adds have the fill value."""
        self._check_writable()
        lengths = shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape
        self._core.resize(lengths_of(lengths))

    def to_dask(self, chunks: Any = None, *, name: str | bool | None = None) -> Any:
        """The array as one of Dask: see :func:`zarr_rust.dask.to_dask`."""
        from zarr_rust.dask import to_dask

        return to_dask(self, chunks, name=name)

    def _get(self, selection: Any, select: Any) -> Any:
        fields, rest = _selection.split_fields(selection)
        is_one = fields is not None and len(fields) == 1 and not isinstance(selection, list)
        return self._take(select, rest, None, fields[0] if is_one and fields is not None else fields)

    def _set(self, selection: Any, value: Any, select: Any) -> None:
        fields, rest = _selection.split_fields(selection)
        self._put(select, rest, value, fields)

    def _take(self, select: Any, selection: Any, out: Any, fields: str | Sequence[str] | None) -> Any:
        chosen = self._select(select, selection)
        if fields is None:
            return _scalar(self._read(chosen, out))
        if isinstance(fields, str):
            # Which says what fields there are.
            part(np.empty((), self.dtype), fields)
            data = self._core.read_field(fields, chosen.kind, chosen.parts)
            if chosen.shape is not None:
                data = data.reshape(chosen.shape + data.shape[1:])
        else:
            self._check_fields(fields)
            from numpy.lib import recfunctions

            data = recfunctions.repack_fields(self._read(chosen, None)[list(fields)])
        return _scalar(data if out is None else _into(out, data))

    def _put(self, select: Any, selection: Any, value: Any, fields: Sequence[str] | None) -> None:
        self._check_writable()
        chosen = self._select(select, selection)
        if fields is not None:
            value = self._with_fields(chosen, fields, value)
        core = self._core
        form = core.form
        target = chosen.shape
        if target is None:
            target = tuple(core.selected_shape(chosen.kind, chosen.parts))
        if form in ("fixed", "absent"):
            fitted = _values.fit(_values.cast(np.asarray(value, dtype=core.dtype), core.dtype), target)
            if chosen.shape is not None:
                fitted = fitted.reshape(-1)
            core.write(chosen.kind, chosen.parts, fitted)
            return
        fitted = _values.fit(_values.objects(form, value, not target), target)
        inner = core.dtype if form == "list" else None
        core.write_variable(chosen.kind, chosen.parts, _values.encoded(form, inner, fitted))

    def _check_fields(self, names: Sequence[str]) -> None:
        known = self.dtype.names
        for name in names:
            if known is None:
                raise IndexError(f"no field {name!r}: the elements have none")
            if name not in known:
                raise IndexError(f"no field {name!r}, there are {known}")

    def _with_fields(self, chosen: Selection, fields: Sequence[str], value: Any) -> np.ndarray[Any, Any]:
        """The structs of a selection, with other values in some fields."""
        if self.dtype.names is None:
            self._check_fields(fields)
        structs = self._read(chosen, None)
        if len(fields) == 1:
            part(structs, fields[0])[0][...] = value
            return structs
        self._check_fields(fields)
        structs[list(fields)] = value
        return structs

    def _select(self, select: Any, selection: Any) -> Selection:
        by_shape = (_selection.of_index, _selection.vectorized, _selection.coordinates, _selection.mask)
        chosen: Selection = select(selection, self.shape) if select in by_shape else select(selection)
        return chosen

    def _read(self, chosen: Selection, out: np.ndarray[Any, Any] | None) -> np.ndarray[Any, Any]:
        core = self._core
        if core.form in ("fixed", "absent"):
            if chosen.shape is None:
                return core.read(chosen.kind, chosen.parts, out)
            if out is not None and (out.shape != chosen.shape or out.ndim == 1):
                return core.read(chosen.kind, chosen.parts, out)
            data = core.read(chosen.kind, chosen.parts).reshape(chosen.shape)
        else:
            shape, elements = core.read_variable(chosen.kind, chosen.parts)
            inner = core.dtype if core.form == "list" else None
            data = _values.array_of(core.form, inner, chosen.shape or shape, elements)
        return data if out is None else _into(out, data)


def _scalar(data: np.ndarray[Any, Any]) -> Any:
    return data[()] if data.shape == () else data


def _into(out: np.ndarray[Any, Any], data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if out.shape != data.shape:
        raise ValueError(f"found memory of shape {out.shape}, expected {data.shape}")
    np.copyto(out, data, casting="no")
    return out
