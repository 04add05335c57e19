"""Texts and bytes of any length, which the compiled part takes from arrays of numpy and puts there."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust
from conftest import sample
from zarr.codecs import VLenBytesCodec
from zarr.dtype import VariableLengthBytes
from zarr_rust import _values

Array = np.ndarray[Any, Any]
STRING = np.dtypes.StringDType()

#: Short ones, which numpy keeps in the element, longer ones, and those of each length of a character in UTF-8.
TEXTS = ["", "a", "0123456789abcde", "0123456789abcdef", "é€𝄞", "\0a\0b", " ", "x" * 300, "€" * 3_000]

FORMS: dict[str, Callable[[Array], Array]] = {
    "StringDType": lambda texts: texts.astype(STRING),
    "objects": lambda texts: texts,
    "subclass": lambda texts: np.array([np.str_(text) for text in texts.flat], dtype=object).reshape(texts.shape),
    "characters": lambda texts: texts.astype(str),
    "characters of the other byte order": lambda texts: texts.astype(str).astype(np.dtype(str).newbyteorder()),
}

LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "C": lambda texts: texts,
    "F": np.asfortranarray,
    "steps": lambda texts: np.repeat(np.repeat(texts, 3, axis=0), 2, axis=1)[::3, ::2],
    "backwards": lambda texts: texts[::-1, ::-1].copy()[::-1, ::-1],
    "broadcast": lambda texts: np.broadcast_to(texts[:1], texts.shape),
    "one": lambda texts: np.broadcast_to(texts[1, 1], texts.shape),
}


def texts_of(shape: tuple[int, ...], seed: int) -> Array:
    random = np.random.default_rng(seed)
    texts = sample("string", shape, random)
    some = random.integers(0, texts.size, len(TEXTS))
    texts.reshape(-1)[some] = TEXTS
    return texts


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_texts_of_every_form_and_layout_are_stored_as_they_are(form: str, layout: str) -> None:
    for seed in range(3):
        texts = LAYOUTS[layout](FORMS[form](texts_of((7, 5), seed)))
        array = zarr_rust.create_array("memory:", shape=(7, 5), chunks=(3, 2), dtype="string")
        array[:] = texts
        due = texts.astype(object)
        assert array[:].dtype.kind == "T"
        assert (array[:] == due).all()
        assert array.append(texts[2:4]) == (9, 5)
        assert (array[5:] == np.concatenate([due[5:], due[2:4]])).all()
        out = np.empty((5, 9), STRING).T
        assert (array.read(out=out) == np.concatenate([due, due[2:4]])).all()
        with zarr_rust.enable():
            peer = zarr.create_array({}, shape=(7, 5), chunks=(3, 2), dtype=str)
            peer[:] = texts
            assert (peer[:] == due).all()
            assert (peer[1:6, 1:4] == due[1:6, 1:4]).all()
            peer[2:, 0] = texts[2:, 1]
            due = due.copy()
            due[2:, 0] = due[2:, 1]
            assert (peer.oindex[[4, 1], [0, 3]] == due[[4, 1]][:, [0, 3]]).all()
        # zarr-python's own pipeline reads what ours wrote.
        assert (zarr.open_array(peer.store)[:] == due).all()


def test_single_texts_keep_their_last_characters() -> None:
    array = zarr_rust.create_array("memory:", shape=(3,), dtype="string")
    array[0] = "a\0"
    array[1:] = "b\0\0"
    assert list(array[:]) == ["a\0", "b\0\0", "b\0\0"]


@pytest.mark.parametrize("kind", ["T", "U", "O"])
def test_elements_are_written_and_read_without_objects_of_each(kind: str, tmp_path: Path) -> None:
    count = 50_000
    texts: Array = np.array([f"word {number}" for number in range(count)], dtype=STRING if kind == "T" else object)
    if kind == "U":
        texts = texts.astype(str)
    array = zarr_rust.create_array(tmp_path / "a.zarr", shape=count, chunks=10_000, dtype="string")
    with zarr_rust.enable():
        peer = zarr.create_array(tmp_path / "b.zarr", shape=count, chunks=10_000, dtype=str)
    array[:10], peer[:10] = texts[:10], texts[:10]
    tracemalloc.start()
    array[:] = texts
    written = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    read = array[:]
    # Elements of 16 bytes, whose texts are in them.
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert written < count
    assert peak < 20 * count
    assert (read == texts).all()
    texts = texts.astype(STRING)
    tracemalloc.start()
    peer[:] = texts
    written = tracemalloc.get_traced_memory()[1]
    peer_read = peer[:]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # zarr-python converts what is written to the data type of the array.
    assert written < 24 * count
    assert peak < 44 * count
    assert (peer_read == texts).all()


@pytest.mark.parametrize("kind", ["object", "characters"])
def test_texts_without_utf8_are_the_errors_of_python(kind: str) -> None:
    texts = np.array(["a", "b\ud800"], dtype=object if kind == "object" else str)
    array = zarr_rust.create_array("memory:", shape=2, dtype="string")
    with pytest.raises(UnicodeEncodeError, match="position 1: surrogates not allowed"):
        array[:] = texts
    with pytest.raises(UnicodeEncodeError):
        array.append(texts[::-1])
    assert list(array[:]) == ["", ""]


@pytest.mark.parametrize(("element", "found"), [(None, "NoneType"), (1, "int"), (0, "int"), (np.nan, "float"), (b"a", "bytes")])
def test_objects_that_are_no_texts_are_refused(element: Any, found: str) -> None:
    array = zarr_rust.create_array("memory:", shape=3, dtype="string")
    with pytest.raises(TypeError, match=f"found an element of type {found}, expected str"):
        array[:] = np.array(["a", element, "b"], dtype=object)
    with pytest.raises(TypeError, match="expected texts"):
        array[:] = np.arange(3)


@pytest.mark.parametrize("missing", [None, np.nan, "none"])
def test_missing_texts_are_what_their_data_type_says(missing: Any) -> None:
    texts = np.array(["a", "", missing, "b" * 99, missing], dtype=np.dtypes.StringDType(na_object=missing))
    array = zarr_rust.create_array("memory:", shape=5, dtype="string")
    if isinstance(missing, str):
        array[:] = texts
        assert list(array[:]) == ["a", "", "none", "b" * 99, "none"]
    else:
        with pytest.raises(TypeError, match=f"found an element of type {type(missing).__name__}, expected str"):
            array[:] = texts
    results = []
    for context in (nullcontext, zarr_rust.enable):
        with context():
            # Of a part of a chunk zarr-python makes another text of a missing one, the name of its object.
            peer = zarr.create_array({}, shape=5, chunks=1, dtype=str)
            try:
                peer[:] = texts
                results.append(list(peer[:]))
            except (TypeError, ValueError) as error:
                results.append([type(error)])
    assert results[0] == results[1]


def test_bytes_of_any_length() -> None:
    values = np.empty((2, 3), object)
    values.flat[:] = [b"", b"a\0", bytearray(b"bc"), memoryview(b"defg")[1:3], b"x" * 70_000, np.bytes_(b"y")]
    due = [bytes(value) for value in values.flat]
    array = zarr_rust.create_array("memory:", shape=(2, 3), chunks=(1, 2), dtype="bytes")
    array[:] = values
    assert list(array[:].flat) == due
    assert all(type(value) is bytes for value in array[:].flat)
    array[:, ::-1] = values
    assert list(array[:, ::-1].flat) == due
    array[:] = b"z"
    assert list(array[:].flat) == [b"z"] * 6
    with pytest.raises(TypeError, match="found an element of type str, expected bytes"):
        array[0] = np.array([b"a", "b", b"c"], dtype=object)
    with zarr_rust.enable():
        peer = zarr.create_array({}, shape=(2, 3), chunks=(1, 2), dtype=VariableLengthBytes(), serializer=VLenBytesCodec())
        peer[:] = values
        assert list(peer[:].flat) == due
        # As zarr-python has elements that were never set.
        peer[0] = np.array([None, 0, b"a"], dtype=object)
        assert list(peer[0]) == [b"", b"", b"a"]
    assert list(zarr.open_array(peer.store)[1]) == due[3:]


def test_empty_selections_and_arrays_without_dimensions() -> None:
    array = zarr_rust.create_array("memory:", shape=(4, 0), dtype="string")
    array[:] = np.empty((4, 0), STRING)
    assert array[:].shape == (4, 0)
    assert array[1:1].shape == (0, 0)
    one = zarr_rust.create_array("memory:", shape=(), dtype="string")
    one[()] = np.array("é", STRING)
    assert one[()] == "é"
    with pytest.raises(ValueError, match="broadcast"):
        array[:] = np.array(["a", "b", "c"])


def test_more_elements_than_memory_has_are_an_error() -> None:
    array = zarr_rust.create_array("memory:", shape=(1 << 50, 2), chunks=(1 << 20, 2), dtype="string")
    for value in ("a", np.array(["a", "b"])):
        with pytest.raises(MemoryError, match="2251799813685248 elements"):
            array[:] = value


def test_texts_of_data_sets(tmp_path: Path) -> None:
    texts = texts_of((3, 4), 7)
    for number, form in enumerate(FORMS):
        if form.startswith("characters"):
            continue
        data = FORMS[form](texts)
        made = zarr_rust.create_dataset(tmp_path / f"{number}.zarr", variables={"name": (("y", "x"), data)})
        assert (made["name"].values == texts).all()
        assert (made["name"][1, ::-1] == texts[1, ::-1]).all()
    with pytest.raises(TypeError, match="found an element of type int, expected str"):
        zarr_rust.create_dataset("memory:", variables={"name": ("x", np.array(["a", 1], dtype=object))})
    group = zarr_rust.create_group("memory:")
    group.create_array("name", data=["a", "", "c"], dtype="string", dimension_names=["x"], attributes={"_FillValue": ""})
    assert list(zarr_rust.dataset(group)["name"].values) == ["a", None, "c"]


def test_texts_are_objects_where_numpy_has_no_type_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_values, "STRING", np.dtype(object))
    array = zarr_rust.create_array("memory:", data=TEXTS, dtype="string")
    found = array[::-1]
    assert found.dtype == object
    assert list(found) == TEXTS[::-1]
    assert all(type(text) is str for text in found)


def test_memory_that_texts_cannot_be_read_into(tmp_path: Path) -> None:
    array = zarr_rust.create_array("memory:", data=TEXTS, dtype="string")
    for out in (np.empty(len(TEXTS), object), np.empty(len(TEXTS), "U4")):
        with pytest.raises(TypeError):
            array.read(out=out)
    locked = np.empty(len(TEXTS), STRING)
    locked.flags.writeable = False
    with pytest.raises(ValueError):
        array.read(out=locked)
