"""The methods of groups that zarr-python's have: nodes below that are found, made, moved and replaced."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_rust import _core
from zarr_rust._array import Array
from zarr_rust._handle import Node
from zarr_rust._values import name_of
from zarr_rust._warnings import warn
from zarr_rust.errors import NodeNotFoundError

if TYPE_CHECKING:
    from zarr_rust._group import Group


def _is_of(array: Array, dtype: Any, exact: bool) -> bool:
    """Whether elements have a data type, or can be cast to it."""
    name, wanted = name_of(dtype)
    if wanted is None or array._core.form != "fixed":
        return name == array._core.data_type
    return array.dtype == wanted if exact else np.can_cast(array.dtype, wanted)


class Members(Node[_core.Group]):
    """Nodes below a group."""

    def members(
        self, max_depth: int | None = 0, *, use_consolidated_for_children: bool = True
    ) -> tuple[tuple[str, Array | Group], ...]:
        """The nodes below, with their paths: those directly below, those down to ``max_depth`` levels further, or with ``None`` all.

        They are taken from consolidated metadata where there is some, unless ``use_consolidated_for_children`` is false.

        >>> import zarr_rust
        >>> group = zarr_rust.create_group("memory:")
        >>> _ = group.create_array("a/b", shape=3, dtype="i2")
        >>> [path for path, _ in group.members()], [path for path, _ in group.members(max_depth=None)]
        (['a'], ['a', 'a/b'])
        """
        if max_depth is not None and max_depth < 0:
            raise ValueError(f"max_depth: found {max_depth}, expected None or a number from 0")
        recursive = max_depth is None or max_depth > 0
        nodes, broken = self._core.members("", recursive, use_consolidated_for_children)
        for message in broken:
            warn(message)
        above = self._core.path.rstrip("/") + "/"
        found = [(path.removeprefix(above), handle) for path, handle in nodes if path != self._core.path]
        kept = [(path, handle) for path, handle in found if max_depth is None or path.count("/") <= max_depth]
        return tuple((path, self._of(handle)) for path, handle in kept)

    def nmembers(self, max_depth: int | None = 0) -> int:
        """How many nodes lie below; see :meth:`members`."""
        return len(self.members(max_depth))

    def array_values(self) -> Iterator[Array]:
        """The arrays directly below."""
        return iter([node for _, node in self.members() if isinstance(node, Array)])

    def group_values(self) -> Iterator[Group]:
        """The groups directly below."""
        return iter([node for _, node in self.members() if not isinstance(node, Array)])

    def get_array(self, path: str) -> Array:
        """The array at a path below; a group is a ``TypeError``."""
        node = self._of(self._core.open(path))
        if not isinstance(node, Array):
            raise TypeError(f"found {node!r}, expected an array")
        return node

    def get_group(self, path: str) -> Group:
        """The group at a path below; an array is a ``TypeError``."""
        node = self._of(self._core.open(path))
        if isinstance(node, Array):
            raise TypeError(f"found {node!r}, expected a group")
        return node

    def require_group(self, name: str, *, attributes: Mapping[str, Any] | None = None, overwrite: bool = False) -> Group:
        """The group of a name, which is made if it is not there. An array is a ``TypeError``.

        >>> import zarr_rust
        >>> group = zarr_rust.create_group("memory:")
        >>> group.require_group("a/b"), group.require_group("a/b")
        (<Group memory:/a/b>, <Group memory:/a/b>)
        """
        if not overwrite:
            try:
                return self.get_group(name)
            except NodeNotFoundError:
                pass
        return self._make_group(name, attributes=attributes, overwrite=overwrite)

    def require_groups(self, *names: str) -> tuple[Group, ...]:
        """The groups of names, which are made if they are not there."""
        return tuple(self.require_group(name) for name in names)

    def require_array(self, name: str, *, shape: int | Sequence[int], dtype: Any = None, exact: bool = False, **arguments: Any) -> Array:
        """The array of a name, which is made if it is not there, with the arguments of :meth:`create_array`.

        One that is there must have the shape, and a data type that can be cast to ``dtype``, or with ``exact`` that one; else, and if it
        is a group, it is a ``TypeError``.
        """
        try:
            found = self.get_array(name)
        except NodeNotFoundError:
            return self._make_array(name, shape=shape, dtype="f8" if dtype is None else dtype, **arguments)
        wanted = tuple(int(length) for length in shape) if isinstance(shape, Sequence) else (int(shape),)
        if found.shape != wanted:
            raise TypeError(f"{found!r} is there, expected the shape {wanted}")
        if dtype is not None and not _is_of(found, dtype, exact):
            how = "the data type" if exact else "a data type that can be cast to"
            raise TypeError(f"{found!r} is there, expected {how} {dtype}")
        return found

    def __setitem__(self, name: str, value: Any) -> None:
        """Creates an array of elements, in the place of what is there."""
        self._make_array(name, data=value, overwrite=True)

    def move(self, source: str, dest: str) -> None:
        """Moves a node below, with all that lies below it, to another path below.

        >>> import zarr_rust
        >>> group = zarr_rust.create_group("memory:")
        >>> group["a"] = [1, 2]
        >>> group.move("a", "b/c")
        >>> group["b/c"][:]
        array([1, 2])
        """
        self._check_writable()
        self._core.move_node(source, dest)

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata in the vocabulary of Zarr v3, whatever dialect the group is stored in."""
        return {"zarr_format": 3, "node_type": "group", "attributes": json.loads(self._core.attributes)}

    def create(self, name: str, **arguments: Any) -> Array:
        """Creates an array below, as :meth:`create_array`."""
        return self._make_array(name, **arguments)

    def zeros(self, *, name: str, shape: int | Sequence[int], **arguments: Any) -> Array:
        """Creates an array of zeros below, of floats unless ``dtype`` is given; further arguments are those of :meth:`create_array`."""
        return self._make_array(name, shape=shape, **_floats(arguments))

    def ones(self, *, name: str, shape: int | Sequence[int], **arguments: Any) -> Array:
        """Creates an array of ones below; see :meth:`zeros`."""
        return self.full(name=name, shape=shape, fill_value=1, **arguments)

    def empty(self, *, name: str, shape: int | Sequence[int], **arguments: Any) -> Array:
        """Creates an array below, of which all elements are the fill value; see :meth:`zeros`."""
        return self._make_array(name, shape=shape, **_floats(arguments))

    def full(self, *, name: str, shape: int | Sequence[int], fill_value: Any, **arguments: Any) -> Array:
        """Creates an array of one value below; see :meth:`zeros`."""
        return self._make_array(name, shape=shape, fill_value=fill_value, **_floats(arguments))

    def zeros_like(self, *, name: str, data: Any, **arguments: Any) -> Array:
        """Creates an array of zeros below that is stored as another one is; ``arguments`` say what differs."""
        return self._make_array(name, **_like(self, data, "fill_value") | arguments)

    def ones_like(self, *, name: str, data: Any, **arguments: Any) -> Array:
        """Creates an array of ones below that is stored as another one is; ``arguments`` say what differs."""
        return self._make_array(name, **_like(self, data, "fill_value") | {"fill_value": 1} | arguments)

    def empty_like(self, *, name: str, data: Any, **arguments: Any) -> Array:
        """Creates an array below that is stored as another one is, without its elements; ``arguments`` say what differs."""
        return self._make_array(name, **_like(self, data) | arguments)

    def full_like(self, *, name: str, data: Any, fill_value: Any, **arguments: Any) -> Array:
        """Creates an array of one value below that is stored as another one is; ``arguments`` say what differs."""
        return self._make_array(name, **_like(self, data, "fill_value") | {"fill_value": fill_value} | arguments)

    def _make_array(self, name: str, **arguments: Any) -> Array:
        raise NotImplementedError

    def _make_group(self, name: str, **arguments: Any) -> Group:
        raise NotImplementedError

    def _of(self, handle: _core.Array | _core.Group) -> Array | Group:
        raise NotImplementedError


def _floats(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"dtype": "f8", **arguments}


def _like(group: Members, data: Any, *without: str) -> dict[str, Any]:
    """The arguments by which an array below a group is made that is stored as another one is, as far as its dialect has that."""
    from zarr_rust import _creation

    described = _creation.like(data, *without)
    if described.pop("dialect", group.dialect) != group.dialect:
        described.pop("codecs", None)
        described["chunks"] = data.chunks
    return described
