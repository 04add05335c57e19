"""Calls of ``zarr.create_array`` are calls of ``zarr_rust.create_array``, and store the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
import zarr_rust
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

CALLS: list[dict[str, Any]] = [
    {"compressors": None},
    {"compressors": ()},
    {"compressors": ZstdCodec(level=5)},
    {"compressors": [GzipCodec(level=2)], "zarr_format": 3},
    {"compressors": {"name": "zstd", "configuration": {"level": 1, "checksum": True}}},
    {"compressors": BloscCodec(cname="lz4", clevel=3, shuffle="bitshuffle", typesize=4), "shards": (6, 8)},
    *({"compressors": codec()} for codec in (BloscCodec, GzipCodec, ZstdCodec, Crc32cCodec)),
    *({"compressors": BloscCodec(), "dtype": dtype} for dtype in ("i1", "f8", "c16", "?")),
    {"compressors": BloscCodec(cname="lz4", shuffle="noshuffle")},
    {"compressors": [BloscCodec(clevel=1), Crc32cCodec()], "filters": TransposeCodec(order=(1, 0)), "dtype": "f8"},
    {"serializer": BytesCodec()},
    {"serializer": BytesCodec(endian=None), "dtype": "u1"},
    {"serializer": ShardingCodec(chunk_shape=(3, 2), codecs=[BytesCodec(), BloscCodec()]), "compressors": None},
    {"chunks": "auto"},
    {"chunks": (-1, 5)},
    {"chunks": -1},
    {"filters": TransposeCodec(order=(1, 0))},
    {"filters": None, "serializer": BytesCodec(endian="big"), "order": "C"},
    {"zarr_format": 2, "compressors": numcodecs.Zstd(level=3)},
    {"zarr_format": 2, "compressors": (numcodecs.Blosc(cname="zstd", clevel=2, shuffle=numcodecs.Blosc.SHUFFLE),), "order": "F"},
    {"zarr_format": 2, "filters": [numcodecs.Delta(dtype="<i4")], "compressors": {"id": "zlib", "level": 1}},
    {"zarr_format": 2, "filters": [numcodecs.Shuffle(4)]},
    {"zarr_format": 2, "order": "F", "compressors": None, "dtype": [("a", "<i4"), ("b", "<f8")]},
]


def document(folder: Path) -> Any:
    return json.loads(next(folder / name for name in ("zarr.json", ".zarray") if (folder / name).exists()).read_text())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_calls_of_zarr_python_store_the_same(tmp_path: Path, call: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"shape": (12, 16), "chunks": (3, 4), "dtype": "i4", "fill_value": None if "dtype" in call else 7} | call
    theirs = zarr.create_array(tmp_path / "a", **arguments)
    ours = zarr_rust.create_array(tmp_path / "b", **arguments)
    if ours.dtype.names is None:
        data = np.arange(12 * 16, dtype="i4").reshape(12, 16).astype(ours.dtype)
        theirs[...] = data
        ours[...] = data
        assert np.array_equal(zarr.open_array(tmp_path / "b")[...], data)
        assert np.array_equal(zarr_rust.open_array(tmp_path / "a")[...], data)
    expected, found = document(tmp_path / "a"), document(tmp_path / "b")
    for member in ("codecs", "filters", "compressor", "order", "zarr_format", "chunk_grid", "dtype"):
        assert found.get(member) == expected.get(member), member


def test_texts_in_version_2(tmp_path: Path) -> None:
    made = zarr_rust.create_array(tmp_path / "a", shape=3, dtype="string", zarr_format=2, compressors=numcodecs.GZip(level=1))
    made[:] = ["a", "", "€"]
    theirs = zarr.open_array(tmp_path / "a")
    assert theirs[:].tolist() == ["a", "", "€"]
    assert document(tmp_path / "a")["compressor"] == {"id": "gzip", "level": 1}


def test_groups_say_the_version(tmp_path: Path) -> None:
    group = zarr_rust.create_group(tmp_path / "x", dialect="v2")
    made = group.create_array("a", shape=4, dtype="f4", zarr_format=2, compressors=numcodecs.LZ4())
    assert made.dialect == "v2" and document(tmp_path / "x" / "a")["compressor"]["id"] == "lz4"
    assert group.create_array("b", shape=(4, 4), dtype="f4", order="F").dialect == "v2"
    assert document(tmp_path / "x" / "b")["order"] == "F"
    with pytest.raises(ValueError, match="zarr_format=3.*'v2'"):
        group.create_array("c", shape=4, dtype="f4", zarr_format=3)
    with pytest.raises(TypeError, match="numcodecs"):
        group.create_array("c", shape=4, dtype="f4", compressors=ZstdCodec())
    assert sorted(group) == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"codecs": "zstd", "compressors": None}, TypeError, "codecs and compressors"),
        ({"codecs": "zstd", "filters": [], "serializer": BytesCodec()}, TypeError, "filters and serializer"),
        ({"dialect": "v2", "zarr_format": 2}, TypeError, "zarr_format=2 and dialect='v2'"),
        ({"zarr_format": 4}, ValueError, "expected 2 or 3"),
        ({"name": "b", "path": "c"}, TypeError, "expected one of them"),
        ({"config": {"write_empty_chunks": True}}, TypeError, "expected no such argument"),
        ({"storage_options": {"anon": True}}, TypeError, "expected anonymous"),
        ({"chunks": True}, TypeError, "chunks: found True, expected an integer"),
        ({"chunks": (2, 2.5)}, TypeError, "chunks: found 2.5"),
        ({"chunks": "22"}, TypeError, "chunks: found '22'"),
        ({"chunks": [[2, 2], [4]]}, TypeError, r"chunks: found \[2, 2\]"),
        ({"shards": "auto"}, TypeError, "shards: found 'auto'"),
        ({"chunks": (-2, 1)}, ValueError, "negative"),
        ({"zarr_format": True}, ValueError, "expected 2 or 3"),
        ({"order": "K"}, ValueError, "order"),
        ({"order": "F"}, ValueError, "version 2"),
        ({"compressors": numcodecs.Zstd()}, TypeError, "zarr_format=2"),
        ({"compressors": "zstd(3)"}, TypeError, "compressors.*dict with a name"),
        ({"compressors": 3}, TypeError, "compressors: found 3"),
        ({"zarr_format": 2, "compressors": [{"id": "zstd"}, {"id": "gzip"}]}, TypeError, "found 2, expected one"),
        ({"zarr_format": 2, "compressors": {"name": "zstd"}}, TypeError, "with an id"),
        ({"zarr_format": 2, "serializer": BytesCodec()}, TypeError, "serializer"),
        ({"zarr_format": 2, "compressors": {"id": "no_such_codec"}}, ValueError, "no_such_codec"),
    ],
    ids=str,
)
def test_what_cannot_be(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        zarr_rust.create_array("memory:", shape=(4, 4), dtype="i4", **arguments)


@pytest.mark.parametrize("shape", [(5.5,), "35", True, (True, 2), None.__class__], ids=str)
def test_shapes_are_integers(shape: Any) -> None:
    with pytest.raises(TypeError, match="expected an integer"):
        zarr_rust.create_array("memory:", shape=shape, dtype="i4")
    array = zarr_rust.create_array("memory:", shape=(np.int64(4), np.uint8(4)), dtype="i4")
    with pytest.raises(TypeError, match="expected an integer"):
        array.resize((2.5, 2))
