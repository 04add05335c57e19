"""What arrays and groups do, case by case."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust
from zarr_rust import errors


def filled(folder: Path, **settings: Any) -> tuple[zarr_rust.Array, np.ndarray[Any, Any]]:
    data = np.arange(7 * 10, dtype="i4").reshape(7, 10)
    array = zarr_rust.create_array(folder / "x.zarr", shape=(7, 10), dtype="i4", chunks=(3, 4), **settings)
    array[:] = data
    return array, data


def test_facts(tmp_path: Path) -> None:
    array = zarr_rust.create_array(
        tmp_path / "x.zarr", "g/a", shape=(20, 30), dtype="f4", chunks=(5, 5), shards=(10, 15),
        dimension_names=["y", "x"], fill_value=float("inf"), attributes={"units": "K", "n": np.int64(3)},
    )
    assert (array.shape, array.ndim, array.size, array.nbytes) == ((20, 30), 2, 600, 2400)
    assert (array.chunks, array.shards, array.dims) == ((5, 5), (10, 15), ("y", "x"))
    assert (array.path, array.name, array.basename, array.dialect) == ("g/a", "/g/a", "a", "v3")
    assert array.dtype == np.dtype("f4") and array.fill_value == np.inf and len(array) == 20
    assert dict(array.attrs) == {"units": "K", "n": 3}
    assert "Zarr format" in array.info and "float32" in array.info and repr(array.info) == str(array.info)
    assert array.metadata["data_type"] == "float32"
    assert repr(array).startswith("<Array ") and "/g/a shape=(20, 30) dtype=float32" in repr(array)
    theirs = zarr.open_array(tmp_path / "x.zarr", path="g/a", mode="r")
    assert (theirs.chunks, theirs.shards, theirs.fill_value) == (array.chunks, array.shards, array.fill_value)
    assert np.isinf(array[...]).all() and np.asarray(array, dtype="f8").dtype == np.dtype("f8")


def test_scalars_and_empty_results(tmp_path: Path) -> None:
    array, data = filled(tmp_path)
    assert array[3, -2] == data[3, -2] and isinstance(array[3, 4], np.int32)
    assert array[5:2].shape == (0, 10) and array[..., 10:].shape == (7, 0)
    assert array[10**30 :].shape == (0, 10) and (array[: 10**30] == data).all()
    assert array.vindex[2, 3].tolist() == [23]
    zero = zarr_rust.create_array("memory:", shape=(), dtype="i2", fill_value=5)
    assert zero[()] == 5 and zero[...] == 5
    zero[()] = 9
    assert zero[()] == 9
    with pytest.raises(TypeError):
        len(zero)


@pytest.mark.parametrize(
    ("selection", "error"),
    [
        ((0, 0, 0), IndexError),
        (7, IndexError),
        ((0, -11), IndexError),
        (10**30, IndexError),
        (slice(None, None, 0), ValueError),
        (None, IndexError),
        (1.5, IndexError),
        ([0.5], IndexError),
        ([7], IndexError),
        ([True] * 6, IndexError),
        ((slice(None), [[0, 1]]), IndexError),
        ((Ellipsis, Ellipsis), IndexError),
        ("field", IndexError),
        (np.array([2**63], dtype="u8"), IndexError),
    ],
)
def test_refused_selections(tmp_path: Path, selection: Any, error: type[Exception]) -> None:
    array, _ = filled(tmp_path)
    with pytest.raises(error) as caught:
        array[selection]
    assert str(caught.value)


def test_refused_indexers(tmp_path: Path) -> None:
    array, _ = filled(tmp_path)
    for indexer, selection in [
        (array.vindex, (slice(2), [1])),
        (array.vindex, ([0, 1], [0, 1, 2])),
        (array.vindex, np.ones((7, 9), bool)),
        (array.vindex, [1]),
        (array.blocks, 3),
        (array.blocks, slice(0, 2, 2)),
        (array.blocks, [0]),
    ]:
        with pytest.raises(IndexError):
            indexer[selection]


def test_index_arrays_of_any_memory(tmp_path: Path) -> None:
    array, data = filled(tmp_path)
    raw = np.zeros(3 * 8 + 1, "u1")
    unaligned = raw[1:].view("i8")
    unaligned[:] = [5, 0, -1]
    assert not unaligned.flags.aligned
    swapped = np.array([5, 0, -1], ">i8")
    for positions in (unaligned, swapped, unaligned[::-1], np.array([5, 0, -1], "i2")[::-1]):
        assert (array[positions] == data[positions]).all()
        assert (array.oindex[positions, positions] == data[np.ix_(positions, positions)]).all()
        assert (array.vindex[positions, positions] == data[positions, positions]).all()
        assert (array.vindex[positions, 2] == data[positions, 2]).all()
    # True is any byte but 0.
    truths = np.array([0, 2, 1, 0, 255, 0, 4], "u1")
    for mask in (truths.view(bool), np.stack([truths, truths]).T[:, 1].view(bool)):
        assert (array[mask] == data[truths != 0]).all() and (array.oindex[mask, [1, 2]] == data[truths != 0, 1:3]).all()
    whole = (np.arange(70, dtype="u1").reshape(7, 10) % 3 * 7).view(bool)
    due = data[np.arange(70).reshape(7, 10) % 3 != 0]
    assert (array[whole] == due).all() and (array.vindex[whole] == due).all()
    array.vindex[whole] = 0
    assert (array[:] == np.where(np.arange(70).reshape(7, 10) % 3 != 0, 0, data)).all()


def test_writes_broadcast_and_convert(tmp_path: Path) -> None:
    array, data = filled(tmp_path)
    for selection, value in [
        ((slice(1, 3), slice(None)), 7),
        ((slice(None), 2), np.arange(7)),
        ((slice(2, 4), slice(1, 4)), [[1], [2]]),
        ((0, slice(0, 3)), np.array([[4.9, 5.1, 6.0]])),
        ((slice(None, None, -2), slice(None)), np.arange(10, dtype="u1")),
    ]:
        array[selection] = value
        data[selection] = value
        assert (array[:] == data).all()
    with pytest.raises(ValueError):
        array[0, :3] = [1, 2]
    with pytest.raises(ValueError):
        array[0] = "text"
    assert (array[:] == data).all()
    array.blocks[2, 0] = -1
    data[6:, :4] = -1
    array.oindex[[0, 5], [True] + [False] * 9] = 50
    data[np.ix_([0, 5], [0])] = 50
    array.vindex[[1, 1], [2, 3]] = [60, 61]
    data[[1, 1], [2, 3]] = [60, 61]
    assert (array[:] == data).all()


def test_bytes_that_are_no_bools_are_refused(tmp_path: Path) -> None:
    array = zarr_rust.create_array(tmp_path / "x.zarr", shape=(3,), dtype="bool", codecs="bytes")
    with pytest.raises(ValueError, match="0x02"):
        array[:] = np.array([0, 2, 1], dtype="u1").view(bool)
    array[:] = np.array([0, 9, 1, 9, 1], dtype="u1").view(bool)[::2]
    assert array[:].tolist() == [False, True, True]


def test_out_of_any_strides(tmp_path: Path) -> None:
    array, data = filled(tmp_path)
    memory = np.zeros((20, 30), dtype="i4")
    for view in (memory[:7, :10], memory[::2, ::3][:7, :10], memory[10:3:-1, 29:19:-1], memory.T[3:10, 2:12]):
        memory[:] = -1
        assert array.read(out=view) is view
        assert (view == data).all() and (memory == -1).sum() == 600 - 70
    row = np.zeros(10, dtype="i4")
    array.read((3, slice(None, None, -1)), out=row)
    assert (row == data[3, ::-1]).all()
    points = np.zeros((2, 2), dtype="i4")
    array.read(([[0, 1], [2, 3]], [[4, 5], [6, 7]]), out=points)
    assert points.tolist() == [[4, 15], [26, 37]]


def test_refused_memory(tmp_path: Path) -> None:
    array, _ = filled(tmp_path)
    fixed = np.zeros((7, 10), dtype="i4")
    fixed.flags.writeable = False
    upon = np.lib.stride_tricks.as_strided(np.zeros(20, dtype="i4"), (7, 10), (4, 4))
    same = np.zeros((7, 10), dtype="i4")
    for out, error in [
        (fixed, ValueError),
        (upon, ValueError),
        (np.zeros((7, 10), dtype="i8"), TypeError),
        (np.zeros((7, 10), dtype=">i4"), TypeError),
        (np.zeros((7, 10), dtype=object), TypeError),
        (np.zeros((7, 9), dtype="i4"), ValueError),
        (np.zeros((7,), dtype="i4"), ValueError),
        ([[0] * 10] * 7, TypeError),
        (b"bytes", TypeError),
    ]:
        with pytest.raises(error):
            array.read(out=out)  # type: ignore[arg-type]
    halves = np.zeros((7, 20), dtype="i4")
    for outputs in ([same, same], [halves[:, :10], halves[:, 10:]]):
        with pytest.raises(ValueError, match="between each other's, expected arrays whose memory is apart"):
            array.read_many([Ellipsis, Ellipsis], out=outputs)
    assert (halves == 0).all()
    with pytest.raises(ValueError):
        array.read_many([Ellipsis], out=[])
    assert (fixed == 0).all()


def test_many_regions(tmp_path: Path) -> None:
    array, data = filled(tmp_path)
    selections = [(slice(0, 3), slice(1, 9)), (4,), (Ellipsis, slice(None, None, -3)), (6, 9)]
    for found, selection in zip(array.read_many(selections), selections):
        assert (found == data[selection]).all()
    batch = np.zeros((3, 2, 2), dtype="i4")
    array.read_many([(slice(i, i + 2), slice(i, i + 2)) for i in range(3)], out=list(batch))
    assert batch.tolist() == [data[i : i + 2, i : i + 2].tolist() for i in range(3)]
    with pytest.raises(IndexError):
        array.read_many([[0, 1]])


def test_fields(tmp_path: Path) -> None:
    dtype = np.dtype([("a", "i4"), ("b", "f8", (2,)), ("c", [("d", "S3"), ("e", "?")])], align=True)
    data = np.zeros((4, 3), dtype)
    data["a"] = np.arange(12).reshape(4, 3)
    data["b"] = np.arange(24).reshape(4, 3, 2)
    data["c"]["d"] = b"xyz"
    array = zarr_rust.create_array(tmp_path / "x.zarr", shape=(4, 3), dtype=dtype, chunks=(2, 2), dialect="v2")
    array[:] = data
    assert array.dtype.names == ("a", "b", "c") and array.dtype.itemsize == 24
    assert (array["a"] == data["a"]).all() and array["b"].shape == (4, 3, 2)
    assert (array["b", 1:3, ::-1] == data["b"][1:3, ::-1]).all()
    assert (array.oindex["a", [3, 1], :] == data["a"][[3, 1]]).all()
    assert array.vindex["a", [0, 1], [2, 0]].tolist() == [2, 3]
    assert array["a", 1, 1] == 4
    two = array[["a", "b"]]
    assert two.dtype.names == ("a", "b") and two.dtype.itemsize == 20 and (two["b"] == data["b"]).all()
    assert array[1, 1]["a"] == 4 and array[0].dtype == array.dtype
    with pytest.raises((IndexError, ValueError), match="'z'|\"z\""):
        array["z"]
    with pytest.raises(IndexError, match="'z'"):
        array[["a", "z"]]
    array["b", 1] = 5
    assert (array["b", 1] == 5).all() and (array["a"] == data["a"]).all()


@pytest.mark.parametrize("dialect", ["v2", "v3"])
def test_elements_of_variable_length(tmp_path: Path, dialect: str) -> None:
    texts = np.array([["", "a\0b"], ["é€𝄞", "x" * 1000]], dtype=object)
    array = zarr_rust.create_array(tmp_path / "s.zarr", shape=(2, 2), dtype="string", chunks=(1, 2), dialect=dialect)
    array[:] = texts
    assert array.dtype == np.asarray(zarr.open_array(tmp_path / "s.zarr", mode="r")[...]).dtype
    assert array[:].astype(object).tolist() == texts.tolist() and array[1, 0] == "é€𝄞" and array.fill_value == ""
    array[0] = "one"
    array.append([["two", "three"]])
    assert array[[0, 2]].astype(object).tolist() == [["one", "one"], ["two", "three"]]
    out = np.zeros((3, 2), array.dtype)
    assert array.read(out=out).astype(object).tolist() == array[:].astype(object).tolist()
    with pytest.raises(TypeError):
        array[0] = 5
    with pytest.raises(ValueError):
        array[0, 0] = "\ud800"

    data = zarr_rust.create_array(tmp_path / "b.zarr", shape=(3,), dtype="bytes", dialect=dialect)
    data[:] = [b"", b"a\0", b"\xff" * 9]
    assert data[:].tolist() == [b"", b"a\0", b"\xff" * 9] and data.dtype == object
    data[1] = b"one"
    assert data[::-1].tolist() == [b"\xff" * 9, b"one", b""]
    with pytest.raises(TypeError):
        data[0] = "text"


def test_new_arrays(tmp_path: Path) -> None:
    url = tmp_path / "x.zarr"
    for name, dtype, fill in [
        ("a", "M8[D]", np.datetime64("2020-02-28")),
        ("b", "c16", 1 + 2j),
        ("c", "S3", b"ab"),
        ("d", "U3", "é"),
        ("e", "V2", b"ab"),
        ("f", [("x", "i2"), ("y", ">f4")], (1, 2.5)),
        ("g", "bool", True),
        ("h", "f4", np.nan),
        ("i", "string", "none"),
        ("j", "bytes", b"\0"),
        ("k", "u8", 2**64 - 1),
    ]:
        array = zarr_rust.create_array(url, name, shape=3, dtype=dtype, fill_value=fill)
        opened = zarr_rust.open_array(url, name)
        due = fill if isinstance(fill, (str, bytes)) and dtype in ("string", "bytes") else np.array(fill, array.dtype)[()]
        assert opened.dtype == array.dtype and repr(opened.fill_value) == repr(due), name
        assert repr(opened[0]) == repr(due) and opened.shape == (3,)
    assert zarr_rust.create_array(url, "text", shape=1, dtype=str).dtype == opened_dtype("string")
    with pytest.raises(FileExistsError):
        zarr_rust.create_array(url, "a", shape=1, dtype="i1")
    assert zarr_rust.create_array(url, "a", shape=1, dtype="i1", overwrite=True).dtype == np.int8
    for settings, error in [
        ({"dtype": object}, TypeError),
        ({"dtype": "no-such-type"}, ValueError),
        ({"dtype": "i4", "shape": (-1,)}, ValueError),
        ({"dtype": "i4", "codecs": "no_such_codec"}, ValueError),
        ({"dtype": "i4", "chunks": (1, 1)}, ValueError),
        ({"dtype": "i4", "shards": 4}, ValueError),
        ({"dtype": "i4", "dialect": "v9"}, ValueError),
        ({"dtype": "i4", "fill_value": "text"}, ValueError),
        ({"dtype": "i4", "storage_options": {"no_such_option": 1}}, ValueError),
        ({"dtype": "i4", "attributes": {"x": object()}}, TypeError),
    ]:
        with pytest.raises(error):
            zarr_rust.create_array(url, "z", **({"shape": 3} | settings))
    assert "z" not in zarr_rust.open_group(url)


def test_separators(tmp_path: Path) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr")
    group.create_array("a", shape=(2, 2), dtype="i1", separator=".")[:] = 1
    assert (tmp_path / "x.zarr" / "a" / "c.0.0").is_file()
    zarr_rust.create_array(tmp_path / "y.zarr", shape=(2, 2), dtype="i1", dialect="v2", separator="/")[:] = 1
    assert (tmp_path / "y.zarr" / "0" / "0").is_file()
    with pytest.raises(ValueError, match="separator"):
        group.create_array("b", shape=1, dtype="i1", separator="-")


def opened_dtype(name: str) -> np.dtype[Any]:
    return zarr_rust.create_array("memory:", shape=1, dtype=name).dtype


def test_codecs(tmp_path: Path) -> None:
    data = np.arange(1000, dtype="i4")
    for codecs in ("zstd(3)", "delta,gzip", [{"name": "bytes", "configuration": {"endian": "big"}}], {"name": "zstd"}, "bytes", "blosc"):
        array = zarr_rust.create_array(tmp_path / "x.zarr", shape=1000, dtype="i4", codecs=codecs, overwrite=True)
        array[:] = data
        assert (zarr_rust.open_array(tmp_path / "x.zarr")[:] == data).all()


def test_append_and_resize(tmp_path: Path) -> None:
    array, data = filled(tmp_path)
    assert array.append(np.full((2, 10), 5)) == (9, 10)
    assert array.append(np.zeros((9, 1)), axis=-1) == (9, 11) and array.shape == (9, 11)
    other = zarr_rust.open_array(tmp_path / "x.zarr", mode="r+")
    assert (other[:7, :10] == data).all() and (other[7:, :10] == 5).all()
    array.append(np.ones((1, 11)))
    assert other.append(np.ones((1, 11))) == (11, 11)
    other.resize((2, 3))
    assert (other[...] == data[:2, :3]).all()
    other.resize(4, 3)
    assert other[...].tolist() == [*data[:2, :3].tolist(), [0] * 3, [0] * 3]
    with pytest.raises(errors.ConflictError):
        array.resize((1, 1))
    for bad in ((3,), (-1, 2)):
        with pytest.raises(ValueError):
            other.resize(bad)
    with pytest.raises(ValueError):
        other.append(np.zeros((2, 2)))
    with pytest.raises(IndexError):
        other.append(np.zeros((1, 3)), axis=2)


def test_threads_share_an_array(tmp_path: Path) -> None:
    array = zarr_rust.create_array(tmp_path / "x.zarr", shape=(0, 4), dtype="i4", chunks=(3, 4))
    errors_seen: list[BaseException] = []

    def append(number: int) -> None:
        try:
            for _ in range(5):
                array.append(np.full((1, 4), number))
                array[...]
        except BaseException as error:
            errors_seen.append(error)

    threads = [threading.Thread(target=append, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors_seen and array.shape == (20, 4)
    assert sorted(array[:, 0].tolist()) == [0] * 5 + [1] * 5 + [2] * 5 + [3] * 5


def test_groups(tmp_path: Path) -> None:
    url = tmp_path / "x.zarr"
    root = zarr_rust.create_group(url, attributes={"title": "root"})
    root.create_group("a", attributes={"n": 1}).create_array("b/c", shape=(2, 3), dtype="f4")
    root.create_array("d", shape=4, dtype="i2")
    assert (list(root), len(root), sorted(root.keys())) == (["a", "d"], 2, ["a", "d"])
    assert [type(node).__name__ for node in root.values()] == ["Group", "Array"]
    assert dict(root.items())["d"].shape == (4,)
    assert list(root.array_keys()) == ["d"] and list(root.group_keys()) == ["a"]
    assert [name for name, _ in root.arrays()] == ["d"] and [name for name, _ in root.groups()] == ["a"]
    assert "a/b/c" in root and "a/x" not in root and "" not in root and 3 not in root
    assert root["a/b/c"].name == "/a/b/c" and root["a"]["b"]["c"].dtype == np.float32
    assert str(root.tree()) == "/\n├── a\n│   └── b\n│       └── c (2, 3) float32\n└── d (4,) int16"
    assert str(root["a"].tree()).startswith("/a\n└── b")
    assert root.attrs["title"] == "root" and root.attrs.get("none") is None
    with pytest.raises(KeyError) as caught:
        root["a/x"]
    assert isinstance(caught.value, errors.NodeNotFoundError) and caught.value.path == "/a/x"
    assert root.get("x") is None
    with pytest.raises(FileExistsError):
        root.create_group("a")
    with pytest.raises(TypeError):
        zarr_rust.open_array(url)
    with pytest.raises(TypeError):
        zarr_rust.open_group(url, "d")
    del root["a"]
    assert list(root) == ["d"] and [name for name, _ in zarr.open_group(url, mode="r").members()] == ["d"]
    for name in ("a//b", "../x", "d/./x", "a\0", "\ud800", ""):
        with pytest.raises(ValueError):
            root[name]
        assert name not in root and root.get(name) is None and root.get(name, 5) == 5


def test_attributes(tmp_path: Path) -> None:
    url = tmp_path / "x.zarr"
    zarr_rust.create_group(url, attributes={"a": 1})
    one, two = (zarr_rust.open_group(url, mode="r+") for _ in range(2))
    one.attrs["b"] = {"c": [1, 2.5, None, "é"]}
    two.attrs["d"] = 2**80
    found = zarr_rust.open(url).attrs
    assert dict(found) == {"a": 1, "b": {"c": [1, 2.5, None, "é"]}, "d": 2**80}
    assert zarr.open_group(url, mode="r").attrs.asdict() == dict(found)
    del two.attrs["a"]
    two.attrs.update({"e": np.arange(2)}, f=True)
    assert "a" not in zarr_rust.open(url).attrs and zarr_rust.open(url).attrs["e"] == [0, 1]
    two.attrs.put({"only": 1})
    assert "only" in zarr_rust.open(url).attrs
    with pytest.raises(KeyError):
        del two.attrs["none"]
    with pytest.raises(TypeError):
        two.attrs["x"] = object()
    with pytest.raises(ValueError):
        two.attrs["x"] = float("nan")
    with pytest.raises(errors.ConflictError):
        # Removed by the other one meanwhile.
        one.attrs["b"] = 1
    assert repr(one.attrs).startswith("{")


@pytest.mark.parametrize("dialect", ["v2", "v3"])
def test_threads_share_attributes(tmp_path: Path, dialect: str) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr", dialect=dialect)
    array = group.create_array("a", shape=1, dtype="i1")
    for node in (group, array):
        node.attrs.update({f"old{number}": number for number in range(50)})
        errors_seen: list[BaseException] = []

        def change(name: str) -> None:
            try:
                for number in range(50):
                    node.attrs[f"{name}{number}"] = number
                    if name == "x":
                        del node.attrs[f"old{number}"]
            except BaseException as error:
                errors_seen.append(error)

        threads = [threading.Thread(target=change, args=(name,)) for name in "xy"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        due = {f"{name}{number}": number for name in "xy" for number in range(50)}
        assert not errors_seen and node.attrs.asdict() == due
        assert zarr_rust.open(tmp_path / "x.zarr", node.path or "/").attrs.asdict() == due


def test_read_only(tmp_path: Path) -> None:
    array, data = filled(tmp_path)
    array = zarr_rust.open_array(tmp_path / "x.zarr")
    for change in (
        lambda: array.__setitem__(0, 1),
        lambda: array.append(data),
        lambda: array.resize((1, 1)),
        lambda: array.attrs.update(x=1),
        lambda: array._core.resize([1, 1]),
        lambda: array._core.set_attributes('{"x": 1}'),
        lambda: array._core.change_attributes('{"x": 1}', []),
    ):
        with pytest.raises(PermissionError) as caught:
            change()
        assert isinstance(caught.value, errors.ReadOnlyError)
    assert array.read_only and not zarr_rust.open(tmp_path / "x.zarr", mode="r+").read_only


def test_errors_say_where(tmp_path: Path) -> None:
    array, _ = filled(tmp_path)
    chunk = tmp_path / "x.zarr" / "c" / "1" / "2"
    chunk.write_bytes(b"no chunk")
    with pytest.raises(errors.DataError) as caught:
        array[...]
    error = caught.value
    assert (error.kind, error.chunk, error.key) == ("corrupt-chunk", (1, 2), "c/1/2")
    assert isinstance(error, ValueError) and str(tmp_path) in str(error) and error.store is not None
    (tmp_path / "x.zarr" / "zarr.json").write_text('{"zarr_format": 3, "node_type": "array", "shape": [-1]}')
    with pytest.raises(errors.MetadataError):
        zarr_rust.open(tmp_path / "x.zarr")
    for url, kind in [(tmp_path / "none.zarr", FileNotFoundError), ("no-such-scheme://x", ValueError)]:
        with pytest.raises((kind, errors.ZarrError)):
            zarr_rust.open(url)
    with pytest.raises(errors.ZarrError):
        zarr_rust.open(tmp_path / "x.zarr", storage_options={"no_such_option": 1})


def test_broken_children_are_warned_of(tmp_path: Path) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr")
    group.create_array("good", shape=1, dtype="i1")
    (tmp_path / "x.zarr" / "bad").mkdir()
    (tmp_path / "x.zarr" / "bad" / "zarr.json").write_text("{")
    with pytest.warns(errors.ZarrWarning, match="bad"):
        assert list(group) == ["good"]


def test_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    zarr_rust.create_array("x.zarr/g/a", shape=2, dtype="i1", fill_value=7)
    assert zarr_rust.open("x.zarr/g/a")[:].tolist() == [7, 7]
    assert zarr_rust.open("x.zarr", "g/a").name == "/g/a"
    assert zarr_rust.open("x.zarr::/g")["a"][0] == 7
    assert zarr_rust.open(f"file://{tmp_path}/x.zarr/g/a").shape == (2,)
    zarr_rust.create_group("sqlite:x.sqlite").create_array("a", shape=2, dtype="i1")[:] = [1, 2]
    assert zarr_rust.open("sqlite:x.sqlite::/a")[:].tolist() == [1, 2]
    with zarr.storage.ZipStore("x.zip", mode="w") as store:
        zarr.create_array(store, name="a", shape=(2,), dtype="i1")[:] = 3
    assert zarr_rust.open("x.zip/a")[:].tolist() == [3, 3]


def test_the_module_tells_its_version_and_names() -> None:
    from importlib.metadata import PackageNotFoundError, version

    assert re.fullmatch(r"\d+\.\d+\.\d+", zarr_rust.__version__)
    try:
        assert version("zarr-rust") == zarr_rust.__version__
    except PackageNotFoundError:
        pass
    names = dir(zarr_rust)
    assert {"open", "enable", "from_dask", "xarray", "__version__"} <= set(names) and "importlib" not in names
    assert all(hasattr(zarr_rust, name) for name in names if name not in ("dask", "from_dask"))
