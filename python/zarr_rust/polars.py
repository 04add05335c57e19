"""Lazy frames of Polars over data sets: only chunks are read that the filters and columns of a query need.

:func:`scan` makes a ``polars.LazyFrame`` with a row for each combination of indices of the dimensions. What a query filters by labels of
dimensions becomes a selection, so that other chunks are not read; variables and coordinates that it does not use are not read
either.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

import polars
from polars.io.plugins import register_io_source

from zarr_rust._dataset import Dataset, dataset
from zarr_rust._table import table as make_table

__all__ = ["scan"]


def scan(
    source: Any,
    path: str | None = None,
    variables: str | Sequence[str] | None = None,
    *,
    ordered: bool = True,
    memory: int | str = "128MiB",
    storage_options: Mapping[str, Any] | None = None,
) -> polars.LazyFrame:
    """A data set as a lazy frame: an open one, or one that is opened as by :func:`zarr_rust.dataset`.

    Columns and the arguments are those of :meth:`zarr_rust.Dataset.to_arrow`. Of a filter, the parts that are joined by ``&`` and that have one
    dimension alone are looked up in its labels; the others are applied to the rows.

    >>> import polars, zarr_rust, zarr_rust.polars
    >>> height = ("lat", "lon"), [[1, 2], [3, 4]]
    >>> data = zarr_rust.create_dataset("memory:", variables={"height": height}, coords={"lat": ("lat", [50.0, 60.0])})
    >>> zarr_rust.polars.scan(data).filter(polars.col("lat") > 55).select(polars.col("height").sum()).collect().item()
    7
    """
    opened = source if isinstance(source, Dataset) else dataset(source, path, storage_options=storage_options)
    table = opened.to_arrow(variables, ordered=ordered, memory=memory)
    dims = list(table.dims)
    # Polars has the types of Arrow from an array without rows.
    schema = polars.DataFrame(opened.isel({dim: slice(0, 0) for dim in dims}).to_arrow(variables, dims=dims)).schema

    def rows(
        with_columns: list[str] | None, predicate: polars.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[polars.DataFrame]:
        wanted = with_columns if with_columns is not None else list(schema)
        needed = {*wanted, *(predicate.meta.root_names() if predicate is not None else [])}
        # Columns that nobody asks for are not read; the rows are those of all dimensions whatever columns there are. A frame has rows only
        # if it has a column.
        columns = [name for name in schema if name in needed] or list(schema)[:1]
        selected = opened.isel(_indices(opened, dims, predicate))
        size = batch_size if batch_size is not None else 65_536
        left = n_rows
        for batch in make_table(selected._core, variables, dims, "plain", max(size, 1), ordered, memory, columns):
            frame = polars.DataFrame(batch)
            if predicate is not None:
                frame = frame.filter(predicate)
            if left is not None:
                frame = frame.head(left)
                left -= frame.height
            yield frame.select(wanted)
            if left == 0:
                return

    return register_io_source(rows, schema=schema, is_pure=True)


def _indices(opened: Dataset, dims: Sequence[str], predicate: polars.Expr | None) -> dict[str, Any]:
    """Indices of each dimension at which the parts of a predicate that have this dimension alone are true."""
    found: dict[str, Any] = {}
    for part in _parts(predicate) if predicate is not None else []:
        roots = part.meta.root_names()
        # Dimensions without labels are counted from 0 in each selection.
        if not roots or len(set(roots)) > 1 or roots[0] not in dims or roots[0] not in opened.coords:
            continue
        dim = roots[0]
        labels = polars.DataFrame(opened.to_arrow([], dims=[dim]))
        matches = labels.select(part.alias(dim))[dim]
        if matches.dtype != polars.Boolean or len(matches) != labels.height:
            # A part that is no comparison row by row.
            continue
        mask = matches.fill_null(value=False).to_numpy()
        found[dim] = mask if dim not in found else found[dim] & mask
    return {dim: _ranged(mask.nonzero()[0].tolist()) for dim, mask in found.items()}


def _ranged(indices: list[int]) -> Any:
    """The indices as a range, if they follow each other."""
    if not indices:
        return slice(0, 0)
    first, last = indices[0], indices[-1]
    return slice(first, last + 1) if last - first + 1 == len(indices) else indices


def _parts(predicate: polars.Expr) -> list[polars.Expr]:
    """The parts of a predicate that are joined by ``&``."""
    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
        return [polars.Expr.deserialize(StringIO(json.dumps(part)), format="json") for part in _joined(tree)]
    except (ValueError, TypeError, polars.exceptions.PolarsError):
        # Expressions that have no such form are taken as a whole.
        return [predicate]


def _joined(tree: Any) -> Iterator[Any]:
    node = tree.get("BinaryExpr") if isinstance(tree, dict) else None
    if node is not None and node.get("op") == "And":
        yield from _joined(node["left"])
        yield from _joined(node["right"])
    else:
        yield tree
