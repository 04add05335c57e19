"""The methods of zarr-python that name a kind of indexing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zarr_rust import _selection


class Selecting:
    """Reads and writes of selections, each kind by a name of its own.

    ``out`` is memory of numpy that the elements are read into, of any strides and of the data type of the array; ``fields`` is the name of
    a field of structs, or a list of some.
    """

    def get_basic_selection(self, selection: Any = Ellipsis, *, out: Any = None, fields: str | Sequence[str] | None = None) -> Any:
        """Elements by numbers and ranges.

        >>> import numpy as np, zarr_rust
        >>> array = zarr_rust.create_array("memory:", data=np.arange(12).reshape(3, 4), chunks=(2, 2))
        >>> array.get_basic_selection((slice(1, 3), 2))
        array([ 6, 10])
        >>> array.get_orthogonal_selection(([0, 2], [1, 3]))
        array([[ 1,  3],
               [ 9, 11]])
        >>> array.get_coordinate_selection(([0, 2], [1, 3]))
        array([ 1, 11])
        >>> array.set_mask_selection(array[:] > 9, 0)
        >>> array.get_block_selection((1, 1))
        array([[0, 0]])
        """
        return self._take(_selection.basic, selection, _memory(out), fields)

    def set_basic_selection(self, selection: Any, value: Any, *, fields: str | Sequence[str] | None = None) -> None:
        """Sets elements by numbers and ranges."""
        self._put(_selection.basic, selection, value, _names(fields))

    def get_orthogonal_selection(self, selection: Any, *, out: Any = None, fields: str | Sequence[str] | None = None) -> Any:
        """Elements by the outer product of lists, masks, ranges and numbers, as ``array.oindex[...]``."""
        return self._take(_selection.orthogonal, selection, _memory(out), fields)

    def set_orthogonal_selection(self, selection: Any, value: Any, *, fields: str | Sequence[str] | None = None) -> None:
        """Sets elements by the outer product of lists, masks, ranges and numbers."""
        self._put(_selection.orthogonal, selection, value, _names(fields))

    def get_coordinate_selection(self, selection: Any, *, out: Any = None, fields: str | Sequence[str] | None = None) -> Any:
        """Points, by a list of coordinates for each dimension, as ``array.vindex[...]``."""
        return self._take(_selection.coordinates, selection, _memory(out), fields)

    def set_coordinate_selection(self, selection: Any, value: Any, *, fields: str | Sequence[str] | None = None) -> None:
        """Sets points, by a list of coordinates for each dimension."""
        self._put(_selection.coordinates, selection, value, _names(fields))

    def get_mask_selection(self, mask: Any, *, out: Any = None, fields: str | Sequence[str] | None = None) -> Any:
        """Elements where a mask of the whole array is true."""
        return self._take(_selection.mask, mask, _memory(out), fields)

    def set_mask_selection(self, mask: Any, value: Any, *, fields: str | Sequence[str] | None = None) -> None:
        """Sets elements where a mask of the whole array is true."""
        self._put(_selection.mask, mask, value, _names(fields))

    def get_block_selection(self, selection: Any, *, out: Any = None, fields: str | Sequence[str] | None = None) -> Any:
        """Whole chunks (shards, if there are any), by their numbers, as ``array.blocks[...]``."""
        return self._take(_selection.blocks, selection, _memory(out), fields)

    def set_block_selection(self, selection: Any, value: Any, *, fields: str | Sequence[str] | None = None) -> None:
        """Sets whole chunks (shards, if there are any), by their numbers."""
        self._put(_selection.blocks, selection, value, _names(fields))

    def _take(self, select: Any, selection: Any, out: Any, fields: str | Sequence[str] | None) -> Any:
        """The elements of a selection, in memory that is given or new."""
        raise NotImplementedError

    def _put(self, select: Any, selection: Any, value: Any, fields: Sequence[str] | None) -> None:
        """Sets the elements of a selection."""
        raise NotImplementedError


def _memory(out: Any) -> Any:
    """The memory of numpy of a buffer of zarr-python, which its own methods take."""
    return out if out is None or isinstance(out, np.ndarray) or not hasattr(out, "as_numpy_array") else out.as_numpy_array()


def _names(fields: str | Sequence[str] | None) -> Sequence[str] | None:
    return [fields] if isinstance(fields, str) else fields
