"""Data sets as tables, for programs that take streams of Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from zarr_rust import _core
from zarr_rust._sizes import size_in_bytes

_COORDINATES = ("run-end", "dictionary", "plain")


class Table:
    """A data set as a table, of :meth:`zarr_rust.Dataset.to_arrow`: rows are read when a program asks for them.

    DuckDB, Polars, pandas, pyarrow and all others that know the Arrow PyCapsule interface take it as it is: ``pyarrow.table(weather)``,
    ``polars.DataFrame(weather)``, ``pandas.DataFrame.from_arrow(weather)``, and ``duckdb.sql("SELECT avg(t2m) FROM weather")``. Each of them reads
    the rows anew, block by block.
    """

    def __init__(self, core: _core.Table) -> None:
        self._core = core

    @property
    def dims(self) -> dict[str, int]:
        """Names of the dimensions and their lengths, outermost first. There is a row for each combination of their indices."""
        return dict(self._core.dimensions)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._core.columns)

    @property
    def rows(self) -> int:
        """Number of rows, which may be more than ``len`` can return."""
        rows = 1
        for length in self.dims.values():
            rows *= length
        return rows

    def __len__(self) -> int:
        return self.rows

    def __bool__(self) -> bool:
        return self.rows != 0

    def __arrow_c_schema__(self) -> Any:
        """Names and types of the columns, as a capsule ``arrow_schema``."""
        return self._core.schema()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Rows from the first one, as a capsule ``arrow_array_stream``. The types are those of the table whatever is requested."""
        return self._core.stream()

    def __iter__(self) -> Iterator[_core.TableBatch]:
        """Reads batch after batch. Each is taken by ``pyarrow.record_batch(batch)`` and ``polars.DataFrame(batch)``."""
        return iter(self._core.batches())

    def __repr__(self) -> str:
        dims = ", ".join(f"{name}: {length}" for name, length in self.dims.items())
        return f"<Table ({dims}) {', '.join(self.columns)}>"


def table(
    core: _core.Dataset,
    variables: str | Sequence[str] | None,
    dims: Sequence[str] | None,
    coordinates: str,
    batch_rows: int,
    ordered: bool,
    memory: int | str,
    columns: Sequence[str] | None = None,
) -> Table:
    """Makes the table of a data set, of which only some columns are read if ``columns`` names them."""
    if coordinates not in _COORDINATES:
        raise ValueError(f"coordinates {coordinates!r}: expected one of {', '.join(map(repr, _COORDINATES))}")
    if batch_rows < 1:
        raise ValueError(f"batch_rows {batch_rows}: expected at least 1")
    names = [variables] if isinstance(variables, str) else None if variables is None else list(variables)
    order = None if dims is None else list(dims)
    some = None if columns is None else list(columns)
    return Table(_core.table(core, names, order, coordinates, batch_rows, ordered, size_in_bytes(memory), some))
