"""Conversions: other dialects, chunks and codecs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from zarr_rust import _core, _selection
from zarr_rust._arguments import checked
from zarr_rust._array import Array
from zarr_rust._dataset import labels_of
from zarr_rust._group import Group
from zarr_rust._lengths import lengths_of
from zarr_rust._sizes import size_in_bytes as size_in_bytes
from zarr_rust._stores import StoreLike, address_of, where
from zarr_rust._warnings import warn

#: How much memory a conversion uses for data unless it is given.
MEMORY = "1GiB"


@dataclass(frozen=True)
class ConvertedNode:
    """A node, and what was done with it.

    ``path`` is its path in the source and ``to`` in the target, ``how`` is ``"group"``, ``"kept"`` (it is there already),
    ``"copied"`` (chunks as they are stored) or ``"recoded"`` (elements decoded, and encoded again), ``nbytes`` the bytes of its elements in memory. ``notes`` are differences of the
    metadata, of which ``losses`` are what the dialect cannot express; ``warning`` says what other software may take otherwise,
    and ``unread`` why no other software is known that reads the new array; it is empty if some does, or if the array is as it was.
    """

    path: str
    to: str
    dialect: str
    how: str
    nbytes: int
    notes: tuple[str, ...]
    losses: tuple[str, ...]
    warning: str | None
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class SkippedChunk:
    """A chunk of the source that cannot be read, whose elements have the fill value in the target: see ``keep_going``."""

    path: str
    chunk: tuple[int, ...]
    key: str | None
    cause: str


@dataclass(frozen=True)
class Conversion:
    """What a conversion did: its ``nodes``, sorted by path, and the chunks that it left out.

    ``skipped_more`` is about how many more chunks earlier runs or parts left out, of which no more than the number is kept; ``refused`` says of
    which nodes a ``dry_run`` found that they cannot be converted, and why.
    """

    nodes: tuple[ConvertedNode, ...]
    skipped: tuple[SkippedChunk, ...]
    refused: tuple[str, ...]
    skipped_more: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory."""
        return sum(node.nbytes for node in self.nodes)


