"""What of zarr-python's public names the package has: the table of docs/python.md is what introspection finds."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zarr
import zarr_rust

DOCUMENT = Path(__file__).parents[2] / "docs" / "python.md"

#: Why a name is missing, by what has it.
MISSING: dict[str, dict[str, str]] = {
    "zarr": {
        "AsyncArray": "`read_async`, `write_async` and others of `Array`",
        "AsyncGroup": "`open_async`",
        "config": "there is nothing global: arguments say it, and `ZARR_THREADS`",
        "copy": "`convert`; zarr-python 3 raises `NotImplementedError`",
        "copy_all": "`convert`; zarr-python 3 raises `NotImplementedError`",
        "copy_store": "`convert`; zarr-python 3 raises `NotImplementedError`",
        "create_hierarchy": "takes metadata objects of zarr-python: `create_group` and `create_array` for each node",
    },
    "zarr.Array": {
        "async_array": "`read_async` and others",
        "config": "how results lie in memory is up to `read(out=...)`",
        "from_dict": "takes a metadata document: `create_array`",
        "with_config": "as `config`",
    },
    "zarr.Group": {
        "create_hierarchy": "as of the module",
        "synchronizer": "always `None` in zarr-python 3",
        "update_attributes_async": "`update_attributes`",
    },
}

PAIRS: dict[str, tuple[Any, Any]] = {
    "zarr": (zarr, zarr_rust),
    "zarr.Array": (zarr.Array, zarr_rust.Array),
    "zarr.Group": (zarr.Group, zarr_rust.Group),
}

#: Arguments of zarr-python that functions of the same name here do not have: see ``_arguments.py``.
LEFT_OUT = {
    *("cache_attrs", "cache_metadata", "chunk_key_encoding", "chunk_shape", "chunk_store", "config", "meta_array", "mode", "object_codec"),
    *("prototype", "read_only", "synchronizer", "use_consolidated", "write_data", "write_empty_chunks", "args", "kwargs", "max_nodes", "plain"),
}

#: Those of one function: a deprecated name, options of a store that is open, and the name that mappings have for a key.
LEFT_OUT_OF = {
    ("zarr.Group", "create_array"): {"compressor", "storage_options"},
    ("zarr.Group", "get"): {"path"},
}


def names(of: Any) -> list[str]:
    public = zarr.__all__ if of is zarr else dir(of)
    return sorted(name for name in public if not name.startswith("_") or name == "__version__")


def table() -> list[str]:
    lines = ["| of | names that are here | missing, and what is in their place |", "|---|---|---|"]
    for label, (theirs, ours) in PAIRS.items():
        there = [name for name in names(theirs) if hasattr(ours, name)]
        missing = [f"`{name}`: {MISSING[label][name]}" for name in names(theirs) if name not in there]
        lines.append(f"| `{label}` | {', '.join(f'`{name}`' for name in there)} | {'; '.join(missing)} |")
    return lines


@pytest.mark.parametrize("label", PAIRS)
def test_names_that_are_missing_have_a_reason(label: str) -> None:
    theirs, ours = PAIRS[label]
    missing = {name for name in names(theirs) if not hasattr(ours, name)}
    assert missing - set(MISSING[label]) == set(), "there is no reason for these"
    stale = {name for name in MISSING[label] if hasattr(ours, name)}
    assert stale == set(), "these are there"


def test_the_table_of_the_guide_is_true() -> None:
    if tuple(map(int, zarr.__version__.split(".")[:2])) < (3, 4):
        pytest.skip("the table is that of a later zarr-python")
    found = DOCUMENT.read_text()
    due = "\n".join(table())
    assert due in found, f"docs/python.md should have:\n{due}"


def arguments(function: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(function).parameters) - {"self", "cls"}


SHARED = [
    (label, name)
    for label, (theirs, ours) in PAIRS.items()
    for name in names(theirs)
    if inspect.isfunction(getattr(theirs, name)) and hasattr(ours, name)
]


@pytest.mark.parametrize(("label", "name"), SHARED, ids=str)
def test_arguments_are_those_of_zarr_python(label: str, name: str) -> None:
    theirs, ours = PAIRS[label]
    found = inspect.signature(getattr(ours, name)).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in found.values()):
        return
    positional = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in found.values())
    missing = arguments(getattr(theirs, name)) - arguments(getattr(ours, name)) - LEFT_OUT - LEFT_OUT_OF.get((label, name), set())
    assert missing == set() or positional
