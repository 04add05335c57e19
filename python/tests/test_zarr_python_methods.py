"""Functions, methods and attributes of zarr-python that are here too, compared with zarr-python's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
import zarr_rust
from zarr.codecs import BloscCodec, BytesCodec, GzipCodec, TransposeCodec

ARRAYS: list[dict[str, Any]] = [
    {"chunks": (2, 3)},
    {"chunks": (2, 3), "shards": (4, 6)},
    {"chunks": (2, 3), "compressors": [BloscCodec(), GzipCodec()], "filters": [TransposeCodec(order=(1, 0))]},
    {"chunks": (4, 3), "compressors": None, "serializer": BytesCodec(endian="big")},
    {"chunks": (4, 3), "shards": (8, 3), "compressors": [GzipCodec()], "filters": [TransposeCodec(order=(1, 0))]},
    {"chunks": (2, 3), "zarr_format": 2, "order": "F", "compressors": numcodecs.Blosc(), "filters": [numcodecs.Delta(dtype="<i4")]},
    {"chunks": (2, 3), "zarr_format": 2, "compressors": None},
    {"chunks": (20, 20), "zarr_format": 2, "compressors": numcodecs.Zlib(3)},
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", ARRAYS, ids=str)
def test_attributes_of_arrays_are_those_of_zarr_python(tmp_path: Path, call: dict[str, Any]) -> None:
    theirs = zarr.create_array(tmp_path / "x.zarr", shape=(10, 7), dtype="i4", **call)
    theirs[:5, :4] = 1
    ours = zarr_rust.open_array(tmp_path / "x.zarr")
    names = ["compressors", "filters", "serializer", "cdata_shape", "nchunks", "nchunks_initialized", "read_chunk_sizes", "write_chunk_sizes"]
    names += ["order", "shape", "chunks", "shards", "fill_value", "size", "nbytes", "ndim", "path", "name", "basename", "read_only"]
    if theirs.metadata.zarr_format == 2:
        names.append("compressor")
    else:
        with pytest.raises(TypeError, match="compressor"):
            ours.compressor  # noqa: B018
    theirs = zarr.open_array(tmp_path / "x.zarr", mode="r")
    found = {name: getattr(ours, name) for name in names}
    due = {name: getattr(theirs, name) for name in names}
    if due["order"] == "C":
        # Where it is not stored, it says how zarr-python's results lie in memory.
        found["order"] = "C"
    assert found == due


def test_codecs_are_members_of_documents_without_zarr_python(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for module in ("zarr.registry", "numcodecs.registry"):
        monkeypatch.setitem(sys.modules, module, None)
    array = zarr_rust.create_array("memory:", shape=4, dtype="i4", codecs="bytes,gzip(2)")
    assert array.compressors == ({"name": "gzip", "configuration": {"level": 2}},) and array.filters == ()
    assert array.serializer == {"name": "bytes", "configuration": {"endian": "little"}}
    old = zarr_rust.create_array("memory:", shape=4, dtype="i4", compressors={"id": "zlib", "level": 2}, zarr_format=2)
    assert old.compressor == {"id": "zlib", "level": 2} and old.serializer is None
    # One that zarr-python does not have.
    monkeypatch.undo()
    rare = zarr_rust.create_array("memory:", shape=4, dtype="i4", codecs="bytes,base64")
    assert [codec["name"] for codec in rare.compressors] == [rare.metadata["codecs"][-1]["name"]]


SELECTIONS: list[tuple[str, Any]] = [
    ("basic", (slice(1, 7, 2), 3)),
    ("basic", ...),
    ("basic", (3, 4)),
    ("orthogonal", ([0, 5, 2], slice(1, 5))),
    ("orthogonal", (np.arange(8) % 3 == 0, [1, 1, 4])),
    ("coordinate", ([0, 5, 2], [1, 1, 4])),
    ("coordinate", ([[0, 5], [2, 7]], [[1, 1], [4, 5]])),
    ("mask", np.arange(48).reshape(8, 6) % 5 == 0),
    ("block", (1, slice(0, 2))),
]


@pytest.mark.parametrize(("kind", "selection"), SELECTIONS, ids=str)
def test_selections_by_name(kind: str, selection: Any) -> None:
    data = np.arange(48, dtype="i4").reshape(8, 6)
    ours, theirs = zarr_rust.array(data, chunks=(3, 2)), zarr.array(data, chunks=(3, 2))
    due = np.asarray(getattr(theirs, f"get_{kind}_selection")(selection))
    get = getattr(ours, f"get_{kind}_selection")
    assert np.array_equal(get(selection), due) and np.shape(get(selection)) == due.shape
    if due.ndim:
        for out in (np.empty(due.shape, "i4"), zarr.core.buffer.cpu.NDBuffer.from_numpy_array(np.empty(due.shape, "i4"))):
            get(selection, out=out)
            assert np.array_equal(out if isinstance(out, np.ndarray) else out.as_numpy_array(), due)
        with pytest.raises((TypeError, ValueError)):
            get(selection, out=np.empty((*due.shape, 2), "i4"))
    for array in (ours, theirs):
        getattr(array, f"set_{kind}_selection")(selection, -1)
    assert np.array_equal(ours[:], theirs[:]) and (ours[:] == -1).sum() == len(set(np.ravel(due)))


def test_selections_of_fields() -> None:
    data = np.array([(1, 2.5, 3), (4, 5.5, 6)], [("x", "i4"), ("y", "f8"), ("z", "u1")])
    ours = zarr_rust.array(data, chunks=1, dialect="v2")
    assert ours.get_basic_selection(slice(0, 2), fields="y").tolist() == [2.5, 5.5]
    assert ours.get_coordinate_selection([1], fields=["x", "z"]).tolist() == [(4, 6)]
    assert ours.get_orthogonal_selection([1], fields=["x"]).dtype.names == ("x",)
    out = np.empty(2, "f8")
    assert ours.get_mask_selection([True, True], fields="y", out=out) is out and out.tolist() == [2.5, 5.5]
    ours.set_basic_selection(slice(0, 1), 9, fields="z")
    ours.set_block_selection(1, 7, fields=["x"])
    assert ours[:].tolist() == [(1, 2.5, 9), (7, 5.5, 6)]
    for fields in ("w", ["x", "w"]):
        with pytest.raises(IndexError, match="no field 'w'"):
            ours.get_basic_selection(fields=fields)


def test_selections_of_another_kind_are_refused() -> None:
    array = zarr_rust.zeros((3, 4))
    for call in (
        lambda: array.get_basic_selection([0, 1]),
        lambda: array.get_coordinate_selection(np.ones((3, 4), bool)),
        lambda: array.get_coordinate_selection([0, 1]),
        lambda: array.get_mask_selection([0, 1]),
        lambda: array.get_mask_selection((slice(None), [True] * 4)),
        lambda: array.set_block_selection([0], 1),
    ):
        with pytest.raises(IndexError):
            call()


def test_new_arrays_are_those_of_zarr_python() -> None:
    for ours, theirs in [
        (zarr_rust.zeros((3, 2)), zarr.zeros((3, 2))),
        (zarr_rust.ones((3, 2), dtype="i2", chunks=(1, 2)), zarr.ones((3, 2), dtype="i2", chunks=(1, 2))),
        (zarr_rust.full(3, 7, dtype="u1"), zarr.full(3, 7, dtype="u1")),
        (zarr_rust.array([1, 2]), zarr.array([1, 2])),
        (zarr_rust.create(3, dtype="?", fill_value=True), zarr.create(3, dtype="?", fill_value=True)),
        (zarr_rust.create(2, zarr_format=2, compressor=None), zarr.create(2, zarr_format=2, compressor=None)),
    ]:
        assert ours.dtype == theirs.dtype and np.array_equal(ours[...], theirs[...]) and ours.shape == theirs.shape
    assert zarr_rust.empty((2, 2)).shape == (2, 2)
    with pytest.raises(TypeError, match="compressor and compressors"):
        zarr_rust.create(2, compressor=None, compressors=None)


@pytest.mark.parametrize("call", ARRAYS, ids=str)
def test_arrays_like_others(tmp_path: Path, call: dict[str, Any]) -> None:
    a = zarr_rust.create_array(tmp_path / "a.zarr", shape=(10, 7), dtype="i4", fill_value=5, attributes={"k": 1}, **call)
    a[2:, 1:] = np.arange(48).reshape(8, 6)
    group = zarr_rust.create_group("memory:", dialect=a.dialect)
    made = [
        (zarr_rust.zeros_like(a), 0),
        (zarr_rust.ones_like(a), 1),
        (zarr_rust.empty_like(a), 5),
        (zarr_rust.full_like(a, 9), 9),
        (group.zeros_like(name="z", data=a), 0),
        (group.ones_like(name="o", data=a), 1),
        (group.empty_like(name="e", data=a), 5),
        (group.full_like(name="f", data=a, fill_value=8), 8),
        (zarr_rust.open_like(a, tmp_path / "o.zarr"), 5),
        (zarr_rust.open_like(a, tmp_path / "o.zarr"), 5),
    ]
    for like, fill in made:
        assert (like.chunks, like.shards, like.dtype, like.dialect) == (a.chunks, a.shards, a.dtype, a.dialect)
        assert like.metadata["codecs"] == a.metadata["codecs"] and (like[:] == fill).all()
    copied = zarr_rust.from_array(tmp_path / "c.zarr", data=a, name="x")
    assert np.array_equal(copied[:], a[:]) and dict(copied.attrs) == {"k": 1} and copied.metadata == a.metadata
    other = zarr_rust.from_array("memory:", data=a, chunks=(5, 7), shards=None, attributes={}, write_data=False)
    assert (other.chunks, other.shards, dict(other.attrs)) == ((5, 7), None, {}) and (other[:] == 5).all()
    kept = [codec for codec in a.compressors if codec]
    assert len(other.compressors) == len(kept)
    for dialect in ("v2", "v3"):
        there = zarr_rust.from_array("memory:", data=a, dialect=dialect)
        assert there.dialect == dialect and there.chunks == a.chunks and np.array_equal(there[:], a[:])


def test_arrays_of_other_libraries_are_copied(tmp_path: Path) -> None:
    data = np.arange(42).reshape(6, 7)
    theirs = zarr.create_array({}, data=data, chunks=(2, 3), shards=(4, 6))
    for source in (data, theirs):
        copied = zarr_rust.from_array(tmp_path / "x.zarr", data=source, overwrite=True)
        assert np.array_equal(copied[:], data)
    assert (copied.chunks, copied.shards) == ((2, 3), (4, 6))
    gzipped = zarr_rust.from_array("memory:", data=theirs, chunks=(6, 7), shards=None, compressors=GzipCodec())
    assert gzipped.chunks == (6, 7) and gzipped.compressors == (GzipCodec(),)


def test_whole_stores_are_saved_and_loaded(tmp_path: Path) -> None:
    zarr_rust.save(tmp_path / "a.zarr", np.arange(3))
    zarr_rust.save(tmp_path / "a.zarr", np.arange(4))
    assert zarr_rust.load(tmp_path / "a.zarr").tolist() == zarr.load(tmp_path / "a.zarr").tolist() == [0, 1, 2, 3]
    zarr_rust.save(tmp_path / "g.zarr", np.arange(2), np.arange(3), b=[1.5], zarr_format=2)
    zarr_rust.save_group(tmp_path / "g.zarr", c=[1], path="deep", zarr_format=2)
    loaded = zarr_rust.load(tmp_path / "g.zarr")
    assert {name: data.tolist() for name, data in loaded.items()} == {"arr_0": [0, 1], "arr_1": [0, 1, 2], "b": [1.5]}
    assert zarr_rust.load(tmp_path / "g.zarr", "deep/c").tolist() == [1] and zarr_rust.open(tmp_path / "g.zarr").dialect == "v2"
    zarr_rust.save_array(tmp_path / "s.zarr", np.arange(6), path="x", chunks=2)
    assert zarr_rust.open_array(tmp_path / "s.zarr", "x").chunks == (2,)
    with pytest.raises(TypeError):
        zarr_rust.save(tmp_path / "n.zarr")
    with pytest.raises(TypeError, match="twice"):
        zarr_rust.save_group(tmp_path / "n.zarr", [1], arr_0=[2])


def test_groups_have_the_methods_of_zarr_python(tmp_path: Path) -> None:
    url = tmp_path / "x.zarr"
    root = zarr_rust.group(url, attributes={"a": 1})
    assert root == zarr_rust.group(url) and zarr_rust.group().name == "/"
    root["x/y"] = np.arange(3)
    root["x/y"] = np.arange(4)
    assert root["x/y"][:].tolist() == [0, 1, 2, 3]
    group, deep = root.require_groups("g", "g/h/i")
    assert root.require_group("g") == group and deep.path == "g/h/i"
    with pytest.raises(TypeError, match="expected a group"):
        root.require_group("x/y")
    array = root.require_array("q", shape=3, dtype="i4", chunks=2)
    assert root.require_array("q", shape=(3,), dtype="i8") == array and array.chunks == (2,)
    for wrong in ({"shape": 4}, {"shape": 3, "dtype": "i2"}, {"shape": 3, "dtype": "i8", "exact": True}):
        with pytest.raises(TypeError):
            root.require_array("q", **wrong)
    with pytest.raises(TypeError, match="expected an array"):
        root.require_array("g", shape=3)
    theirs = zarr.open_group(url, mode="r")
    for depth in (0, 1, 2, None):
        due = {path: type(node).__name__ for path, node in theirs.members(max_depth=depth)}
        assert {path: type(node).__name__ for path, node in root.members(depth)} == due
        assert root.nmembers(depth) == theirs.nmembers(max_depth=depth)
    assert {path for path, _ in root["g"].members(None)} == {"h", "h/i"}
    with pytest.raises(ValueError, match="max_depth"):
        root.members(-1)
    assert [node.name for node in root.array_values()] == ["/q"] and {node.name for node in root.group_values()} == {"/g", "/x"}
    assert root.get_array("x/y").shape == (4,) and root.get_group("g/h").name == "/g/h"
    for call in (lambda: root.get_array("g"), lambda: root.get_group("q")):
        with pytest.raises(TypeError):
            call()
    root.move("x/y", "g/moved")
    assert "x/y" not in root and root["g/moved"][:].tolist() == [0, 1, 2, 3]
    with pytest.raises(KeyError):
        root.move("none", "other")
    assert root.update_attributes({"b": 2}) is root and root.metadata["attributes"] == {"a": 1, "b": 2}
    assert array.update_attributes({"c": 3}).attrs["c"] == 3
    assert (root.zeros(name="n0", shape=2)[:] == 0).all() and (root.ones(name="n1", shape=2, dtype="i1")[:] == 1).all()
    assert root.empty(name="n2", shape=2).dtype == np.float64 and root.full(name="n3", shape=2, fill_value=5)[1] == 5
    assert root.create("n4", shape=2, dtype="i1").path == "n4"
    assert root.store_path.endswith("x.zarr") and array.store_path.endswith("x.zarr/q")
    assert str(root.tree(level=1)) == "/\n" + "\n".join(
        f"{'└──' if name == last else '├──'} {line}" for name, line, last in [
            *((name, line, "x") for name, line in [
                ("g", "g"), ("n0", "n0 (2,) float64"), ("n1", "n1 (2,) int8"), ("n2", "n2 (2,) float64"), ("n3", "n3 (2,) float64"),
                ("n4", "n4 (2,) int8"), ("q", "q (3,) int32"), ("x", "x"),
            ])
        ]
    )  # fmt: skip
    assert zarr_rust.tree(root, level=1) == root.tree(level=1)
    assert zarr_rust.Group.open(url) == root and zarr_rust.Array.open(url / "q") == array
    assert zarr_rust.Group.from_store(tmp_path / "y.zarr", zarr_format=2).dialect == "v2"
    read = zarr_rust.open_group(url)
    for change in (lambda: read.move("q", "r"), lambda: read.__setitem__("r", [1]), lambda: read.require_group("r")):
        with pytest.raises(PermissionError):
            change()


def test_versions_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    zarr_rust.print_debug_info()
    assert f"zarr_rust: {zarr_rust.__version__}" in capsys.readouterr().out
