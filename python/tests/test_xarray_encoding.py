"""Codecs in the encodings of variables, as xarray's own engine has them, and copies of data sets that keep them."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import xarray
import zarr
import zarr.codecs as codecs
import zarr_rust
from zarr.abc.codec import Codec
from zarr_rust.xarray import ZarrRustBackend

FLOATS = np.round(np.random.default_rng(0).normal(size=(20, 30)), 2)
INTEGERS = (FLOATS * 100).astype("i4")
FLAGS = FLOATS > 0
TEXTS = np.array([["a", "é", "b" * 9], ["", "c", "𝄞"]], dtype=np.dtypes.StringDType())

#: Arrays of version 2: elements, and what `zarr.create_array` makes of them.
VERSION_2: dict[str, tuple[Any, dict[str, Any]]] = {
    "default": (FLOATS, {}),
    "none": (FLOATS, {"compressors": None, "filters": None}),
    "order": (INTEGERS, {"order": "F"}),
    "blosc": (FLOATS, {"compressors": numcodecs.Blosc("lz4hc", 9, numcodecs.Blosc.BITSHUFFLE)}),
    "zstd": (FLOATS, {"compressors": numcodecs.Zstd(level=7, checksum=True)}),
    "gzip": (FLOATS, {"compressors": numcodecs.GZip(level=6)}),
    "zlib": (FLOATS, {"compressors": numcodecs.Zlib(level=6)}),
    "bz2": (FLOATS, {"compressors": numcodecs.BZ2(level=6)}),
    "lz4": (FLOATS, {"compressors": numcodecs.LZ4(acceleration=6)}),
    "lzma": (FLOATS, {"compressors": numcodecs.LZMA(preset=6)}),
    "base64": (FLOATS, {"compressors": numcodecs.Base64()}),
    "delta": (INTEGERS, {"filters": [numcodecs.Delta("<i4")]}),
    "fixedscaleoffset": (FLOATS, {"filters": [numcodecs.FixedScaleOffset(0, 100, "<f8", "<i2")]}),
    "quantize": (FLOATS, {"filters": [numcodecs.Quantize(2, "<f8")]}),
    "bitround": (FLOATS, {"filters": [numcodecs.BitRound(20)]}),
    "astype": (INTEGERS, {"filters": [numcodecs.AsType("<i2", "<i4")]}),
    "packbits": (FLAGS, {"filters": [numcodecs.PackBits()]}),
    "shuffle": (INTEGERS, {"filters": [numcodecs.Shuffle(4), numcodecs.Fletcher32(), numcodecs.CRC32()]}),
    "checksums": (INTEGERS, {"filters": [numcodecs.Adler32(), numcodecs.CRC32C(), numcodecs.JenkinsLookup3()]}),
    "texts": (TEXTS, {"filters": [numcodecs.VLenUTF8()], "compressors": numcodecs.GZip(level=3)}),
}

#: Of version 3.
VERSION_3: dict[str, tuple[Any, dict[str, Any]]] = {
    "default": (FLOATS, {}),
    "none": (FLOATS, {"compressors": None}),
    "bytes": (FLOATS, {"serializer": codecs.BytesCodec(endian="big")}),
    "blosc": (FLOATS, {"compressors": codecs.BloscCodec(cname="zlib", clevel=9, shuffle="bitshuffle")}),
    "zstd": (FLOATS, {"compressors": codecs.ZstdCodec(level=7, checksum=True)}),
    "gzip": (FLOATS, {"compressors": [codecs.GzipCodec(level=6), codecs.Crc32cCodec()]}),
    "transpose": (FLOATS, {"filters": [codecs.TransposeCodec(order=(1, 0))]}),
    "shards": (FLOATS, {"shards": (20, 20), "compressors": codecs.BloscCodec(cname="zstd", clevel=9)}),
    "shards of all": (
        INTEGERS,
        {"shards": (10, 30), "filters": [codecs.TransposeCodec(order=(1, 0))], "serializer": codecs.BytesCodec(endian="big")},
    ),
    "texts": (TEXTS, {"compressors": codecs.GzipCodec(level=3)}),
    "texts in shards": (TEXTS, {"chunks": (1, 2), "shards": (2, 4)}),
    **{name: (FLOATS, {"compressors": made()}) for name, made in {
        "numcodecs.bz2": lambda: codecs.BZ2(level=6),
        "numcodecs.crc32": lambda: [codecs.CRC32(), codecs.Adler32(), codecs.JenkinsLookup3(), codecs.CRC32C()],
        "numcodecs.fletcher32": lambda: codecs.Fletcher32(),
        "numcodecs.lz4": lambda: codecs.LZ4(acceleration=6),
        "numcodecs.lzma": lambda: codecs.LZMA(preset=6),
        "numcodecs.zlib": lambda: codecs.Zlib(level=6),
        "numcodecs.zstd": lambda: codecs.Zstd(level=6),
        "numcodecs.gzip": lambda: codecs.GZip(level=6),
        "numcodecs.blosc": lambda: codecs.Blosc(cname="lz4", clevel=3),
        "numcodecs.shuffle": lambda: codecs.Shuffle(elementsize=8),
    }.items() if hasattr(codecs, "BZ2")},
    **{name: made() for name, made in {
        "numcodecs.delta": lambda: (INTEGERS, {"filters": [codecs.Delta(dtype="<i4")]}),
        "numcodecs.fixedscaleoffset": lambda: (FLOATS, {"filters": [codecs.FixedScaleOffset(offset=0, scale=100, dtype="<f8", astype="<i2")]}),
        "numcodecs.quantize": lambda: (FLOATS, {"filters": [codecs.Quantize(digits=2, dtype="<f8")]}),
        "numcodecs.bitround": lambda: (FLOATS, {"filters": [codecs.BitRound(keepbits=20)]}),
        "numcodecs.astype": lambda: (INTEGERS, {"filters": [codecs.AsType(encode_dtype="<i2", decode_dtype="<i4")]}),
        "numcodecs.packbits": lambda: (FLAGS, {"filters": [codecs.PackBits()]}),
    }.items() if hasattr(codecs, "BZ2")},
    **{name: made() for name, made in {
        "scale_offset": lambda: (FLOATS, {"filters": [codecs.ScaleOffset(offset=3.0, scale=0.5)]}),
    }.items() if hasattr(codecs, "ScaleOffset")},
}

#: Need packages that are not installed, or are for other elements: bytes of any length, which variables of xarray are not.
LEFT_OUT = {"CastValue", "PCodec", "ZFPY", "VLenBytesCodec", "ShardingCodec"}

CASES = [*((2, name) for name in VERSION_2), *((3, name) for name in VERSION_3)]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def stored(folder: Path, version: int, name: str) -> Path:
    data, settings = (VERSION_2 if version == 2 else VERSION_3)[name]
    settings = {"chunks": (1, 2) if data is TEXTS else (10, 10)} | settings
    dims: dict[str, Any] = {"attributes": {"_ARRAY_DIMENSIONS": ["y", "x"]}} if version == 2 else {"dimension_names": ["y", "x"]}
    zarr.create_group(folder / "a.zarr", zarr_format=version)
    array = zarr.create_array(
        folder / "a.zarr", name="t", shape=data.shape, dtype=data.dtype, zarr_format=version, **settings, **dims
    )
    array[:] = data
    return folder / "a.zarr"


def documents(folder: Path) -> dict[str, Any]:
    names = (".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json")
    return {str(path.relative_to(folder)): json.loads(path.read_text()) for path in folder.rglob("*") if path.name in names}


@pytest.mark.parametrize(("version", "name"), CASES)
def test_encodings_and_copies_are_those_of_xarray(tmp_path: Path, version: int, name: str) -> None:
    path = stored(tmp_path, version, name)
    theirs = xarray.open_dataset(path, engine="zarr", consolidated=False)
    ours = xarray.open_dataset(path, engine=ZarrRustBackend)
    found, due = dict(ours.t.encoding), dict(theirs.t.encoding)
    if found["shards"]:
        # Blocks of Dask are shards here, and inner chunks there.
        assert found.pop("preferred_chunks") == dict(zip("yx", found["shards"]))
        del due["preferred_chunks"]
    if (version, name) == (2, "texts"):
        # Which makes a document of it that zarr-python cannot read.
        assert due["filters"] == (numcodecs.VLenUTF8(),)
        due["filters"] = ()
    np.testing.assert_equal(found, due)
    assert [type(codec) for codec in found["compressors"]] == [type(codec) for codec in due["compressors"]]
    ours.to_zarr(tmp_path / "ours.zarr", zarr_format=version)
    xarray.testing.assert_equal(xarray.open_dataset(tmp_path / "ours.zarr", engine=ZarrRustBackend), ours)
    if (version, name) == (2, "texts"):
        return
    theirs.to_zarr(tmp_path / "theirs.zarr", zarr_format=version)
    assert documents(tmp_path / "ours.zarr") == documents(tmp_path / "theirs.zarr")
    array = zarr.open_array(tmp_path / "ours.zarr", path="t")
    original = zarr.open_array(path, path="t")
    assert array.compressors == original.compressors
    assert array.filters == original.filters
    assert array.serializer == original.serializer
    assert (array.chunks, array.shards) == (original.chunks, original.shards)


def test_the_table_has_all_codecs_of_zarr_python() -> None:
    known = {name for name in dir(codecs) if isinstance(made := getattr(codecs, name), type) and issubclass(made, Codec)}
    used: set[str] = set()
    for version, table in ((2, VERSION_2), (3, VERSION_3)):
        for name, (data, settings) in table.items():
            if version == 3:
                array = zarr.create_array({}, shape=data.shape, dtype=data.dtype, **({"chunks": (1, 2)} | settings))
                used |= {type(codec).__name__ for codec in (*array.compressors, *array.filters, array.serializer)}
    assert known - used - LEFT_OUT == set()


def test_open_and_to_zarr_keep_codecs_of_groups(tmp_path: Path) -> None:
    for version in (2, 3):
        codec: Any = numcodecs.LZ4(acceleration=3) if version == 2 else codecs.GzipCodec(level=2)
        made = {"t": {"compressors": (codec,), "chunks": (10, 10)}}
        data = xarray.Dataset({"t": (("y", "x"), FLOATS), "n": (("y",), np.arange(20))})
        tree = xarray.DataTree.from_dict({"/": data, "/a": data})
        tree.to_zarr(tmp_path / f"{version}.zarr", zarr_format=version, encoding={"/": made, "/a": made})
        for path in ("/", "a"):
            found = xarray.open_dataset(tmp_path / f"{version}.zarr", group=path, engine=ZarrRustBackend)
            assert found.t.encoding["compressors"] == (codec,)
            assert ("serializer" in found.t.encoding) == (version == 3)
            found.to_zarr(tmp_path / f"{version}-{path.strip('/')}.zarr", zarr_format=version)
            copy = zarr.open_array(tmp_path / f"{version}-{path.strip('/')}.zarr", path="t")
            assert copy.compressors == (codec,)
        # An append finds the encoding of the stored variables to be theirs.
        again = xarray.open_dataset(tmp_path / f"{version}.zarr", engine=ZarrRustBackend)
        again.to_zarr(tmp_path / "appended.zarr", mode="w", zarr_format=version)
        again.to_zarr(tmp_path / "appended.zarr", append_dim="y")
        assert xarray.open_dataset(tmp_path / "appended.zarr", engine=ZarrRustBackend).sizes["y"] == 40


def test_codecs_that_zarr_python_does_not_have_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.arange(6.0)
    arguments: dict[str, Any] = {"dtype": "f8", "shape": 6, "dimension_names": ["x"]}
    packed = zarr_rust.create_array(tmp_path / "a.zarr", "t", codecs='["packbits"]', **arguments | {"dtype": "bool"})
    packed[:] = values > 2
    draft = zarr_rust.create_array(
        tmp_path / "b.zarr", "t", shape=6, dtype="f8", dialect="d2022", attributes={"_ARRAY_DIMENSIONS": ["x"]}
    )
    draft[:] = values
    for name in ("a", "b"):
        found = xarray.open_dataset(tmp_path / f"{name}.zarr", engine=ZarrRustBackend)
        assert not {"compressors", "filters", "serializer"} & set(found.t.encoding), name
        assert (found.t.values == (values > 2 if name == "a" else values)).all()
        found.to_zarr(tmp_path / f"{name}-copy.zarr", zarr_format=3)
    path = stored(tmp_path / "c", 3, "gzip")
    with monkeypatch.context() as patched:
        # zarr-python is not installed.
        patched.setitem(sys.modules, "zarr", None)
        patched.setitem(sys.modules, "zarr.registry", None)
        found = xarray.open_dataset(path, engine=ZarrRustBackend)
        assert "compressors" not in found.t.encoding
        assert (found.t.values == FLOATS).all()
    assert "compressors" in xarray.open_dataset(path, engine=ZarrRustBackend).t.encoding
