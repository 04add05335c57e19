"""What arrays and groups have in common: they are opened when they are first used, and go to other processes by their address."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from zarr_rust import _core
from zarr_rust.errors import _of_parts as of_parts

Handle = TypeVar("Handle", _core.Array, _core.Group)


class Spec(NamedTuple):
    """Where a node is, and how it is opened."""

    #: An address, or an object of Python.
    url: Any
    path: str
    mode: str
    dialect: str | None
    options: list[tuple[str, str]]
    #: The cache of decoded chunks.
    cache: _core.Cache | None = None


class Text(str):
    """A text that an interactive session shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Node(Generic[Handle]):
    """An array or a group."""

    _opened: Handle | None
    _spec: Spec | None
    #: The name that Dask has for a node in the memory of this process.
    _unique: str | None = None

    def __init__(self, handle: Handle | None, spec: Spec | None = None) -> None:
        if not isinstance(handle, (_core.Array, _core.Group)) and not (handle is None and isinstance(spec, Spec)):
            name = type(self).__name__
            raise TypeError(f"{name}() takes no store: zarr_rust.open_{name.lower()} opens one, zarr_rust.create_{name.lower()} makes one")
        self._opened = handle
        self._spec = spec

    def _place(self) -> tuple[Any, ...]:
        """Where the node is, for comparison. It is not opened for that."""
        spec = self._spec
        if self._opened is None and spec is not None and isinstance(spec.url, str):
            return (type(self), (spec.url, tuple(spec.options)), spec.path, spec.dialect)
        core = self._core
        return (type(self), core.origin if core.address is None else (core.address, tuple(core.store_options)), core.path, core.dialect)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same node of the same store."""
        return self is other or (isinstance(other, Node) and self._place() == other._place())

    def __hash__(self) -> int:
        return hash(self._place())

    def _open(self, spec: Spec) -> Handle:
        raise NotImplementedError

    @property
    def _core(self) -> Handle:
        if self._opened is None:
            assert self._spec is not None
            self._opened = self._open(self._spec)
        return self._opened

    def __reduce__(self) -> tuple[Any, ...]:
        if self._opened is None:
            return (type(self), (None, self._spec))
        core = self._opened
        store = core.address if core.asked is None else core.asked.store
        if store is None or type(store).__name__ == "MemoryStore":
            raise TypeError(f"{core.store}: a store in the memory of this process cannot be pickled")
        mode = "r" if core.read_only else "r+"
        return (type(self), (None, Spec(store, core.path, mode, core.dialect, core.store_options, core.cache)))

    def __dask_tokenize__(self) -> Any:
        """What Dask names tasks by: where the node is, and its metadata. Elements that others write do not change it."""
        core = self._core
        if core.address is None:
            if self._unique is None:
                self._unique = uuid.uuid4().hex
            return (type(self).__name__, self._unique, self._facts())
        return (type(self).__name__, core.address, core.path, core.dialect, core.store_options, self._facts())

    def _facts(self) -> Any:
        """The metadata, for comparison."""
        raise NotImplementedError

    @property
    def path(self) -> str:
        """The path in the hierarchy, without a slash in front; empty for the root."""
        return self._core.path.strip("/")

    @property
    def name(self) -> str:
        """The path in the hierarchy, with a slash in front."""
        return self._core.path

    @property
    def basename(self) -> str:
        """The last name of the path; empty for the root."""
        return self._core.path.rsplit("/", 1)[-1]

    @property
    def dialect(self) -> str:
        """The form in which the node is stored: ``"v3"``, ``"v2"``, ..."""
        return self._core.dialect

    @property
    def store(self) -> str:
        """The store, as text."""
        return self._core.store

    @property
    def store_path(self) -> str:
        """The store and the path in it, as text."""
        return f"{self._core.store.rstrip('/')}{self._core.path}".rstrip("/")

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Self:
        """Sets several attributes, with one change of the stored document, and gives the node."""
        self.attrs.update(new_attributes)
        return self

    @property
    def read_only(self) -> bool:
        """Whether writes are refused, as by ``mode="r"``."""
        return self._core.read_only

    @property
    def cache(self) -> _core.Cache | None:
        """The cache of decoded chunks with which the node was opened; ``None`` without one.

        >>> import zarr_rust
        >>> group = zarr_rust.open_group("memory:", mode="a", cache="64MiB")
        >>> array = group.create_array("a", shape=(4,), chunks=(2,), dtype="i2")
        >>> array[:2] = 7
        >>> array[0], array[1], array.cache.stats()["hits"]
        (np.int16(7), np.int16(7), 1)
        """
        return self._core.cache

    @property
    def info(self) -> Text:
        """A few lines about the node."""
        return Text(self._core.info().rstrip("\n"))

    @property
    def attrs(self) -> Attributes:
        """The attributes, as a mapping. Each change is stored at once; changes that others make to other attributes stay."""
        return Attributes(self)

    def _check_writable(self) -> None:
        if self._core.read_only:
            store, path = self._core.store, self._core.path
            message = f'{store}: {path}: opened with mode="r", which takes no writes'
            raise of_parts(message, "store", "ReadOnly", 'open it with mode="r+"', (store, path, None, None, None))


class Attributes(MutableMapping[str, Any]):
    """Attributes of an array or group: values of JSON by their names.

    They are those of the time when the node was opened, and of changes through it.

    >>> import zarr_rust
    >>> group = zarr_rust.create_group("memory:", attributes={"title": "wind"})
    >>> group.attrs["levels"] = [1, 2]
    >>> dict(group.attrs)
    {'title': 'wind', 'levels': [1, 2]}
    """

    def __init__(self, node: Node[Any]) -> None:
        self._node = node

    def asdict(self) -> dict[str, Any]:
        """A copy of all attributes."""
        members: dict[str, Any] = json.loads(self._node._core.attributes)
        return members

    def put(self, attributes: dict[str, Any]) -> None:
        """Replaces all attributes that are known here. Those that others have added since the node was opened stay."""
        self._node._check_writable()
        self._node._core.set_attributes(to_json(attributes))

    def update(self, *others: Any, **members: Any) -> None:
        """Sets several attributes, with one change of the stored document."""
        self._node._check_writable()
        self._node._core.change_attributes(to_json(dict(*others, **members)), [])

    def __getitem__(self, name: str) -> Any:
        return self.asdict()[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._node._check_writable()
        # Another thread may have removed it meanwhile.
        if not self._node._core.change_attributes("{}", [name]):
            raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.asdict())

    def __len__(self) -> int:
        return len(self.asdict())

    def __repr__(self) -> str:
        return repr(self.asdict())


def to_json(attributes: Any) -> str:
    """Attributes as JSON; numbers and arrays of numpy become those of JSON, and NaN and the infinities the literals of Python, which are
    stored where the dialect takes them."""
    members = dict(attributes)
    for name, value in members.items():
        if not isinstance(name, str):
            raise TypeError(f"found an attribute of the name {name!r}, expected a text")
        _check_names(name, value)
    try:
        return json.dumps(members, default=_plain)
    except (TypeError, ValueError) as error:
        for name, value in members.items():
            try:
                json.dumps(value, default=_plain)
            except (TypeError, ValueError):
                raise type(error)(f"attribute {name!r}: {error}") from None
        raise


def _check_names(name: str, value: Any) -> None:
    if isinstance(value, Mapping):
        for inner, part in value.items():
            if not isinstance(inner, str):
                raise TypeError(f"attribute {name!r}: found the name {inner!r}, expected a text")
            _check_names(f"{name}.{inner}", part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            if isinstance(part, (Mapping, list, tuple)):
                _check_names(name, part)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a value of type {type(value).__name__} has no form in JSON")
