"""The manifest of a folder of arrays: a line of JSON for each, and its elements in a file beside.

    {"id": "z-17", "store": "z-17", "path": "/a", "dtype": "<f4", "shape": [3, 4], "values": "z-17.bin", "fill": "0000c07f",
     "attributes": {..}, "dimension_names": ["y", null], "about": "v3, blosc lz4"}

`dtype` is numpy's type string in little-endian order, or the name of a type that numpy lacks: string, bytes, bfloat16,
int4. The file of values has all elements in C order: elements of fixed size in little-endian order, the others each as 32 bits
of length and the bytes. `fill` is one element in the same form (without the length), in hexadecimal; null: undefined.
`dimension_names` is null if there are none. Members that are absent are not compared.
"""

import json
import struct
from pathlib import Path

import numpy as np

import stores


def little(array: np.ndarray) -> np.ndarray:
    """The same elements in little-endian order."""
    array = np.asarray(array)
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def is_variable(array: np.ndarray) -> bool:
    """Whether elements are texts or bytes of any length."""
    return array.dtype.kind in "OT"


def name_of(array: np.ndarray) -> str:
    """The manifest's name for the type of the elements."""
    if array.dtype.kind == "T":
        return "string"
    if array.dtype.kind == "O":
        first = next(iter(array.ravel()), "")
        return "bytes" if isinstance(first, bytes) else "string"
    if array.dtype.name in ("bfloat16", "int4"):
        return array.dtype.name
    return little(array).dtype.str


def item_bytes(value) -> bytes:
    """The content of an element of variable length; an element that was never written is empty."""
    if isinstance(value, str):
        return value.encode()
    return bytes(value) if value else b""


def to_bytes(array: np.ndarray) -> bytes:
    """The elements as the file of values has them."""
    array = np.asarray(array)
    if is_variable(array):
        items = [item_bytes(value) for value in array.ravel().tolist()]
        return b"".join(struct.pack("<I", len(item)) + item for item in items)
    return little(array).tobytes()


def fill_hex(fill, like: np.ndarray) -> str | None:
    """A fill value as the manifest has it."""
    if fill is None:
        return None
    if is_variable(like):
        return item_bytes(fill).hex()
    return little(np.asarray(fill, dtype=like.dtype)).tobytes().hex()


class Writer:
    """Writes a manifest and the files of values."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.stores = stores.of(folder)
        self.lines = (folder / "manifest.jsonl").open("w")

    def add(self, name: str, store: str, path: str, array: np.ndarray, **facts) -> None:
        """Adds an array; `facts` are further members of its line."""
        array = np.asarray(array)
        values = f"{name}.bin"
        (self.folder / values).write_bytes(to_bytes(array))
        line = {"id": name, "store": store, "path": path, "dtype": name_of(array), "shape": list(array.shape), "values": values}
        self.lines.write(json.dumps(line | facts) + "\n")

    def close(self) -> None:
        self.lines.close()


def read(folder: Path) -> list[dict]:
    """The lines of a manifest."""
    return [json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines()]


def differences(line: dict, folder: Path, array: np.ndarray, **facts) -> list[str]:
    """The differences from the line of the manifest."""
    found = []
    if list(array.shape) != line["shape"]:
        found.append(f"shape {list(array.shape)}, expected {line['shape']}")
    # Whether an empty list of objects holds texts or bytes shows nowhere.
    if name_of(array) != line["dtype"] and not (array.dtype.kind == "O" and array.size == 0):
        found.append(f"dtype {name_of(array)}, expected {line['dtype']}")
    expected = (folder / line["values"]).read_bytes()
    actual = to_bytes(array)
    if actual != expected:
        index = next((i for i, (a, b) in enumerate(zip(actual, expected)) if a != b), min(len(actual), len(expected)))
        found.append(f"{len(actual)} bytes of values, expected {len(expected)}; the first difference is at byte {index}")
    for name, value in facts.items():
        if name in line and line[name] != value:
            found.append(f"{name} {value!r}, expected {line[name]!r}")
    return found
