"""References of kerchunk and of VirtualiZarr to a file, in one form: arrays by their paths, with the places of their chunks."""

from __future__ import annotations

import base64
import gc
import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


#: Where a chunk is: the offset and the length in the file, or the bytes themselves.
Place = tuple[int, int] | bytes


@dataclass
class Array:
    """An array of references: its document, its attributes, and its chunks by their indices."""

    document: dict[str, Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    chunks: dict[tuple[int, ...], Place] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.document["shape"])

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        if "chunks" in self.document:
            return tuple(self.document["chunks"])
        return tuple(self.document["chunk_grid"]["configuration"]["chunk_shape"])


def indices(key: str) -> tuple[int, ...]:
    """The indices in the key of a chunk: ``0.1``, ``c/0/1`` or ``c``; those of an array without dimensions are none."""
    parts = [part for part in key.replace("/", ".").split(".") if part not in ("c", "")]
    return tuple(map(int, parts))


def of_json(references: dict[str, Any], path: str) -> dict[str, Array]:
    """The arrays of references in the form of JSON, all of whose chunks lie in the file at ``path`` or in the references."""
    references = references.get("refs", references)
    arrays: dict[str, Array] = {}
    for key, value in references.items():
        folder, _, name = key.rpartition("/")
        if name == ".zarray":
            arrays[folder] = Array(parsed(value))
        elif name == "zarr.json" and parsed(value)["node_type"] == "array":
            document = parsed(value)
            arrays[folder] = Array(document, document.get("attributes", {}))
    for key, value in references.items():
        folder, _, name = key.rpartition("/")
        if name == ".zattrs" and folder in arrays:
            arrays[folder].attributes = parsed(value)
        if name in (".zarray", ".zattrs", ".zgroup", ".zmetadata", "zarr.json"):
            continue
        owner = folder
        while owner not in arrays and owner:
            owner = owner.rpartition("/")[0]
        array = arrays[owner]
        at = indices(key[len(owner) + 1 :]) if array.shape else ()
        array.chunks[at] = place(value, path)
    return arrays


def parsed(value: Any) -> dict[str, Any]:
    if isinstance(value, bytes):
        value = value.decode()
    return json.loads(value) if isinstance(value, str) else value


def place(value: Any, path: str) -> Place:
    if isinstance(value, list):
        assert value[0].removeprefix("file://") == path, f"a chunk in {value[0]}, expected {path}"
        return (value[1], value[2])
    if isinstance(value, bytes):
        return value
    return base64.b64decode(value[7:]) if value.startswith("base64:") else value.encode()


def of_ours(path: Path, dialect: str, inline: int = 0) -> dict[str, Array]:
    import zarr_rust

    target = path.with_suffix(f".ours-{dialect}.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr_rust.virtualize(path, target, dialect=dialect, inline=inline, overwrite=True)
    return of_json(json.loads(target.read_text()), str(path))


def kerchunk(path: Path, is_hdf5: bool) -> dict[str, Any]:
    """References of kerchunk: of HDF5 it leaves arrays out that it cannot take, of netCDF-3 it takes all or none."""
    if not is_hdf5:
        from kerchunk.netCDF3 import NetCDF3ToZarr

        return dict(NetCDF3ToZarr(str(path), inline_threshold=0).translate())
    from kerchunk.hdf import SingleHdf5ToZarr

    # It waits for a thread of zarr-python within a lock of h5py, which that thread needs to collect objects of h5py.
    gc.disable()
    try:
        return dict(SingleHdf5ToZarr(str(path), inline_threshold=0, error="ignore").translate())
    finally:
        gc.enable()


def of_kerchunk(path: Path, is_hdf5: bool) -> dict[str, Array]:
    return of_json(kerchunk(path, is_hdf5), str(path))


def of_virtualizarr(path: Path, is_hdf5: bool, report: Callable[[str, Exception], None]) -> dict[str, Array]:
    """The arrays that VirtualiZarr takes: of each group all, or else each that it takes alone."""
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore
    from virtualizarr.parsers import HDFParser, NetCDF3Parser

    url = f"file://{path}"
    registry = ObjectStoreRegistry({"file://": LocalStore()})
    if not is_hdf5:
        return dict(of_group("", NetCDF3Parser()(url, registry)._group))
    try:
        return dict(of_group("", HDFParser()(url, registry)._group))
    except Exception:  # noqa: BLE001
        pass
    arrays: dict[str, Array] = {}
    for group, members in groups(path).items():
        for name, is_array in members.items():
            if not is_array:
                continue
            parser = HDFParser(group=group or None, drop_variables=set(members) - {name})
            try:
                arrays |= dict(of_group(group, parser(url, registry)._group))
            except Exception as error:  # noqa: BLE001
                report(f"{group}/{name}".strip("/"), error)
    return arrays


def groups(path: Path) -> dict[str, dict[str, bool]]:
    """The members of each group of an HDF5 file, and whether each is a data set."""
    import h5py

    found: dict[str, dict[str, bool]] = {}

    def visit(above: str, group: Any) -> None:
        found[above] = {name: isinstance(member, h5py.Dataset) for name, member in group.items()}
        for name, member in group.items():
            if isinstance(member, h5py.Group):
                visit(f"{above}/{name}".strip("/"), member)

    with h5py.File(path) as file:
        visit("", file)
    return found


def of_group(above: str, group: Any) -> Iterator[tuple[str, Array]]:
    for name, array in group.arrays.items():
        document = array.metadata.to_dict()
        chunks: dict[tuple[int, ...], Place] = {}
        for key, entry in array.manifest.dict().items():
            at = indices(key) if document["shape"] else ()
            inlined = array.manifest._inlined.get(at) if entry["path"] in ("", "__inlined__") else None
            chunks[at] = bytes(inlined) if inlined is not None else (entry["offset"], entry["length"])
        yield f"{above}/{name}".strip("/"), Array(document, dict(array.metadata.attributes), chunks)
    for name, below in group.groups.items():
        yield from of_group(f"{above}/{name}".strip("/"), below)
