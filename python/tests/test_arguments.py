"""Arguments and options that there are not: each error says what may be meant."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array
import numpy as np
import pytest
import zarr_rust
from zarr_rust import _arguments

FUNCTIONS: list[Callable[..., Any]] = [
    zarr_rust.open,
    zarr_rust.open_array,
    zarr_rust.open_async,
    zarr_rust.open_group,
    zarr_rust.create_array,
    zarr_rust.create_dataset,
    zarr_rust.create_group,
    zarr_rust.dataset,
]


def refused(call: Callable[[], Any]) -> str:
    with pytest.raises(TypeError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_misspelt_arguments_are_told(tmp_path: Path, function: Callable[..., Any]) -> None:
    url = tmp_path / "x.zarr"
    zarr_rust.create_array(url, "a", data=np.arange(3))
    for name in inspect.signature(function).parameters:
        if name in ("store", "source"):
            continue
        for typo in {name[:-1], f"{name}s", name.replace("_", "")} - set(inspect.signature(function).parameters):
            message = refused(lambda: function(url, **{typo: 1}))
            assert message.startswith(f"{function.__name__}() has no argument {typo!r}") and "did you mean" in message, message
    message = refused(lambda: function(url, storage_option={}))
    assert "did you mean 'storage_options'?" in message
    assert "expected some of" in refused(lambda: function(url, no_such_thing_at_all=1))
    assert list(zarr_rust.open_group(url)) == ["a"]


def test_misspelt_arguments_of_methods(tmp_path: Path) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr")
    assert "did you mean 'chunks'?" in refused(lambda: group.create_array("a", shape=1, dtype="i1", chunk=(1,)))  # type: ignore[call-arg]
    assert "did you mean 'overwrite'?" in refused(lambda: group.create_group("a", overwite=True))  # type: ignore[call-arg]
    assert "given where it is opened" in refused(lambda: group.create_group("a", region="x"))  # type: ignore[call-arg]
    assert "did you mean 'target_options'?" in refused(lambda: zarr_rust.convert("a", "b", target_option={}))  # type: ignore[call-arg]
    blocks = dask.array.ones(3)
    assert "did you mean 'codecs'?" in refused(lambda: zarr_rust.from_dask(blocks, tmp_path / "y.zarr", codec="zstd"))
    assert list(group) == []


@pytest.mark.parametrize("name", ["region", "anon", "key", "endpoint_url", "header.Authorization"])
def test_options_of_stores_have_an_argument_of_their_own(name: str) -> None:
    for function in FUNCTIONS:
        message = refused(lambda: function("s3://bucket/x.zarr", **{name: "x"}))
        assert "it is an option of a store, expected storage_options" in message, message
    assert "source_options or target_options" in refused(lambda: zarr_rust.convert("a", "b", **{name: "x"}))


@pytest.mark.parametrize("name", sorted(_arguments._OF_OTHERS))
def test_options_of_other_software_are_told(name: str) -> None:
    if name in _arguments.OPTIONS:
        return
    message = refused(lambda: zarr_rust.open("s3://bucket/x.zarr", storage_options={name: "x"}))
    assert repr(name) in message and _arguments._OF_OTHERS[name] in message
    # What is told is an option, or has the names of some.
    words = set(re.findall(r"[a-z_]+", _arguments._OF_OTHERS[name]))
    assert words & (_arguments.OPTIONS | {"header"})


def test_known_options_are_those_of_the_stores(tmp_path: Path) -> None:
    known: set[str] = set()
    for url in ("s3://b/x", "gs://b/x", "az://b/x", "https://h/x", str(tmp_path), "sqlite:x.sqlite"):
        with pytest.raises(ValueError) as caught:
            zarr_rust.open(url, storage_options={"no_such_option": 1})
        known.update(re.findall(r"[a-z0-9_]+", str(caught.value).split("expected")[1].removeprefix(" one of")))
    assert known - {"or", "header"} == _arguments.OPTIONS


def test_options_are_texts_numbers_and_bools(tmp_path: Path) -> None:
    array = zarr_rust.create_array(tmp_path / "x.zarr", data=np.arange(3), storage_options={"durability": "none", "locks": None})
    assert array._core.store_options == [("durability", "none")]
    assert "client_kwargs" in refused(lambda: zarr_rust.open("s3://b/x", storage_options={"client_kwargs": {}}))
    assert "found dict" in refused(lambda: zarr_rust.open("s3://b/x", storage_options={"endpoint": {}}))
    assert "found str" in refused(lambda: zarr_rust.open("s3://b/x", storage_options="anonymous"))  # type: ignore[arg-type]
    opened = asyncio.run(zarr_rust.open_async(tmp_path / "x.zarr", storage_options={"durability": "none"}))
    assert opened._core.store_options == [("durability", "none")]


def test_arguments_of_zarr_python_without_a_place_are_told(tmp_path: Path) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr")
    for name, instead in [
        ("chunk_key_encoding", "separator"),
        ("synchronizer", "no such argument"),
        ("config", "no such argument"),
        ("object_codec", "dtype"),
    ]:
        for call in (
            lambda: zarr_rust.create_array(tmp_path / "x.zarr", "a", shape=1, dtype="i1", **{name: 2}),  # type: ignore[arg-type]
            lambda: group.create_array("a", shape=1, dtype="i1", **{name: 2}),  # type: ignore[arg-type]
            lambda: zarr_rust.open_array(tmp_path / "x.zarr", **{name: 2}),  # type: ignore[arg-type]
        ):
            message = refused(call)
            assert name in message and instead in message
    assert list(group) == []


def test_arguments_of_zarr_python_have_their_names(tmp_path: Path) -> None:
    url = tmp_path / "x.zarr"
    group = zarr_rust.create_group(store=url, zarr_format=2)
    assert group.dialect == "v2" and group.create_group("g", zarr_format=2).dialect == "v2"
    with pytest.raises(ValueError, match="the group is of dialect 'v2'"):
        group.create_group("h", zarr_format=3)
    array = zarr_rust.create_array(store=url, name="a", shape=(4,), dtype="i4", zarr_format=2, compressors=None)
    assert array.path == "a" and array.dialect == "v2"
    with pytest.raises(TypeError, match="path='a' and name='b'"):
        zarr_rust.create_array(url, path="a", name="b", shape=1, dtype="i1")
    for opened in (
        zarr_rust.open(store=url, zarr_format=2),
        zarr_rust.open_group(store=url, zarr_format=2),
        zarr_rust.open_array(store=url, path="a", zarr_format=2, compressors=None, filters=None),
        zarr_rust.open_array(url, "a", mode="a", compressors=None),
        asyncio.run(zarr_rust.open_async(url, zarr_format=2)),
    ):
        assert opened.dialect == "v2"
    with pytest.raises(ValueError, match="codecs"):
        zarr_rust.open_array(url, "a", mode="a", compressors={"id": "zlib", "level": 1})
    made = zarr_rust.open_array(url, "b", mode="a", shape=4, dtype="i4", zarr_format=2, compressors={"id": "zlib", "level": 1})
    assert made.metadata["codecs"][-1]["name"].endswith("zlib")
    for call in (zarr_rust.open, zarr_rust.open_group):
        with pytest.raises(KeyError):
            call(url, zarr_format=3)
        with pytest.raises(ValueError, match="expected 2 or 3"):
            call(url, zarr_format=4)
