"""The attributes of arrays by which they are indexed in other ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_rust import _selection

if TYPE_CHECKING:
    from zarr_rust._array import Array


class OIndex:
    """Orthogonal indexing of an array."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, selection: Any) -> Any:
        return self._array._get(selection, _selection.orthogonal)

    def __setitem__(self, selection: Any, value: Any) -> None:
        self._array._set(selection, value, _selection.orthogonal)


class VIndex:
    """Vectorized indexing of an array."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, selection: Any) -> Any:
        return self._array._get(selection, _selection.vectorized)

    def __setitem__(self, selection: Any, value: Any) -> None:
        self._array._set(selection, value, _selection.vectorized)


class BlockIndex:
    """Indexing of an array by chunks."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, selection: Any) -> Any:
        return self._array._get(selection, _selection.blocks)

    def __setitem__(self, selection: Any, value: Any) -> None:
        self._array._set(selection, value, _selection.blocks)