@checked
def convert(
    source: StoreLike | Array | Group,
    target: StoreLike,
    *,
    path: str | None = None,
    to: str | None = None,
    dialect: str | None = None,
    chunks: int | Sequence[int] | Mapping[str, int] | None = None,
    shards: int | Sequence[int] | Mapping[str, int] | Literal[False, "auto"] | None = None,
    codecs: Any = None,
    variables: Sequence[str] | None = None,
    sel: Mapping[str, Any] | None = None,
    isel: Mapping[str, Any] | None = None,
    exclude: Sequence[str] = (),
    other_files: bool = True,
    memory: int | str = MEMORY,
    scratch: str | os.PathLike[str] | None = None,
    carry: bool = False,
    literal: bool = False,
    objects_as_strings: bool = False,
    convention: str | None = None,
    overwrite: bool = False,
    resume: bool = False,
    keep_going: bool = False,
    part: tuple[int, int] | None = None,
    finish: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int], object] | None = None,
    source_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
) -> Conversion:
    """Copies an array, or a group with all below it, into another dialect, other chunks, other codecs. The source is not changed.

    ``source`` is an address, or a node that is open, which is an error if it is stored in a newer dialect too; ``target`` is an address, whose store is made if it is not there. ``path`` is the node in
    the source, with the groups above it, and ``to`` its path in the target; without them they are those that the addresses name, and the whole
    hierarchy goes to the same paths.

    ``dialect``, ``chunks``, ``shards`` and ``codecs`` are as in :func:`zarr_rust.create_array`; without them arrays keep theirs, and
    ``shards=False`` makes arrays without shards. ``chunks`` and ``shards`` are for arrays of as many dimensions; a number stands for an array
    of one; ``{"time": 10, "lat": 45}`` are lengths along dimensions of these names, for all arrays that have one of them. ``shards="auto"``
    makes shards of about 64 MiB at most. Where only metadata changes, chunks are copied as they are stored. ``variables`` are names of a data set of which these alone are
    converted, with their coordinates. ``sel`` and ``isel`` take a region of a data set, by labels and indices of dimensions as
    :meth:`zarr_rust.Dataset.sel` and ``isel``: coordinates, and all variables that have the dimension, are cut along it, and others stay whole; dimensions
    stay, also with one element, and what is no box is a ``ValueError``. Nodes at the paths in ``exclude`` are left out, with all below them. Files that lie beside nodes and belong to none, such as tables in Parquet, are copied with their groups
    unless ``variables`` are chosen or ``other_files`` is false.

    No more than about ``memory`` bytes are used for data, a number or a text such as ``"500MiB"``. If that is little, elements are stored
    temporarily in the store ``scratch``, by default in the target.

    ``carry`` keeps metadata that the dialect cannot express in an attribute, ``literal`` keeps attributes and fill values to the letter where
    other software then takes them otherwise (xarray, readers of OME-Zarr), and ``convention`` is ``"xarray"``, ``"nczarr"`` or ``"none"``.
    ``objects_as_strings`` makes strings of objects in arrays all of whose elements are texts, which are read for it: objects are read by no
    other software in v3. Arrays that no other software reads are a :class:`~zarr_rust.errors.ZarrWarning` each.

    A node in the target is an error, or is replaced with ``overwrite``. A conversion that was interrupted goes on with ``resume`` and the same
    arguments. With ``keep_going`` a chunk that cannot be read has the fill value in the target and is in the result as ``skipped``, a node that
    cannot be read or converted is left out and is there as ``refused``, and each is a :class:`~zarr_rust.errors.ZarrWarning`.

    ``part=(i, n)`` writes part ``i`` of ``n``, counted from 1, as any process on any machine can at the same time as others write others; one
    that was interrupted goes on when it is run again. The nodes are there after ``finish=True``, which needs all parts, and the same other
    arguments. ``dry_run`` writes nothing, and gives what would be done.

    ``progress(done, total)`` is called on the calling thread at most every 50 ms, and at the end, with bytes of elements. An exception that
    it raises ends the conversion, as Ctrl-C does, and is raised.

    >>> import numpy as np, tempfile, zarr_rust
    >>> folder = tempfile.mkdtemp()
    >>> array = zarr_rust.create_array(f"{folder}/a.zarr", "t", shape=(60, 60), dtype="i2", chunks=(60, 1), dialect="v2")
    >>> array[:] = np.arange(3600).reshape(60, 60)
    >>> done = zarr_rust.convert(f"{folder}/a.zarr", f"{folder}/b.zarr", dialect="v3", chunks=(1, 60))
    >>> [(node.to, node.how) for node in done.nodes]
    [('/', 'group'), ('/t', 'recoded')]
    >>> zarr_rust.open(f"{folder}/b.zarr/t")[59, 59]
    np.int16(3599)

    The same by three processes:

    >>> arguments = {"chunks": (10, 10)}
    >>> for number in (1, 2, 3):
    ...     _ = zarr_rust.convert(f"{folder}/a.zarr", f"{folder}/c.zarr", part=(number, 3), **arguments)
    >>> _ = zarr_rust.convert(f"{folder}/a.zarr", f"{folder}/c.zarr", finish=True, **arguments)
    >>> zarr_rust.open(f"{folder}/c.zarr/t").chunks
    (10, 10)
    """
    if isinstance(source, (Array, Group)):
        if path is not None or source_options:
            raise TypeError("the source is open: path and source_options are of a source that is given by its address")
        found: Any = source._core
    else:
        found = where(source, path, source_options, writes=False)
    for name, other in {"overwrite": overwrite, "resume": resume, "dry_run": dry_run}.items():
        if other and (part is not None or finish):
            raise ValueError(f"{name}: of a conversion that is not done in parts")
    if part is not None and finish:
        raise ValueError("finish: after all parts, without one")
    if isinstance(codecs, (list, tuple, dict)):
        codecs = json.dumps(codecs if isinstance(codecs, (list, tuple)) else [codecs])
    settings = {
        "dialect": dialect,
        "chunks": None if chunks is None else _lengths(chunks),
        "shards": None if shards is None else [] if shards is False else _lengths(shards),
        "codecs": codecs,
        "variables": None if variables is None else list(variables),
        "sel": [(dimension, *labels_of(label)) for dimension, label in (sel or {}).items()],
        "isel": [(dimension, _selection.orthogonal((index,)).parts) for dimension, index in (isel or {}).items()],
        "exclude": list(exclude),
        "other_files": other_files,
        "memory": size_in_bytes(memory),
        "scratch": None if scratch is None else address_of(scratch),
        "carry": carry,
        "literal": literal,
        "objects_as_strings": objects_as_strings,
        "convention": convention,
        "overwrite": overwrite,
        "resume": resume,
        "keep_going": keep_going,
        "part": part,
        "finish": finish,
        "dry_run": dry_run,
    }
    written = where(target, to, target_options)
    nodes, skipped, more, messages, refused = _core.convert(found, written, settings, progress)
    converted = tuple(_node(*node) for node in nodes)
    chunks_left_out = tuple(SkippedChunk(of, tuple(chunk), key, cause) for of, chunk, key, cause in skipped)
    for node in converted:
        messages += [f"{node.path}: {note}" for note in (*node.losses, *([node.warning] if node.warning else []), *node.unread)]
    messages += [f"{one.path}: chunk {one.chunk} is left out: {one.cause}" for one in chunks_left_out]
    messages += [f"left out: {cause}" for cause in refused if not dry_run]
    if more:
        messages.append(f"about {more} more chunks were left out by earlier runs or parts")
    for message in messages:
        warn(message)
    return Conversion(converted, chunks_left_out, tuple(refused), more)


def _lengths(lengths: int | str | Sequence[int] | Mapping[str, int]) -> Any:
    if isinstance(lengths, (str, Mapping)):
        return dict(lengths) if isinstance(lengths, Mapping) else lengths
    return lengths_of(lengths)


def _node(
    path: str, to: str, dialect: str, how: str, nbytes: int, notes: list[tuple[str, bool]], warning: str | None, unread: list[str]
) -> ConvertedNode:
    texts = tuple(text for text, _ in notes)
    losses = tuple(text for text, loss in notes if loss)
    return ConvertedNode(path, to, dialect, how, nbytes, texts, losses, warning, tuple(unread))
