"""References to the chunks of files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from zarr_rust import _core
from zarr_rust._arguments import checked, options_of
from zarr_rust._stores import address_of
from zarr_rust._warnings import warn


@dataclass(frozen=True)
class References:
    """References that were written.

    ``references`` is the number of chunks that lie in files, ``inline`` that of chunks in the references themselves, of ``inline_nbytes`` bytes,
    and ``nbytes`` the size of the file. ``elsewhere`` are the folders of files that do not lie below that of the references: this library reads
    these with ``storage_options={"allow": "FOLDER,FOLDER"}``. The documents are of the ``dialect`` v2 or v3; ``not_in_v2`` says why they are of
    v3 where no dialect was asked for.
    """

    references: int
    inline: int
    inline_nbytes: int
    nbytes: int
    elsewhere: tuple[str, ...]
    dialect: str
    not_in_v2: str | None


@checked
def virtualize(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    *,
    concat: str | None = None,
    variables: Sequence[str] = (),
    inline: int = 500,
    grid: Literal["regular", "rectilinear"] = "regular",
    dialect: str | None = None,
    relative: bool = False,
    overwrite: bool = False,
    progress: Callable[[int, int], object] | None = None,
    file_options: Mapping[str, Any] | None = None,
    target_options: Mapping[str, Any] | None = None,
) -> References:
    """Writes references to the chunks of ``files`` to ``target``. The files stay as they are. The name of the target says the form: ``.json`` is
    one file of JSON in the form of kerchunk (version 1), ``.parq`` or ``.parquet`` a folder of Parquet.

    ``files`` are addresses of netCDF and HDF5 files, references, Icechunk repositories and Zarr stores. Several are joined along the dimension
    ``concat`` in their order: variables that have it are joined, and the others must be the same in each. A dimension that no file has is new, before all others of each
    variable but of coordinates that are the same in each file. What does not fit is a
    :class:`ValueError` that names the file, the variable and the rule. Times that a file counts in other units are counted in those of the first, exactly
    or not at all; other attributes that differ are those of the first file, with a :class:`~zarr_rust.errors.ZarrWarning`. ``variables`` are names of a data set of
    which these alone are kept, with their coordinates.

    Chunks that are ranges of files of up to ``inline`` bytes, coordinates, and chunks that lie in no file as they are, are in the references. ``grid="rectilinear"``
    allows chunks of several lengths along the dimension, which documents of ``dialect="v3"`` have. Unless ``dialect`` is ``"v2"`` or ``"v3"``, the
    documents are of v2 if it can describe all nodes. References in JSON then have documents of v3 otherwise, with a
    :class:`~zarr_rust.errors.ZarrWarning`, since readers of v2 alone do not know them; ``variables`` may leave out what v2 cannot describe.

    With ``relative`` files are named relative to the references, below whose folder they lie; else by their whole addresses. A target that is
    there is an error, or is replaced with ``overwrite``. ``file_options`` and ``target_options`` are options of the stores.

    ``progress(done, total)`` is called on the calling thread at most every 50 ms, and at the end, with steps: two for each file, which is opened, and
    joined. An exception that it raises ends the call, as Ctrl-C does, and is raised: no references are written then.

    xarray opens the references with ``engine="zarr_rust"``, and by fsspec:

    >>> import tempfile, zarr_rust
    >>> folder = tempfile.mkdtemp()
    >>> array = zarr_rust.create_array(f"{folder}/a.zarr", "t", shape=(4,), dtype="i2", chunks=(2,))
    >>> array[:] = [1, 2, 3, 4]
    >>> zarr_rust.virtualize(f"{folder}/a.zarr", f"{folder}/refs.json", inline=0).references
    2
    >>> zarr_rust.open(f"{folder}/refs.json", "t")[:].tolist()
    [1, 2, 3, 4]
    """
    given = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    settings = {
        "concat": concat,
        "variables": list(variables),
        "inline": inline,
        "grid": grid,
        "dialect": dialect,
        "relative": relative,
        "overwrite": overwrite,
    }
    *numbers, elsewhere, (found, not_in_v2), warnings = _core.virtualize(
        [address_of(file) for file in given], options_of(file_options), (address_of(target), options_of(target_options)), settings, progress
    )
    for text in warnings:
        warn(text)
    if not_in_v2 is not None:
        warn(f"the references have documents of v3, which readers of v2 alone do not know, since v2 cannot describe all nodes: {not_in_v2}")
    return References(*numbers, elsewhere=tuple(elsewhere), dialect=found, not_in_v2=not_in_v2)
