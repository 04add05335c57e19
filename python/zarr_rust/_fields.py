"""Fields of structs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from zarr_rust._array import Array


class Field:
    """One field of the structs of an array, which is indexed as the array is; see :attr:`zarr_rust.Array.fields`."""

    def __init__(self, array: Array, name: str) -> None:
        self._array = array
        self.name = name

    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type of numpy of the field; of a field that is an array it has the shape."""
        return part(np.empty((), self._array.dtype), self.name)[1]

    def _with_name(self, selection: Any) -> Any:
        return (self.name, *selection) if isinstance(selection, tuple) else (self.name, selection)

    def __getitem__(self, selection: Any) -> Any:
        return self._array[self._with_name(selection)]

    def __setitem__(self, selection: Any, value: Any) -> None:
        self._array[self._with_name(selection)] = value

    def __repr__(self) -> str:
        return f"<Field {self.name!r} of {self._array!r}>"


class Fields(Mapping[str, Field]):
    """The fields of the structs of an array, by name. A field of a field is named ``"position.x"``, and is not listed."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, name: str) -> Field:
        part(np.empty((), self._array.dtype), name)
        return Field(self._array, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._array.dtype.names or ())

    def __len__(self) -> int:
        return len(self._array.dtype.names or ())


def part(structs: np.ndarray[Any, Any], name: str) -> tuple[np.ndarray[Any, Any], np.dtype[Any]]:
    """The elements of a field in the memory of structs, and its data type. Of names with points the longest that there is counts.

    Raises ``IndexError`` if there is no such field.
    """
    names = structs.dtype.names or ()
    points = [len(name), *(at for at in range(len(name) - 1, -1, -1) if name[at] == ".")]
    for at in points:
        if name[:at] in names:
            found, dtype = structs[name[:at]], structs.dtype[name[:at]]
            return (found, dtype) if at == len(name) else part(found, name[at + 1 :])
    raise IndexError(f"no field {name!r}, there are {names}" if names else f"no field {name!r}: the elements have none")
