"""Caches of decoded chunks, which handles are opened with."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
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


@pytest.mark.parametrize(("cache", "error"), [(-1, ValueError), (1.5, TypeError), ("1GiX", ValueError), ("-1", ValueError), (True, TypeError)])
def test_other_sizes_are_refused(tmp_path: Path, cache: Any, error: type[Exception]) -> None:
    zarr_rust.create_array(tmp_path / "x.zarr", shape=(2,), dtype="i2")
    for opened in (zarr_rust.open, zarr_rust.open_array):
        with pytest.raises(error, match="cache"):
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


def test_a_cache_is_shared_counted_and_cleared(tmp_path: Path) -> None:
    fill(tmp_path)
    cache = zarr_rust.Cache("1MiB")
    assert cache.max_bytes == 1 << 20 and zarr_rust.Cache(7).max_bytes == 7
    a, b = (zarr_rust.open_array(tmp_path / "x.zarr", name, cache=cache) for name in ("a", "b"))
    assert a.cache == cache == b.cache and hash(a.cache) == hash(cache) and cache != zarr_rust.Cache("1MiB")
    assert zarr_rust.open_array(tmp_path / "x.zarr", "a").cache is None
    group = zarr_rust.open_group(tmp_path / "x.zarr", cache="1.5 KiB")
    assert group.cache is not None and group.cache.max_bytes == 1536 and group["a"].cache == group.cache
    assert cache.stats() == {"hits": 0, "misses": 0, "joined": 0, "bytes": 0, "max_bytes": 1 << 20}
    assert a[5] == 5 and b[5] == 5
    # An index and an inner chunk of each.
    assert cache.stats()["misses"] == 4 and cache.nbytes == cache.stats()["bytes"] > 32
    assert a[6] == 6 and cache.stats()["hits"] == 2
    cache.clear()
    assert cache.nbytes == 0 and a[5] == 5 and cache.stats()["misses"] == 6


def test_pickled_handles_share_a_cache_in_a_process(tmp_path: Path) -> None:
    fill(tmp_path)
    cache = zarr_rust.Cache("1MiB")
    array = zarr_rust.open_array(tmp_path / "x.zarr", "a", cache=cache)
    # As each task of a scheduler brings its own copy.
    copies = [pickle.loads(pickle.dumps(array)) for _ in range(3)]
    assert all(copy.cache == cache for copy in copies) and pickle.loads(pickle.dumps(cache)) == cache
    texts = subprocess.run(
        [sys.executable, "-c", "import pickle, sys; a, b = pickle.load(sys.stdin.buffer); print(a[5], a.cache.stats()['misses'], a.cache == b.cache)"],
        input=pickle.dumps((array, copies[0])),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(zarr_rust.__file__).parents[1])},
    )
    assert texts.stdout.split() == [b"5", b"2", b"True"] and cache.stats()["misses"] == 0


def test_threads_that_read_the_same_chunk_ask_for_it_once(tmp_path: Path) -> None:
    fill(tmp_path)
    with serving() as server:
        upload(tmp_path / "x.zarr", server)
        options = OPTIONS | {"endpoint": server.url}
        array = zarr_rust.open_array("s3://bucket/x.zarr", "a", storage_options=options, cache="1MiB")
        server.requests.clear()
        with ThreadPoolExecutor(40) as pool:
            assert [*pool.map(lambda number: int(array[number % 64]), range(200))] == [number % 64 for number in range(200)]
        # Two indexes and sixteen inner chunks.
        assert len(asked(server)) == 18
        assert array.cache is not None and array.cache.stats()["misses"] == 18


def test_a_forked_child_has_an_empty_cache(tmp_path: Path) -> None:
    fill(tmp_path)
    group = zarr_rust.open_group(tmp_path / "x.zarr", cache="1MiB")
    array, data = group["a"], zarr_rust.dataset(tmp_path / "x.zarr", number_dimensions=True, cache="1MiB")
    assert isinstance(array, zarr_rust.Array) and array[5] == 5 and data["a"][5] == 5
    child = os.fork()
    if child == 0:
        code = 1
        try:
            own = array.cache
            assert own is not None and own.nbytes == 0
            assert array[5] == array[5] == 5 and own.stats()["misses"] == 2 and data["a"][5] == data["a"][5] == 5
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_data_sets_keep_decoded_values(tmp_path: Path) -> None:
    root = zarr_rust.create_group(tmp_path / "x.zarr")
    settings: dict[str, Any] = {"data": np.arange(8, dtype="i2"), "chunks": (4,), "dimension_names": ["x"]}
    root.create_array("t", **settings, attributes={"scale_factor": 0.5})
    with serving() as server:
        upload(tmp_path / "x.zarr", server)
        options = OPTIONS | {"endpoint": server.url}
        cache = zarr_rust.Cache("1MiB")
        data = zarr_rust.dataset("s3://bucket/x.zarr", storage_options=options, cache=cache)
        server.requests.clear()
        assert data["t"][1] == 0.5 and data["t"].isel(x=slice(0, 3)).values.tolist() == [0, 0.5, 1] and data.isel(x=2)["t"].values == 1
        assert len(asked(server)) == 1 and cache.stats()["hits"] >= 2
    # Values that are written are not those that are decoded.
    with pytest.raises(ValueError, match="takes writes"):
        zarr_rust.dataset(tmp_path / "x.zarr", mode="r+", cache="1MiB")
    group = zarr_rust.open_group(tmp_path / "x.zarr", mode="r+", cache="1MiB")
    data, array = zarr_rust.dataset(group), group["t"]
    assert isinstance(array, zarr_rust.Array) and data["t"][1] == 0.5
    array[1] = 7
    assert data["t"][1] == 3.5 and array[1] == 7
    with pytest.raises(TypeError, match="cache"):
        zarr_rust.dataset(group, cache="1MiB")


def test_what_a_data_set_writes_its_group_sees(tmp_path: Path) -> None:
    root = zarr_rust.create_group(tmp_path / "x.zarr")
    root.create_array("t", data=np.arange(8, dtype="i2"), chunks=(4,), dimension_names=["x"], attributes={"scale_factor": 0.5})
    group = zarr_rust.open_group(tmp_path / "x.zarr", mode="r+", cache="1MiB")
    array = group["t"]
    assert isinstance(array, zarr_rust.Array) and array[1] == 1
    data = zarr_rust.dataset(group)
    data.write({"t": ("x", np.arange(8) * 5.0)})
    assert array[1] == 10 and group["t"][1] == 10  # type: ignore[index]
    data.append("x", {"t": ("x", np.array([1.0, 2.0]))})
    assert zarr_rust.open_array(tmp_path / "x.zarr", "t").shape == (10,) and group["t"][9] == 4  # type: ignore[index]


def test_a_name_is_that_of_one_cache(tmp_path: Path) -> None:
    one = zarr_rust.Cache("1GiB", name="of this test")
    assert zarr_rust.Cache("1GiB", name="of this test") == one
    with pytest.raises(ValueError, match=f"found one of {1 << 30} bytes in this process, expected {2 << 30}"):
        zarr_rust.Cache("2GiB", name="of this test")
    zarr_rust.create_array(tmp_path / "x.zarr", shape=(2,), dtype="i2")
    with pytest.raises(ValueError, match=r"from 0 to 2\*\*63 - 1"):
        zarr_rust.open_array(tmp_path / "x.zarr", cache=2**70)

