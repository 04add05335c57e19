"""Random reads and writes, equal to numpy's and to zarr-python's.

``ZARR_RUST_CASES`` is how many there are of each data type and layout. How many of each type and kind of index is printed at the end
(pytest -s), and checked.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust
from conftest import FIXED, sample

TYPES = [*FIXED, "string", "bytes"]
KINDS = ["basic", "steps", "backwards", "oindex", "list", "points", "mask", "blocks", "index"]
LAYOUTS = ["v3", "sharded", "v2", "v2-F"]
#: Of each data type and layout.
CASES = int(os.environ.get("ZARR_RUST_CASES", "54"))

counts: Counter[tuple[str, str]] = Counter()
peer_counts: Counter[tuple[str, str]] = Counter()
#: What zarr-python itself cannot read.
peer_failures: Counter[tuple[str, str]] = Counter()


def axis_range(length: int, random: np.random.Generator, steps: bool, backwards: bool) -> slice:
    bounds = [None if random.random() < 0.2 else int(random.integers(-length - 2, length + 3)) for _ in range(2)]
    step = int(random.integers(1, 4)) if steps or backwards else None
    if None not in bounds and random.random() < 0.8:
        bounds.sort(key=lambda bound: bound % (length + 1), reverse=backwards)
    return slice(bounds[0], bounds[1], -step if backwards and step else step)


def positions(length: int, random: np.random.Generator, count: int | None = None) -> np.ndarray[Any, Any]:
    return random.integers(-length, length, random.integers(0, 6) if count is None else count)


def choose(kind: str, shape: tuple[int, ...], chunks: tuple[int, ...], random: np.random.Generator) -> tuple[str, Any, Any]:
    """An attribute of arrays that selects (empty: none), a selection, and the same of numpy."""
    if kind in ("basic", "steps", "backwards"):
        parts: list[Any] = [axis_range(length, random, kind == "steps", kind == "backwards") for length in shape]
        if kind == "basic" and random.random() < 0.3:
            parts[int(random.integers(len(shape)))] = Ellipsis
        return "", tuple(parts), tuple(parts)
    if kind == "index":
        parts = [
            int(random.integers(-length, length)) if random.random() < 0.6 else slice(None) for length in shape
        ]
        return "", tuple(parts), tuple(parts)
    if kind == "oindex":
        parts = []
        for length in shape:
            pick = random.integers(3)
            parts.append(
                positions(length, random) if pick == 0 else random.random(length) < 0.5 if pick == 1 else slice(0, length, 2)
            )
        outer = np.ix_(*[np.arange(length)[part] for part, length in zip(parts, shape)])
        return "oindex", tuple(parts), outer
    if kind == "list":
        at = int(random.integers(len(shape)))
        parts = [slice(None)] * len(shape)
        parts[at] = positions(shape[at], random, 3)
        return "", tuple(parts), tuple(parts)
    if kind == "points":
        lists = tuple(positions(length, random, 4).reshape(2, 2) for length in shape)
        return "vindex", lists, lists
    if kind == "mask":
        mask = random.random(shape) < 0.4
        return "vindex", mask, mask
    blocks = tuple(int(random.integers(-(-length // chunk))) for length, chunk in zip(shape, chunks))
    covered = tuple(slice(at * chunk, (at + 1) * chunk) for at, chunk in zip(blocks, chunks))
    return "blocks", blocks, covered


def make(folder: Path, dtype: Any, layout: str, shape: tuple[int, ...]) -> zarr_rust.Array:
    chunks = tuple(max(1, length // 3) for length in shape)
    shards = tuple(2 * chunk for chunk in chunks) if layout == "sharded" else None
    codecs = None
    if layout == "v2-F":
        codecs = [{"name": "transpose", "configuration": {"order": list(range(len(shape)))[::-1]}}]
    return zarr_rust.create_array(
        folder / "x.zarr", shape=shape, dtype=dtype, chunks=chunks, shards=shards, codecs=codecs,
        dialect="v2" if layout.startswith("v2") else "v3",
    )


def equal(found: Any, due: Any) -> bool:
    found, due = np.asarray(found, dtype=None if np.ndim(found) else np.asarray(due).dtype), np.asarray(due)
    if found.shape != due.shape:
        return False
    if "O" in (found.dtype.kind, due.dtype.kind) or "T" in (found.dtype.kind, due.dtype.kind):
        return found.astype(object).tolist() == due.astype(object).tolist()
    return found.dtype == due.dtype and found.tobytes() == due.tobytes()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_reads_and_writes(tmp_path: Path, dtype: Any, layout: str) -> None:
    random = np.random.default_rng([TYPES.index(dtype), LAYOUTS.index(layout)])
    shape = (7, 10) if layout != "v3" else (5, 6, 4)
    array = make(tmp_path, dtype, layout, shape)
    model = sample(dtype, shape, random)
    array[...] = model
    writes = zarr_rust.open_array(tmp_path / "x.zarr", mode="r+")
    grid = array.shards or array.chunks
    peer = None
    try:
        peer = zarr.open_array(tmp_path / "x.zarr", mode="r")
    except ValueError as error:
        # Before 3.2 it had another name for structs in version 3.
        assert np.dtype(dtype).names and not layout.startswith("v2") and zarr.__version__.startswith("3.1."), error
    for case in range(CASES):
        kind = KINDS[case % len(KINDS)]
        via, selection, numpy_selection = choose(kind, shape, grid, random)
        indexer = getattr(writes, via) if via else writes
        due = np.asarray(model[numpy_selection], dtype=model.dtype)
        assert equal(indexer[selection], due), (kind, selection)
        counts[str(dtype), kind] += 1
        if kind != "backwards" and due.size:
            try:
                theirs = None if peer is None else (getattr(peer, via) if via else peer)[selection]
            except TypeError as error:
                # zarr-python asks for a hash of the fill value of a shard.
                assert "unhashable" in str(error) and layout == "sharded" and np.dtype(dtype).kind == "V"
                theirs = None
            if theirs is None:
                peer_failures[str(dtype), kind] += 1
            else:
                assert equal(indexer[selection], np.asarray(theirs).reshape(due.shape)), (kind, selection)
                peer_counts[str(dtype), kind] += 1
        value = sample(dtype, due.shape, random)
        if kind in ("oindex", "list", "points"):
            # Of a position that is selected twice numpy leaves open which value stays.
            value[...] = sample(dtype, (1,), random)[0]
        indexer[selection] = value
        model[numpy_selection] = value
        assert equal(writes[...], model), (kind, selection)
        if dtype not in ("string", "bytes") and due.ndim:
            out = np.zeros(tuple(reversed(due.shape)), model.dtype).T[::-1][::-1]
            if via == "":
                assert writes.read(selection, out=out) is out
                assert equal(out, model[numpy_selection])
    if not any(name == str(dtype) for name, _ in peer_failures):
        assert equal(peer[...], model)


def test_all_types_and_kinds_were_compared() -> None:
    if len({dtype for dtype, _ in counts}) < len(TYPES):
        pytest.skip("needs the tests above")
    print()
    print(f"{'':>40}", *(f"{kind:>9}" for kind in KINDS))
    for dtype in map(str, TYPES):
        print(f"{dtype[:40]:>40}", *(f"{counts[dtype, kind]:>4}/{peer_counts[dtype, kind]:<4}" for kind in KINDS))
    total, peers = sum(counts.values()), sum(peer_counts.values())
    print(f"{total} reads and {total} writes equal to numpy's, {peers} reads to those of zarr-python {zarr.__version__}")
    print(f"{sum(peer_failures.values())} reads that fail in zarr-python: {sorted({name for name, _ in peer_failures})}")
    for dtype in map(str, TYPES):
        for kind in KINDS:
            assert counts[dtype, kind] >= 20, (dtype, kind)
