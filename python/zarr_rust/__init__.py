"""Zarr in Rust, for Python: chunked, compressed arrays of any number of dimensions, in every format that Zarr ever had.

>>> import numpy as np, tempfile, zarr_rust
>>> url = tempfile.mkdtemp() + "/weather.zarr"
>>> array = zarr_rust.create_array(url, "t2m", shape=(365, 18, 36), dtype="f4", chunks=(30, 18, 36))
>>> array[:2] = 287.5
>>> array = zarr_rust.open(url, "t2m")
>>> array[1, 3:5, 7]
array([287.5, 287.5], dtype=float32)

The environment variable ``ZARR_THREADS`` is how many threads decode and encode; without it there is one for each core, in a worker of Dask one
for each of its threads.
"""

import importlib
from typing import TYPE_CHECKING, Any

from zarr_rust._advise import Advice, advise
from zarr_rust._array import Array
from zarr_rust._convert import Conversion, convert
from zarr_rust._creation import (
    array,
    create,
    empty,
    empty_like,
    from_array,
    full,
    full_like,
    ones,
    ones_like,
    open_like,
    zeros,
    zeros_like,
)
from zarr_rust._core import Cache, __version__ as __version__
from zarr_rust._dataset import Dataset, Variable, create_dataset, dataset
from zarr_rust._group import Group
from zarr_rust._handle import Attributes
from zarr_rust._open import create_array, create_group, open, open_array, open_async, open_group
from zarr_rust._plan import Plan
from zarr_rust._manifest import Manifest, ManifestDifference, check_manifest, manifest
from zarr_rust._pyramid import PyramidLevel, pyramid
from zarr_rust._table import Table
from zarr_rust._virtualize import References, virtualize
from zarr_rust._whole import (
    consolidate_metadata,
    group,
    load,
    open_consolidated,
    print_debug_info,
    save,
    save_array,
    save_group,
    tree,
)
from zarr_rust.errors import ZarrError

if TYPE_CHECKING:
    from zarr_rust.dask import from_dask as from_dask
    from zarr_rust.pipeline import disable as disable, enable as enable

__all__ = [
    "Advice",
    "Array",
    "Attributes",
    "Cache",
    "Conversion",
    "Dataset",
    "Group",
    "Manifest",
    "ManifestDifference",
    "Plan",
    "PyramidLevel",
    "References",
    "Table",
    "Variable",
    "ZarrError",
    "advise",
    "array",
    "check_manifest",
    "consolidate_metadata",
    "convert",
    "create",
    "create_array",
    "create_dataset",
    "create_group",
    "dataset",
    "empty",
    "empty_like",
    "from_array",
    "full",
    "full_like",
    "group",
    "load",
    "manifest",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_async",
    "open_consolidated",
    "open_group",
    "open_like",
    "print_debug_info",
    "pyramid",
    "save",
    "save_array",
    "save_group",
    "tree",
    "virtualize",
    "zeros",
    "zeros_like",
]


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "dask", "disable", "enable", "errors", "from_dask", "ome", "pipeline", "xarray"])


def __getattr__(name: str) -> Any:
    # Dask is imported by those alone who use it.
    if name == "from_dask":
        from zarr_rust.dask import from_dask

        return from_dask
    # These are for programs with zarr-python, which others do without; so they are no part of ``import *`` either.
    if name in ("enable", "disable"):
        from zarr_rust import pipeline

        return getattr(pipeline, name)
    if name in ("dask", "loader", "ome", "pipeline", "xarray"):
        return importlib.import_module(f"zarr_rust.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
