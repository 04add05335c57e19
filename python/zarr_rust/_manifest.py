"""Manifests: checksums of stored values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from zarr_rust import _core
from zarr_rust._arguments import checked
from zarr_rust._array import Array
from zarr_rust._group import Group
from zarr_rust._sizes import size_in_bytes
from zarr_rust._stores import StoreLike, where
from zarr_rust._warnings import warn

#: How much memory values use unless it is given.
MEMORY = "1GiB"


@dataclass(frozen=True)
class Manifest:
    """Checksums of the stored values of a node: the ``text``, as ``sha256sum`` or ``md5sum`` writes it.

    It has ``nvalues`` values of ``nbytes`` bytes. In the form of DANDI ``dandi_checksum`` is that of the node, as ``zarr-checksum`` computes it.
    """

    text: str
    nvalues: int
    nbytes: int
    dandi_checksum: str | None


class ManifestDifference(NamedTuple):
    """How a stored value differs from a manifest.

    The ``kind`` is ``"different"``, ``"missing"``, ``"not-listed"`` (the manifest has no such value) or ``"unreadable"``, with the ``cause``, which is
    ``None`` for the others.
    """

    kind: str
    cause: str | None = None


@checked
def manifest(
    source: StoreLike | Array | Group,
    path: str | None = None,
    *,
    form: Literal["sha256sum", "dandi"] = "sha256sum",
    memory: int | str = MEMORY,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Manifest:
    """Computes a checksum of each stored value of a node, with all nodes below it. The names are keys below the ``path`` of the node.

    ``sha256sum -c`` (of coreutils 9) checks the text in the directory of the node, and :func:`check_manifest` in any store. ``form="dandi"`` has MD5
    instead, as ``md5sum`` writes it, and in comments the checksums of directories that the archive DANDI uses, without ``.git``, ``.datalad``,
    ``.gitattributes``, ``.gitmodules`` and ``.dandi``. Records of unfinished changes (``.zconversion``, ``.zreplacement``, ``.zmigration``) are left out.
    Nothing may write to the node meanwhile: values that come, go or change their sizes are an error.

    No more than ``memory`` bytes of values are held at the same time, besides about 200 bytes and the name for each value, and ``threads`` values are
    read at the same time, by default the number of processors, and 16 at least for a remote store. ``progress(done, total)`` is called on the
    calling thread at most every 50 ms, and at the end, with bytes of values; the total is 0 if the store does not tell the sizes. An exception
    that it raises ends the work, as Ctrl-C does, and is raised.

    >>> import tempfile, zarr_rust
    >>> folder = tempfile.mkdtemp()
    >>> array = zarr_rust.create_array(f"{folder}/a.zarr", "t", shape=(4,), dtype="i2", chunks=(2,))
    >>> array[:] = [1, 2, 3, 4]
    >>> made = zarr_rust.manifest(f"{folder}/a.zarr")
    >>> zarr_rust.check_manifest(f"{folder}/a.zarr", made.text)
    {}
    >>> array[3] = 5
    >>> zarr_rust.check_manifest(f"{folder}/a.zarr", made.text)
    {'t/c/1': ManifestDifference(kind='different', cause=None)}
    """
    found = _found(source, path, storage_options)
    return Manifest(*_core.manifest(found, form, size_in_bytes(memory), threads, progress))


@checked
def check_manifest(
    source: StoreLike | Array | Group,
    text: str,
    path: str | None = None,
    *,
    memory: int | str = MEMORY,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> dict[str, ManifestDifference]:
    """Compares the stored values of a node with the ``text`` of a manifest of :func:`manifest`, of ``sha256sum`` or of ``md5sum``.

    Returns what differs, by name. If the keys cannot be listed, values that the manifest lacks are not found; a store that fails to list them
    makes a warning. ``memory``, ``threads`` and ``progress`` are as in :func:`manifest`.
    """
    found = _found(source, path, storage_options)
    differences, unlisted = _core.check_manifest(found, text, size_in_bytes(memory), threads, progress)
    if unlisted is not None:
        warn(f"other keys cannot be listed: {unlisted}")
    return {name: ManifestDifference(kind, cause) for name, kind, cause in differences}


def _found(source: Any, path: str | None, storage_options: Mapping[str, Any] | None) -> Any:
    if not isinstance(source, (Array, Group)):
        return where(source, path, storage_options, writes=False)
    if path is not None or storage_options:
        raise TypeError("the source is open: path and storage_options are of a source that is given by its address")
    return source._core
