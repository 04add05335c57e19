"""Pages of the interfaces: of the Python package by its docstrings, and a list of the crates with what rustdoc made of them."""

from __future__ import annotations

import tomllib
from pathlib import Path

#: Pages of the Python interface, in order: the name, the heading, what it is for, and what it documents. Names are those of the module.
PAGES: list[tuple[str, str, str, list[str]]] = [
    (
        "open",
        "Open",
        "Functions that open what is stored, by its address: a path, a URL, or a store of zarr-python, fsspec or obstore.",
        ["open", "open_array", "open_group", "open_async", "open_consolidated", "dataset", "load", "tree", "Cache"],
    ),
    (
        "create",
        "Create",
        "Functions that make arrays and groups, empty, filled, or from what is there.",
        ["create_array", "create_group", "create_dataset", "group", "create", "empty", "zeros", "ones", "full", "array", "from_array"]
        + ["open_like", "empty_like", "zeros_like", "ones_like", "full_like", "save", "save_array", "save_group", "consolidate_metadata"],
    ),
    ("array", "Array", "An array that is open: what it is like, and how its elements are read and written.", ["Array", "Plan"]),
    ("group", "Group", "A group that is open: the nodes in it, and its attributes.", ["Group", "Attributes"]),
    ("dataset", "Dataset", "A group as a data set: variables with named dimensions, decoded as xarray decodes them.", ["Dataset", "Variable", "Table"]),
    ("polars", "Polars", "Lazy frames over data sets, whose filters become selections.", ["polars"]),
    ("loader", "Loader", "Batches of boxes or rows for training loops, read ahead.", ["loader"]),
    (
        "convert",
        "Convert",
        "Conversions into other dialects, chunks, shards and codecs, and what they did.",
        ["convert", "Conversion", "_convert.ConvertedNode", "_convert.SkippedChunk"],
    ),
    (
        "pyramid",
        "Pyramid",
        "Coarser levels of an array, also of OME-Zarr images.",
        ["pyramid", "PyramidLevel"],
    ),
    (
        "virtualize",
        "Virtualize",
        "References to the chunks of netCDF, HDF5 and other files, which make one data set of them.",
        ["virtualize", "References"],
    ),
    (
        "advise",
        "Advice",
        "Chunks, shards and codecs that suit the reads and writes of an array.",
        ["advise", "Advice", "_advise.Layout", "_advise.AccessCost", "_advise.Storage"],
    ),
    (
        "manifest",
        "Manifests",
        "Checksums of stored values, as `sha256sum` and DANDI have them, and checks of copies.",
        ["manifest", "check_manifest", "Manifest", "ManifestDifference"],
    ),
    ("ome", "OME-Zarr", "Metadata of images: axes, scales and channels, in the versions 0.4, 0.5 and 0.6.", ["ome"]),
    ("errors", "Errors", "Exceptions and warnings, all of which say where: store, node, chunk, key.", ["errors"]),
    ("xarray", "The engine for xarray", "`xarray.open_dataset(url, engine=\"zarr_rust\")` reads by this package.", ["xarray"]),
    ("dask", "Dask", "Arrays as arrays of Dask, stored arrays from these, and conversions by the workers of a cluster.", ["dask"]),
    ("pipeline", "The codec pipeline of zarr-python", "zarr-python reads and writes chunks by this package once it is enabled.", ["pipeline"]),
    ("more", "More", "What the package says about itself.", ["print_debug_info"]),
]

#: Names that a page of another module documents.
ELSEWHERE = {"ZarrError": "errors", "from_dask": "dask", "enable": "pipeline", "disable": "pipeline"}
#: The crate that stands first.
FACADE = "zarr-rs"
MODULES = ("errors", "ome", "xarray", "dask", "polars", "pipeline", "loader")
INHERITED = ("Array", "Group", "Dataset", "Variable", "Attributes")


def python_pages(public: list[str]) -> dict[str, str]:
    """The pages of the Python interface in reStructuredText, as docstrings are. An error if a public name is on none of them."""
    documented = {name for _, _, _, names in PAGES for name in names} | set(ELSEWHERE)
    missing = sorted(set(public) - documented)
    if missing:
        raise SystemExit(f"xtask/site/api.py: zarr_rust has names that no page documents: {', '.join(missing)}")
    pages = {f"api/{name}.rst": page(title, about, names) for name, title, about, names in PAGES}
    entries = "\n".join(f"   {name}" for name, _, _, _ in PAGES)
    about = "\n".join(f"- :doc:`{title} <{name}>`: {about.replace('`', '``')}" for name, title, about, _ in PAGES)
    pages["api/index.rst"] = (
        f"{heading('Python API')}\nThe module ``zarr_rust``, function by function and class by class. :doc:`../python` is the guide to it.\n\n"
        f".. module:: zarr_rust\n\n{about}\n\n.. toctree::\n   :hidden:\n\n{entries}\n"
    )
    return pages


def page(title: str, about: str, names: list[str]) -> str:
    text = f"{heading(title)}\n{about.replace('`', '``')}\n\n.. currentmodule:: zarr_rust\n"
    for name in names:
        if name in MODULES:
            text += f"\n.. automodule:: zarr_rust.{name}\n   :members:\n"
        elif name.rsplit(".")[-1][0].isupper():
            inherited = "   :inherited-members:\n" if name in INHERITED else ""
            text += f"\n.. autoclass:: zarr_rust.{name}\n   :members:\n{inherited}"
        else:
            text += f"\n.. autofunction:: zarr_rust.{name}\n"
    return text


def heading(title: str) -> str:
    return f"{title}\n{'=' * len(title)}\n"


def crates_page(root: Path) -> str:
    """The crates with a line each, and where their documentation is."""
    rows = []
    for manifest in sorted((root / "crates").glob("*/Cargo.toml")):
        read = tomllib.loads(manifest.read_text())
        package = read["package"]
        name = package["name"]
        if package.get("publish") is False:
            continue
        library = read.get("lib", {}).get("name", name.replace("-", "_"))
        rows.append((name, f"| [{name}](site:rust/{library}/index.html) | {package['description']} |"))
    first = [row for name, row in rows if name == FACADE]
    table = "\n".join([*first, *(row for name, row in rows if name != FACADE)])
    return (
        "# Rust API\n\nThe documentation of each crate by `cargo doc`: types, functions, features, with examples. Programs need `zarr-rs` alone, whose library is "
        "`zarr` and has the others as modules; [each works by itself](guide/crates.md) too.\n\n"
        f"| crate | |\n|---|---|\n{table}\n"
    )
