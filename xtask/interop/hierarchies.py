"""Hierarchies of groups and arrays that zarr-python writes, or reads and compares.

    hierarchies.py write FOLDER COUNT SEED    stores (`stores.py`), files of values, manifest.jsonl and hierarchies.jsonl
    hierarchies.py read FOLDER                reads the hierarchies and arrays that FOLDER lists; a line of JSON for each of both

A line of hierarchies.jsonl has the nodes of a store: attributes of groups, null for arrays, whose attributes are in the manifest.

    {"store": "theirs-3", "zarr_format": 2, "consolidated": true, "nodes": {"/": {"a": 1}, "/g": {}, "/g/x": null}}

A hierarchy with `"listed": false` is on a server that cannot list: its nodes are those of the consolidated metadata.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import zarr

import manifest
import peer_zarr
import stores
import values
from values import pick

# Names of groups and arrays that services encode in their own ways.
NAMES = ["g", "a b", "a+b", "Grüße", "x=1", "温度"]


def write_one(writer: manifest.Writer, rng, name: str, zarr_format: int, consolidated: bool) -> dict:
    store = writer.stores.zarr(name)
    groups = [""]
    for _ in range(int(rng.integers(1, 4))):
        group = f"{pick(rng, groups)}/{pick(rng, NAMES)}".strip("/")
        if group not in groups:
            groups.append(group)
    nodes = {}
    for group in groups:
        nodes[f"/{group}"] = attributes = values.attributes(rng)
        zarr.create_group(store, path=group, zarr_format=zarr_format, attributes=attributes)
    maker = peer_zarr.write_v2 if zarr_format == 2 else peer_zarr.write_v3
    for number in range(int(rng.integers(2, 5))):
        path = f"{pick(rng, groups)}/v{number}".strip("/")
        peer_zarr.write_one(writer, rng, f"{name}-{number}", name, path, maker)
        nodes[f"/{path}"] = None
    if consolidated:
        zarr.consolidate_metadata(store, zarr_format=zarr_format)
    return {"store": name, "zarr_format": zarr_format, "consolidated": consolidated, "nodes": nodes}


def write(folder: Path, count: int, rng) -> None:
    writer = manifest.Writer(folder)
    with (folder / "hierarchies.jsonl").open("w") as lines:
        for number in range(count):
            # Every fourth hierarchy has each pair of properties.
            line = write_one(writer, rng, f"theirs-{number}", 2 + number % 2, number // 2 % 2 == 0)
            lines.write(json.dumps(line) + "\n")
    writer.close()


def nodes_of(group: zarr.Group) -> dict:
    found = {"/": dict(group.attrs)}
    for path, node in group.members(max_depth=None):
        found[f"/{path}"] = dict(node.attrs) if isinstance(node, zarr.Group) else None
    return found


def compare(where, line: dict) -> list[str]:
    store, found = where.zarr(line["store"]), []
    # Consolidated metadata, and where the server can list the documents of the nodes.
    ways = [True] * line["consolidated"] + [False] * line.get("listed", True)
    for use_consolidated in ways:
        group = zarr.open_group(store, mode="r", zarr_format=line["zarr_format"], use_consolidated=use_consolidated)
        actual, expected = nodes_of(group), line["nodes"]
        for path in sorted(actual.keys() | expected.keys()):
            if path not in actual or path not in expected:
                found.append(f"{path}: found {path in actual}, expected {path in expected}")
            elif actual[path] != expected[path]:
                found.append(f"{path}: {actual[path]!r}, expected {expected[path]!r}")
    return found


def attempt(compare, *arguments) -> list[str]:
    try:
        return compare(*arguments)
    except Exception as error:
        # The failure of one is a result like any other.
        return [f"{type(error).__name__}: {error}"]


def read(folder: Path) -> None:
    where = stores.of(folder)
    for text in (folder / "hierarchies.jsonl").read_text().splitlines():
        line = json.loads(text)
        print(json.dumps({"id": line["store"], "differences": attempt(compare, where, line)}), flush=True)
    for line in manifest.read(folder):
        found = attempt(peer_zarr.read, folder, line)
        print(json.dumps({"id": line["id"], "differences": found}), flush=True)


def main() -> None:
    # The tests try types and codecs outside of the specification.
    warnings.simplefilter("ignore")
    task, folder, *rest = sys.argv[1:]
    if task == "write":
        write(Path(folder), int(rest[0]), np.random.default_rng(int(rest[1])))
    else:
        read(Path(folder))


if __name__ == "__main__":
    main()
