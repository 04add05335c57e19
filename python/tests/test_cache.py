"""Caches of decoded chunks, which handles are opened with."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr_rust
from server import Server, serving
from test_buckets import upload

OPTIONS = {"anonymous": "true", "region": "eu-west-3"}


def fill(folder: Path) -> None:
    """Two arrays in shards, of which each inner chunk has its own numbers."""
    root = zarr_rust.create_group(folder / "x.zarr")
    for name in ("a", "b"):
        array = root.create_array(name, shape=(64,), chunks=(4,), shards=(32,), dtype="i4")
        array[:] = np.arange(64)


def asked(server: Server) -> list[str]:
    """The chunks that were asked for since the last call."""
    paths = [path for _, path, _ in server.requests if "/c/" in path]
    server.requests.clear()
    return paths


def test_a_second_read_of_a_point_is_no_request(tmp_path: Path) -> None:
    fill(tmp_path)
    with serving() as server:
        upload(tmp_path / "x.zarr", server)
        options = OPTIONS | {"endpoint": server.url}
        array = zarr_rust.open_array("s3://bucket/x.zarr", "a", storage_options=options, cache=1 << 20)
        server.requests.clear()
        assert array[5] == 5
        # The index of the shard, and the inner chunk.
        assert len(asked(server)) == 2
        assert (array[5], array[6]) == (5, 6) and array.vindex[[7, 4]].tolist() == [7, 4]
        assert asked(server) == []
        assert array[20] == 20
        assert len(asked(server)) == 1, "the index is known"
        assert array[40] == 40
        assert len(asked(server)) == 2, "of another shard"
        without = zarr_rust.open_array("s3://bucket/x.zarr", "a", storage_options=options)
        assert without[5] == 5
        server.requests.clear()
        assert without[5] == 5
        assert len(asked(server)) >= 1


def test_arrays_of_a_group_share_a_cache(tmp_path: Path) -> None:
    fill(tmp_path)
    with serving() as server:
        upload(tmp_path / "x.zarr", server)
        options = OPTIONS | {"endpoint": server.url}
        for group in (
            zarr_rust.open_group("s3://bucket/x.zarr", storage_options=options, cache=1 << 20),
            zarr_rust.open("s3://bucket/x.zarr", storage_options=options, cache=np.int64(1 << 20)),
        ):
            assert isinstance(group, zarr_rust.Group)
            server.requests.clear()
            assert (group["a"][5], group["b"][5]) == (5, 5)
            assert len(asked(server)) == 4
            # Another handle of the same array has the same chunks.
            assert (group["a"][5], group["b"][5]) == (5, 5)
            assert asked(server) == []
        # Together they have one bound: of one that holds nothing each read is a request.
        none = zarr_rust.open_group("s3://bucket/x.zarr", storage_options=options, cache=0)
        server.requests.clear()
        assert none["a"][5] == none["a"][5] == 5
        assert len(asked(server)) == 4
        # A handle that goes to another process has a cache of its own.
        array = pickle.loads(pickle.dumps(zarr_rust.open_group("s3://bucket/x.zarr", storage_options=options, cache=1 << 20)["a"]))
        assert array[5] == 5
        server.requests.clear()
        assert array[5] == 5 and asked(server) == []


def test_what_a_handle_writes_it_sees(tmp_path: Path) -> None:
    array = zarr_rust.open_array(tmp_path / "x.zarr", "a", mode="w", shape=(8,), chunks=(4,), dtype="i2", cache=1 << 20)
    group = zarr_rust.open_group(tmp_path / "x.zarr", mode="r+", cache=1 << 20)
    first, second = group["a"], group["a"]
    assert isinstance(first, zarr_rust.Array) and isinstance(second, zarr_rust.Array)
    assert first[1] == second[1] == array[1] == 0
    first[1] = 7
    assert first[1] == second[1] == 7
    second.append(np.array([9], dtype="i2"))
    assert second[8] == 9 and second[1] == 7
    # Opened by itself, and so it has what it had.
    assert array[1] == 0
    assert zarr_rust.open_array(tmp_path / "x.zarr", "a", cache=1 << 20)[1] == 7


@pytest.mark.parametrize(("cache", "error"), [(-1, ValueError), (1.5, TypeError), ("1", TypeError), (True, TypeError)])
def test_other_sizes_are_refused(tmp_path: Path, cache: Any, error: type[Exception]) -> None:
    zarr_rust.create_array(tmp_path / "x.zarr", shape=(2,), dtype="i2")
    for opened in (zarr_rust.open, zarr_rust.open_array):
        with pytest.raises(error, match="cache="):
            opened(tmp_path / "x.zarr", cache=cache)


def test_another_array_at_the_same_path_is_read(tmp_path: Path) -> None:
    fill(tmp_path)
    root = zarr_rust.open_group(tmp_path / "x.zarr", mode="r+", cache=1 << 20)
    new: dict[str, Any] = {"shape": (64,), "chunks": (4,), "shards": (32,), "dtype": "i4"}
    assert root["a"][5] == 5
    root.create_array("a", overwrite=True, **new)[:] = np.arange(64) + 100
    assert root["a"][5] == 105
    del root["a"]
    root.create_array("a", **new)
    assert root["a"][5] == 0
    root["a"][:] = np.arange(64) + 200
    assert root["b"][5] == 5 and root["a"][5] == 205
    del root["a"]
    root.move("b", "a")
    assert root["a"][5] == 5
