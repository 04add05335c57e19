"""Pyramids: coarser levels of an array."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from zarr_rust import _core
from zarr_rust._arguments import checked
from zarr_rust._array import Array
from zarr_rust._convert import _lengths, size_in_bytes
from zarr_rust._stores import StoreLike, where


@dataclass(frozen=True)
class PyramidLevel:
    """A level of a pyramid: its ``number``, 0 for a copy of the array, its ``path`` in its store, the ``factors`` from the array along each axis,
    its ``shape``, and the shapes of its ``chunks`` and ``shards``.
    """

    number: int
    path: str
    factors: tuple[int, ...]
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None


@checked
def pyramid(
    source: StoreLike | Array,
    target: StoreLike | None = None,
    *,
    path: str | None = None,
    to: str | None = None,
    factors: Mapping[str | int, int] | None = None,
    levels: int | None = None,
    method: str = "mean",
    skip_missing: bool = False,
    chunks: int | Sequence[int] | Mapping[str, int] | None = None,
    shards: int | Sequence[int] | Mapping[str, int] | Literal[False, "auto"] | None = None,
    codecs: Any = None,
    memory: int | str = "256MiB",
    overwrite: bool = False,
    resume: bool = False,
    region: Sequence[slice] | None = None,
    level: int | None = None,
    part: tuple[int, int] | None = None,
    finish: bool = False,
    abandon: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int], object] | None = None,
    source_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
) -> tuple[PyramidLevel, ...]:
    """Writes coarser levels of an array, and returns them. Each level is computed of the one before it, and each chunk of
    the array is read once, as far as ``memory`` allows.

    ``source`` is an address, with the ``path`` of the array, or an array that is open. Without ``target`` the levels are written beside it: those
    of ``image/0`` are ``image/1``, ``image/2``.., and they are added to the OME-Zarr image that the array is a level of. A ``target`` is a store, and
    ``to`` the path of a group in it, in which level ``0`` is a copy of the array.

    ``factors`` are those from a level to the next along dimensions, by name or index, by default 2 along the last two. There are so many
    ``levels``, by default until one fits a chunk. ``method`` is ``"mean"`` (integers are rounded, halves to the even neighbour; floats are computed in
    binary64), ``"median"``, ``"min"``, ``"max"``, ``"mode"`` (the most frequent, of several the least), or ``"nearest"`` (at the centre of the block). The
    last block along an axis has the elements that are left. ``skip_missing`` leaves out NaN, and elements that are equal to the attributes
    ``_FillValue`` and ``missing_value``, or without both to the fill value; a block of these becomes the first of them, or NaN if it has NaN alone.

    ``chunks``, ``shards`` and ``codecs`` are as in :func:`zarr_rust.convert`, and those of the array by default; no more than about ``memory`` bytes are
    used for data. An array at the path of a level is an error, or is replaced with ``overwrite``; a run that was interrupted goes on with ``resume``
    and the same arguments. ``region``, a slice for each axis, is a part of the array that has changed: only the chunks of existing levels above it
    are computed. ``level`` computes that level alone, of the one before it, in place if it exists. Both need the ``method``, the ``factors`` and
    ``skip_missing`` with which the levels were written. ``dry_run`` writes nothing.

    ``part=(i, n)`` computes part ``i`` of ``n``, counted from 1. Any processes on any machines compute parts at the same time. A part that was
    interrupted goes on when it is run again. The levels are there after ``finish=True``, which needs all parts. ``abandon=True`` gives up parts that
    were begun, and erases what they wrote. Both need the other arguments of the parts, also ``memory``, which decides where parts end.

    ``progress(done, total)`` is called on the calling thread at most every 50 ms, and at the end, with bytes of elements. An exception that
    it raises ends the work, as Ctrl-C does, and is raised.

    >>> import numpy as np, tempfile, zarr_rust
    >>> folder = tempfile.mkdtemp()
    >>> array = zarr_rust.create_array(f"{folder}/a.zarr", "0", shape=(6, 8), dtype="u2", chunks=(2, 2))
    >>> array[:] = np.arange(48).reshape(6, 8)
    >>> [level.shape for level in zarr_rust.pyramid(array)]
    [(3, 4), (2, 2)]
    >>> zarr_rust.open(f"{folder}/a.zarr/1")[0].tolist()
    [4, 6, 8, 10]
    """
    if isinstance(source, Array):
        if path is not None or source_options:
            raise TypeError("the source is open: path and source_options are of a source that is given by its address")
        found: Any = source._core
    else:
        found = where(source, path, source_options, writes=target is None)
    if target is None and (to is not None or target_options):
        raise TypeError("to and target_options are of a target")
    if (part is not None) + finish + abandon > 1:
        raise ValueError("part, finish, abandon: found several of them, expected one")
    for name, other in (("overwrite", overwrite), ("resume", resume), ("region", region is not None), ("level", level is not None), ("dry_run", dry_run)):
        if other and (part is not None or finish or abandon):
            raise ValueError(f"{name}: found it beside part, finish or abandon, expected none of these")
    if isinstance(codecs, (list, tuple, dict)):
        codecs = json.dumps(codecs if isinstance(codecs, (list, tuple)) else [codecs])
    settings = {
        "factors": {str(axis): factor for axis, factor in (factors or {}).items()},
        "levels": levels,
        "method": method,
        "skip_missing": skip_missing,
        "chunks": None if chunks is None else _lengths(chunks),
        "shards": None if shards is None else [] if shards is False else _lengths(shards),
        "codecs": codecs,
        "memory": size_in_bytes(memory),
        "overwrite": overwrite,
        "resume": resume,
        "region": None if region is None else [_range(part) for part in region],
        "level": level,
        "part": part,
        "finish": finish,
        "abandon": abandon,
        "dry_run": dry_run,
    }
    written = None if target is None else where(target, to, target_options)
    return tuple(
        PyramidLevel(number, at, tuple(by), tuple(shape), tuple(chunk), None if shard is None else tuple(shard))
        for number, at, by, shape, chunk, shard in _core.pyramid(found, written, settings, progress)
    )


def _range(part: slice) -> tuple[int, int]:
    if part.step not in (None, 1) or part.start is None or part.stop is None or part.start < 0 or part.stop < part.start:
        raise ValueError(f"region: found {part}, expected slices with a start and a stop, not negative, without a step")
    return part.start, part.stop
