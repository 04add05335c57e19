"""Exceptions. Each is a :class:`ZarrError`, and the exception that Python's programs expect besides.

>>> import zarr_rust
>>> try:
...     zarr_rust.open("nowhere.zarr", path="a/b")
... except FileNotFoundError as error:
...     print(error.kind)
not-found
"""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "ConflictError",
    "DataError",
    "InternalError",
    "LimitError",
    "MetadataError",
    "MissingChunkError",
    "NodeExistsError",
    "NodeNotFoundError",
    "ReadOnlyError",
    "SelectionError",
    "StoreError",
    "UnknownExtensionError",
    "ZarrError",
    "ZarrWarning",
]


class ZarrError(Exception):
    """An operation that failed: why, and where.

    ``kind`` is a word such as ``"corrupt-chunk"`` that does not change from version to version, ``message`` all that is known.
    Each part of the location is ``None`` where it does not apply: the address of the ``store``, the ``path`` of the node, the index of the
    ``chunk``, the ``key`` in the store, and the ``pointer`` to a member of a metadata document. ``hint`` is a remedy.
    """

    kind: str = "argument"
    message: str = ""
    hint: str | None = None
    store: str | None = None
    path: str | None = None
    chunk: tuple[int, ...] | None = None
    key: str | None = None
    pointer: str | None = None
    # How the store failed, if it is to blame.
    _of_store: str | None = None

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message} ({self.hint})"

    def __reduce__(self) -> tuple[object, ...]:
        return (_restore, (type(self), dict(self.__dict__)))


class ArgumentError(ZarrError, ValueError):
    """The arguments are impossible."""


class SelectionError(ZarrError, IndexError):
    """The array does not have what is selected."""


class NodeNotFoundError(ZarrError, FileNotFoundError, KeyError):
    """There is no such array, group or store."""


class NodeExistsError(ZarrError, FileExistsError):
    """An array or group is there already."""


class MissingChunkError(ZarrError, LookupError):
    """A chunk is not stored, and missing chunks were to be an error."""


class MetadataError(ZarrError, ValueError):
    """A metadata document is broken, or of a form that is not supported."""


class UnknownExtensionError(MetadataError):
    """A codec, data type or other extension is not known."""


class DataError(ZarrError, ValueError):
    """The stored bytes of a chunk are broken."""


class LimitError(ZarrError, MemoryError):
    """A limit was exceeded, or there is no memory."""


class ConflictError(ZarrError):
    """Another writer changed the same chunk or metadata meanwhile, in another way or again and again."""


class StoreError(ZarrError, OSError):
    """The store failed."""


class ReadOnlyError(StoreError, PermissionError):
    """The store takes no writes, or was opened with ``mode="r"``."""


class InternalError(ZarrError, RuntimeError):
    """This library is to blame."""


class ZarrWarning(UserWarning):
    """Something that was passed over, such as a broken node in a group."""


_CLASSES: dict[str, type[ZarrError]] = {
    "invalid-json": MetadataError,
    "invalid-metadata": MetadataError,
    "unknown-member": MetadataError,
    "unknown-extension": UnknownExtensionError,
    "unsupported-version": MetadataError,
    "not-expressible": MetadataError,
    "corrupt-chunk": DataError,
    "checksum-mismatch": DataError,
    "shard-index": DataError,
    "limit": LimitError,
    "path": ArgumentError,
    "not-found": NodeNotFoundError,
    "missing-chunk": MissingChunkError,
    "exists": NodeExistsError,
    "conflict": ConflictError,
    "argument": ArgumentError,
    "store": StoreError,
    "internal": InternalError,
}


def _restore(made: type[ZarrError], members: dict[str, object]) -> ZarrError:
    error = made(members["message"])
    error.__dict__.update(members)
    return error


def _of_parts(
    message: str,
    kind: str,
    store_error: str | None,
    hint: str | None,
    location: tuple[str | None, str | None, list[int] | None, str | None, str | None],
) -> ZarrError:
    """The exception of an error of the compiled part."""
    made = ReadOnlyError if store_error == "ReadOnly" else _CLASSES.get(kind, ZarrError)
    store, path, chunk, key, pointer = location
    if made is NodeNotFoundError and message.endswith("no such store"):
        # What the system says of files, which programs look for.
        message += ": No such file or directory"
    members: dict[str, object] = {
        "kind": kind,
        "message": message,
        "hint": hint,
        "store": store,
        "path": path,
        "chunk": None if chunk is None else tuple(chunk),
        "key": key,
        "pointer": pointer,
        "_of_store": store_error,
    }
    return _restore(made, members)


def _of_selection(message: str) -> SelectionError:
    """The exception of a selection."""
    return _restore(SelectionError, {"message": message})  # type: ignore[return-value]
