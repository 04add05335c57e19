"""Checksums of stored values, by all kinds of sources."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust
from zarr.storage import MemoryStore, WrapperStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with a group and an array in it."""
    array = zarr_rust.create_array(tmp_path / "s.zarr", "g/t", shape=(4,), dtype="i2", chunks=(2,))
    array[:] = [1, 2, 3, 4]
    return tmp_path / "s.zarr"


def sources(folder: Path) -> list[Any]:
    """The store, by objects that take no writes."""
    opened = zarr.open_group(folder, mode="r")
    return [opened, opened.store, zarr_rust.open(folder, mode="r")]


def test_sources_that_take_no_writes(folder: Path) -> None:
    expected = zarr_rust.manifest(folder)
    assert expected.nvalues == 5
    for source in sources(folder):
        assert zarr_rust.manifest(source) == expected
        assert zarr_rust.check_manifest(source, expected.text) == {}
    for source in (zarr_rust.open(folder, "g/t", mode="r"), zarr.open_array(folder, path="g/t", mode="r")):
        assert zarr_rust.manifest(source) == zarr_rust.manifest(folder, "g/t")
    with pytest.raises(TypeError, match="the source is open"):
        zarr_rust.manifest(zarr_rust.open(folder), "g")


def test_a_group_in_memory() -> None:
    group = zarr_rust.create_group("memory:")
    group.create_array("t", shape=(2,), dtype="i1")[:] = 1
    made = zarr_rust.manifest(group)
    assert made.nvalues == 3
    assert zarr_rust.check_manifest(group, made.text) == {}


def test_stores_of_python_that_do_not_tell_sizes() -> None:
    store = WrapperStore(MemoryStore())
    array = zarr.create_array(store, shape=(9 << 20,), chunks=(9 << 20,), dtype="u1", compressors=None, fill_value=0)
    elements = (np.arange(9 << 20) % 251).astype("u1")
    array[:] = elements
    told: list[tuple[int, int]] = []
    made = zarr_rust.manifest(store, progress=lambda *numbers: told.append(numbers))
    assert f"{hashlib.sha256(elements.tobytes()).hexdigest()}  c/0\n" in made.text
    assert told[-1] == (made.nbytes, 0)
    # A byte behind the first 8 MiB.
    array[-1] = 255
    assert zarr_rust.check_manifest(store, made.text) == {"c/0": ("different", None)}


def test_damage_is_listed(folder: Path) -> None:
    made = zarr_rust.manifest(folder, form="dandi")
    assert made.dandi_checksum is not None
    assert made.dandi_checksum.endswith(f"-5--{made.nbytes}")
    told: list[tuple[int, int]] = []
    (folder / "zarr.json").unlink()
    (folder / "g" / "t" / "c" / "1").write_bytes(b"")
    found = zarr_rust.check_manifest(folder, made.text, progress=lambda *numbers: told.append(numbers))
    assert found == {"g/t/c/1": ("different", None), "zarr.json": ("missing", None)}
    assert told[-1][0] == told[-1][1]


class Slow(WrapperStore[Any]):
    """A store whose values take a while."""

    async def get(self, *arguments: Any, **named: Any) -> Any:
        await asyncio.sleep(0.05)
        return await super().get(*arguments, **named)


def test_progress_without_a_total() -> None:
    store = Slow(MemoryStore())
    zarr.create_array(store, shape=(40,), chunks=(1,), dtype="u1", fill_value=0)[:] = 1
    told: list[tuple[int, int]] = []
    made = zarr_rust.manifest(store, threads=2, memory="64KiB", progress=lambda *numbers: told.append(numbers))
    assert told[-1] == (made.nbytes, 0)
    assert len(told) > 3
    assert [done for done, _ in told] == sorted({done for done, _ in told})


def test_a_value_that_cannot_be_read(folder: Path) -> None:
    made = zarr_rust.manifest(folder)
    value = folder / "g" / "t" / "c" / "1"
    value.unlink()
    value.symlink_to("/etc/hostname")
    found = zarr_rust.check_manifest(folder, made.text)
    assert list(found) == ["g/t/c/1"]
    assert found["g/t/c/1"].kind == "unreadable"
    assert "leads out of the store" in str(found["g/t/c/1"].cause)
    with pytest.raises(ValueError):
        zarr_rust.manifest(folder, threads=0)
