"""Groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from zarr_rust import _core, _html
from zarr_rust._arguments import checked
from zarr_rust._array import Array
from zarr_rust._async import in_thread
from zarr_rust._handle import Node, Spec, Text
from zarr_rust._members import Members
from zarr_rust._new_node import created, new_group
from zarr_rust._stores import StoreLike, named
from zarr_rust._warnings import warn
from zarr_rust._zarr_python import AUTO, codecs_and_dialect, dialect_of
from zarr_rust.errors import ArgumentError

class Group(Members, Mapping[str, "Array | Group"]):
    """A group in a store: a mapping from names to the arrays and groups below it.

    >>> import zarr_rust
    >>> group = zarr_rust.create_group("memory:")
    >>> wind = group.create_array("surface/wind", shape=(4,), dtype="f4")
    >>> list(group), "surface/wind" in group
    (['surface'], True)
    >>> group["surface/wind"]
    <Array memory:/surface/wind shape=(4,) dtype=float32>
    >>> group.tree()
    /
    └── surface
        └── wind (4,) float32
    """

    __eq__ = Node.__eq__
    __hash__ = Node.__hash__

    @classmethod
    def open(cls, store: StoreLike, zarr_format: int | None = None) -> Group:
        """Opens a group to be written, as :func:`zarr_rust.open_group` does, which has more arguments."""
        from zarr_rust._open import open_group

        return open_group(store, mode="r+", zarr_format=zarr_format)

    @classmethod
    def from_store(
        cls, store: StoreLike, *, attributes: Mapping[str, Any] | None = None, zarr_format: int | None = None, overwrite: bool = False
    ) -> Group:
        """Creates a group, as :func:`zarr_rust.create_group` does, which has more arguments."""
        from zarr_rust._open import create_group

        return create_group(store, attributes=attributes, zarr_format=zarr_format, overwrite=overwrite)

    def _open(self, spec: Spec) -> _core.Group:
        opened = _core.open(named(spec.url), spec.path, spec.mode, spec.dialect, spec.options, spec.cache)
        if not isinstance(opened, _core.Group):
            raise TypeError(f"{opened.store}: {opened.path}: found an array, expected a group")
        return opened

    def _facts(self) -> Any:
        # Of all nodes below too: the data sets of a group are made of them.
        nodes, broken = self._core.members("", True, True)
        below = [(path, node.metadata if isinstance(node, _core.Array) else node.attributes) for path, node in nodes]
        return (self._core.attributes, below, broken)

    def __repr__(self) -> str:
        core = self._core
        return f"<Group {core.store}{core.path}>"

    def _repr_html_(self) -> str:
        return _html.of_group(self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __getitem__(self, name: str) -> Array | Group:
        return of_handle(self._core.open(name))

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str) or name.strip("/") == "":
            return False
        try:
            return self._core.contains(name)
        except ValueError as error:
            if not _is_no_name(error):
                raise
            return False

    def get(self, name: str, default: Any = None) -> Any:
        """The array or group of a name; ``default`` if there is none, or the name cannot be one."""
        if not isinstance(name, str) or name.strip("/") == "":
            return default
        try:
            return self[name]
        except KeyError:
            return default
        except ValueError as error:
            if not _is_no_name(error):
                raise
            return default

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, _ in self._children()])

    def __len__(self) -> int:
        return len(self._children())

    def __delitem__(self, name: str) -> None:
        """Erases an array, or a group with all that lies below it."""
        self._check_writable()
        self._core.erase(name)

    def array_keys(self) -> Iterator[str]:
        """The names of the arrays directly below."""
        return iter([name for name, is_array in self._children() if is_array])

    def group_keys(self) -> Iterator[str]:
        """The names of the groups directly below."""
        return iter([name for name, is_array in self._children() if not is_array])

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """The arrays directly below, with their names."""
        for name in self.array_keys():
            array = self[name]
            assert isinstance(array, Array)
            yield name, array

    def groups(self) -> Iterator[tuple[str, Group]]:
        """The groups directly below, with their names."""
        for name in self.group_keys():
            group = self[name]
            assert isinstance(group, Group)
            yield name, group

    @checked
    def create_group(
        self,
        name: str,
        *,
        attributes: Mapping[str, Any] | None = None,
        overwrite: bool = False,
        zarr_format: int | None = None,
    ) -> Group:
        """Creates a group below, in the dialect of this one, and groups between where there are none."""
        self._check_writable()
        dialect_of(None, zarr_format, self.dialect)
        return Group(self._core.create_group(name, new_group(attributes, None, overwrite)))

    @checked
    def create_array(
        self,
        name: str,
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
        overwrite: bool = False,
        compressors: Any = AUTO,
        filters: Any = AUTO,
        serializer: Any = AUTO,
        order: str | None = None,
        zarr_format: int | None = None,
    ) -> Array:
        """Creates an array below, in the dialect of the group; see :func:`zarr_rust.create_array`."""
        self._check_writable()
        return created(
            partial(self._core.create_array, name),
            shape,
            dtype,
            data,
            {"compressors": compressors, "filters": filters, "serializer": serializer, "order": order, "zarr_format": zarr_format},
            of_group=self.dialect,
            chunks=chunks,
            shards=shards,
            codecs=codecs,
            fill_value=fill_value,
            dimension_names=dimension_names,
            separator=separator,
            attributes=attributes,
            overwrite=overwrite,
        )

    def info_complete(self) -> Text:
        """The lines of :attr:`info`, and how many nodes lie below."""
        return Text(self._core.info_complete().rstrip("\n"))

    async def open_async(self, name: str) -> Array | Group:
        """The array or group of a name, in a task of asyncio; see :meth:`zarr_rust.Array.read_async`."""
        return await in_thread(lambda: self[name])

    def tree(self, expand: bool | None = None, level: int | None = None) -> Text:
        """All nodes below, as a tree; no deeper than ``level``. ``expand`` does nothing, as in zarr-python."""
        nodes, broken = self._core.walk()
        _warn_of(broken)
        root = self._core.path.rstrip("/")
        children: dict[str, list[tuple[str, str]]] = {}
        for path, array in nodes:
            relative = path[len(root) :].strip("/")
            if relative and (level is None or relative.count("/") < level):
                above, _, name = relative.rpartition("/")
                shown = name if array is None else f"{name} {tuple(array[0])} {array[1]}"
                children.setdefault(above, []).append((relative, shown))
        lines = [self._core.path]
        _branches(children, "", "", lines)
        return Text("\n".join(lines))

    def _of(self, handle: _core.Array | _core.Group) -> Array | Group:
        return of_handle(handle)

    def _make_array(self, name: str, **arguments: Any) -> Array:
        return self.create_array(name, **arguments)

    def _make_group(self, name: str, **arguments: Any) -> Group:
        return self.create_group(name, **arguments)

    def _children(self) -> list[tuple[str, bool]]:
        nodes, broken = self._core.children()
        _warn_of(broken)
        return [(path.rsplit("/", 1)[-1], array is not None) for path, array in nodes]


def of_handle(handle: _core.Array | _core.Group) -> Array | Group:
    """An array or group that was opened."""
    return Array(handle) if isinstance(handle, _core.Array) else Group(handle)


def _is_no_name(error: ValueError) -> bool:
    """Whether an error says that a text cannot be the name of a node."""
    return isinstance(error, UnicodeEncodeError) or (isinstance(error, ArgumentError) and error.kind == "path")


def _warn_of(broken: list[str]) -> None:
    for message in broken:
        warn(message)


def _branches(children: dict[str, list[tuple[str, str]]], above: str, indent: str, lines: list[str]) -> None:
    below = children.get(above, [])
    for index, (path, shown) in enumerate(below):
        is_last = index == len(below) - 1
        lines.append(f"{indent}{'└── ' if is_last else '├── '}{shown}")
        _branches(children, path, indent + ("    " if is_last else "│   "), lines)
