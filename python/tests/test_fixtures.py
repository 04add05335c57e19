"""Every store in the fixtures, as it was written by other software."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import zarr_rust
from conftest import FIXTURES
from zarr_rust import errors


#: What this build of the library refuses: pickles, and a stream of zstd that zstd itself gave up.
LEFT = {"v2/object_pickle/pickled", "v1/blosc_zstd_legacy/"}

#: Faults in consolidated metadata, which groups are not read from.
NOT_READ = {"v2_consolidated_escape", "v3_consolidated_escape"}


def stored(case: Path, data: dict[str, Any]) -> bytes:
    return (case / "expected" / Path(data["file"]).name).read_bytes()


def elements(raw: bytes) -> list[bytes]:
    found = []
    at = 0
    while at < len(raw):
        length = int.from_bytes(raw[at : at + 4], "little")
        found.append(raw[at + 4 : at + 4 + length])
        at += 4 + length
    return found


def check(array: zarr_rust.Array, case: Path, expected: dict[str, Any]) -> str:
    """Compares an array with the elements that it must have; returns the kind of comparison."""
    assert list(array.shape) == expected["shape"]
    data = expected["data"]
    if data.get("unreadable") or expected.get("unreadable"):
        return "metadata alone"
    try:
        array.dtype
    except TypeError as error:
        assert "numpy has no data type" in str(error)
        return "no data type of numpy"
    found = array[...]
    raw = stored(case, data)
    if data["encoding"] == "raw":
        if data.get("undefined"):
            return "undefined elements"
        assert np.asarray(found).tobytes() == raw
        return "bytes"
    flat = np.asarray(found, dtype=object).reshape(-1).tolist() if array.shape else [found]
    if data["encoding"] == "vlen-utf8":
        assert [text.encode() for text in flat] == elements(raw)
    elif data["encoding"] == "vlen-bytes":
        assert flat == elements(raw)
    elif data["encoding"] == "vlen-array":
        assert [item.tobytes() for item in flat] == elements(raw)
    else:
        assert len(flat) == array.size
        return "json, counted"
    return data["encoding"]


def test_fixtures_of_all_dialects(fixtures: Path) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    faults = []
    for archive in sorted(FIXTURES.glob("*.tar.gz")):
        name = archive.name.removesuffix(".tar.gz")
        for case in sorted(path.parent for path in (fixtures / name).rglob("expected.json")):
            expected = json.loads((case / "expected.json").read_text())
            url = str(case / (expected["store"] if expected.get("container") else "store"))
            if not Path(url).exists():
                url = str(case / "store.zip") if (case / "store.zip").exists() else url
            if case.name in NOT_READ:
                counts[name, "consolidated metadata"] += 1
                continue
            if expected["expect"] == "error":
                try:
                    node = zarr_rust.open(url, expected["error"].get("path") or "/")
                    node.attrs.asdict()
                    if isinstance(node, zarr_rust.Group):
                        list(node)
                    region = expected["error"].get("region_to_read")
                    if isinstance(node, zarr_rust.Array):
                        node[tuple(slice(*axis) for axis in region) if region else ...]
                    faults.append(f"{name}/{case.name}: was not refused")
                except (errors.ZarrError, errors.ZarrWarning, TypeError) as error:
                    counts[name, f"refused: {getattr(error, 'kind', type(error).__name__)}"] += 1
                continue
            options = set(expected.get("options") or [])
            for path, array in expected["arrays"].items():
                try:
                    if options & {"v1_f_order_is_c", "may_refuse"}:
                        zarr_rust.open_array(url, path)
                        counts[name, "opened"] += 1
                        continue
                    counts[name, check(zarr_rust.open_array(url, path), case, array)] += 1
                except errors.UnknownExtensionError as error:
                    counts[name, "unknown extension"] += 1
                    if f"{name}/{case.name}{path}" not in LEFT:
                        faults.append(f"{name}/{case.name}{path}: {error}")
                except (AssertionError, errors.ZarrError, ValueError) as error:
                    faults.append(f"{name}/{case.name}{path}: {error!r}")
    print()
    for (name, kind), count in sorted(counts.items()):
        print(f"{name:>22} {kind:<28} {count}")
    assert not faults, "\n".join(faults)
    compared = {name for (name, kind), _ in counts.items() if kind == "bytes"}
    assert compared >= {path.name.removesuffix(".tar.gz") for path in FIXTURES.glob("*.tar.gz") if not path.name.startswith("bad")}
