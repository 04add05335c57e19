"""Where the stored chunks of an array are: its shards, if it has some, else its chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarr_rust._array import Array


def stored_chunks(array: Array) -> tuple[int | tuple[int, ...], ...]:
    """Along each dimension the length of stored chunks, or the length of each where they differ.

    Chunks that are not the last one have the same length if it is one number.
    """
    grid = array.metadata["chunk_grid"]
    if grid["name"] != "rectilinear":
        return tuple(array._core.chunk_shape)
    lengths = grid["configuration"]["chunk_shapes"]
    return tuple(_lengths(edges, length) for edges, length in zip(lengths, array.shape))


def _lengths(edges: Any, length: int) -> int | tuple[int, ...]:
    """The lengths of chunks along a dimension of a rectilinear grid, of which runs are pairs of a length and a count."""
    if isinstance(edges, int):
        return edges
    found: list[int] = []
    covered = 0
    for edge in edges:
        size, count = edge if isinstance(edge, list) else (edge, 1)
        for _ in range(count):
            if covered >= length:
                break
            # The part beyond the array holds no elements of it.
            found.append(min(size, length - covered))
            covered += found[-1]
    if len(set(found[:-1])) <= 1 and found and found[-1] <= found[0]:
        return found[0]
    return tuple(found) or (0,)


def sizes(chunks: Sequence[int | tuple[int, ...]], shape: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The lengths of all chunks along each dimension, of which the last one ends with the array."""
    return tuple(_sizes(part, length) for part, length in zip(chunks, shape))


def _sizes(part: int | tuple[int, ...], length: int) -> tuple[int, ...]:
    if not isinstance(part, int):
        return part
    whole, rest = divmod(length, part) if part else (0, 0)
    return (part,) * whole + ((rest,) if rest else ())
