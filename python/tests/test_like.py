"""Arrays that are made as others are, and what is given beside that."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr_rust

zarr = pytest.importorskip("zarr")


@pytest.fixture
def sharded(tmp_path: Path) -> Any:
    return zarr_rust.create_array(
        tmp_path / "a.zarr", shape=(8, 12), shards=(4, 6), chunks=(2, 3), dtype="i2", codecs="gzip(1)", dimension_names=["y", "x"]
    )


def test_chunks_are_those_of_shards(sharded: Any) -> None:
    made = zarr_rust.zeros_like(sharded, chunks=(4, 3))
    assert (made.shards, made.chunks) == ((4, 6), (4, 3))
    assert zarr_rust.zeros_like(sharded, shards=None).shards is None
    made = zarr_rust.zeros_like(sharded, compressors=None)
    assert (made.compressors, made.shards, made.dims) == ((), (4, 6), ("y", "x"))
    assert zarr_rust.zeros_like(sharded).metadata["codecs"] == sharded.metadata["codecs"]


def test_codecs_that_are_not_given_stay() -> None:
    delta = {"name": "numcodecs.delta", "configuration": {"dtype": "<i2"}}
    a = zarr_rust.create_array("memory:", data=np.arange(6, dtype="i2"), filters=[delta], compressors=[{"name": "gzip", "configuration": {"level": 1}}])
    made = zarr_rust.from_array("memory:", data=a, compressors=None)
    assert [codec["name"] for codec in made.metadata["codecs"]] == ["numcodecs.delta", "bytes"]
    assert made[:].tolist() == [0, 1, 2, 3, 4, 5]


def test_arrays_of_zarr_python_are_made_alike(tmp_path: Path) -> None:
    a = zarr.create_array(tmp_path / "z.zarr", data=np.arange(6.0), chunks=(2,), compressors=zarr.codecs.GzipCodec(level=3), dimension_names=["x"])
    made = zarr_rust.from_array(tmp_path / "r.zarr", data=a)
    assert made.dims == ("x",) and made.chunks == (2,)
    assert made.metadata["codecs"][-1] == {"name": "gzip", "configuration": {"level": 3}}


def test_values_that_are_given_twice_are_told() -> None:
    with pytest.raises(TypeError, match="fill_value"):
        zarr_rust.zeros(3, fill_value=9)
    assert np.signbit(zarr_rust.full(2, -0.0)[0])


def test_arrays_that_are_required_can_be_cast(tmp_path: Path) -> None:
    group, theirs = zarr_rust.create_group(tmp_path / "g.zarr"), zarr.create_group(tmp_path / "t.zarr")
    for root in (group, theirs):
        root.require_array("f4", shape=(3,), dtype="f4")
        assert root.require_array("f4", shape=(3,), dtype="f8").dtype == np.dtype("f4")
        root.require_array("f8", shape=(3,), dtype="f8")
        with pytest.raises(TypeError):
            root.require_array("f8", shape=(3,), dtype="f4")
    made = group.require_array("s", shape=3, dtype="string")
    assert group.require_array("s", shape=3, dtype="string") == made


def test_what_is_saved_replaces_what_was_there(tmp_path: Path) -> None:
    zarr_rust.save(tmp_path / "s.zarr", a=[1], b=[2])
    zarr_rust.save(tmp_path / "s.zarr", c=[3])
    assert list(zarr_rust.load(tmp_path / "s.zarr")) == ["c"]
    with pytest.raises(ValueError, match="at least one"):
        zarr_rust.save_group(tmp_path / "s.zarr")


def test_a_group_that_is_opened_to_read_is_no_target(tmp_path: Path) -> None:
    zarr_rust.create_group(tmp_path / "g.zarr")
    with pytest.raises(zarr_rust.errors.ReadOnlyError):
        zarr_rust.create_array(zarr_rust.open_group(tmp_path / "g.zarr", mode="r"), "a", data=[1])


def test_the_oldest_python_reads_all_files() -> None:
    for file in Path(zarr_rust.__file__).parent.glob("*.py"):
        ast.parse(file.read_text(), feature_version=(3, 11))
