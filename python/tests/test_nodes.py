"""Arrays and groups as objects of Python: equality, what cannot be made, and the texts of mistakes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust


def test_the_same_nodes_are_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zarr_rust.create_array(tmp_path / "x.zarr", "g/a", data=[1, 2])
    monkeypatch.chdir(tmp_path)
    one, two = zarr_rust.open_array("x.zarr", "g/a"), zarr_rust.open_array(tmp_path / "x.zarr" / "g" / "a")
    copy = pickle.loads(pickle.dumps(one))
    assert one == two == copy and hash(one) == hash(two) == hash(copy) and copy._opened is None and len({one, two, copy}) == 1
    group = zarr_rust.open_group("x.zarr")
    assert group["g/a"] == one and group["g"]["a"] == one and group["g"] != one and group != group["g"]
    assert group == zarr_rust.open_group("x.zarr", mode="r+") and not (one == 3)
    other = zarr_rust.create_array("y.zarr", "g/a", data=[1, 2])
    assert one != other
    memory = zarr_rust.create_group("memory:")
    memory["a"] = [1]
    assert memory["a"] == memory["a"] and memory != zarr_rust.create_group("memory:")
    assert (zarr.open_array("x.zarr", path="g/a") == zarr.open_array("x.zarr", path="g/a")) is True


def test_nodes_are_made_by_functions(tmp_path: Path) -> None:
    for made, function in ((zarr_rust.Array, "open_array"), (zarr_rust.Group, "open_group")):
        for arguments in (("x.zarr",), (tmp_path,), (None,), (3,)):
            with pytest.raises(TypeError, match=f"zarr_rust.{function}"):
                made(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("selection", [np.True_, True, np.array(True), None, 1.0, "x"])
def test_what_is_no_index_is_an_index_error(selection: Any) -> None:
    array = zarr_rust.array(np.arange(12).reshape(3, 4))
    with pytest.raises(IndexError) as caught:
        array[selection]
    assert "dimensions" not in str(caught.value)
    with pytest.raises(IndexError):
        array[selection] = 1


def test_names_of_attributes_are_texts(tmp_path: Path) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr", attributes={"a": 1})
    for call in (
        lambda: group.attrs.__setitem__(1, 2),
        lambda: group.attrs.put({1: 2}),
        lambda: group.attrs.update({"a": {"b": [{2: 3}]}}),
        lambda: zarr_rust.create_group(tmp_path / "y.zarr", attributes={None: 1}),
    ):
        with pytest.raises(TypeError, match="found"):
            call()
    with pytest.raises(TypeError, match="attribute 'bad': a value of type object"):
        group.attrs.update({"good": 1, "bad": [object()]})
    assert dict(group.attrs) == {"a": 1} and not (tmp_path / "y.zarr").exists()


def test_numbers_that_json_lacks_in_attributes(tmp_path: Path) -> None:
    old = zarr_rust.create_group(tmp_path / "old.zarr", dialect="v2")
    old.attrs["a"] = [np.nan, np.inf]
    assert repr(dict(zarr.open_group(tmp_path / "old.zarr", mode="r").attrs)) == "{'a': [nan, inf]}"
    new = zarr_rust.create_group(tmp_path / "new.zarr", dialect="v3")
    with pytest.raises(ValueError, match="/attributes/bad"):
        new.attrs["bad"] = np.nan
    # Those of others stay.
    zarr.open_group(tmp_path / "theirs.zarr", mode="w").attrs["a"] = float("nan")
    theirs = zarr_rust.open_group(tmp_path / "theirs.zarr", mode="r+")
    theirs.attrs.put(dict(theirs.attrs))
    theirs.attrs["b"] = 1
    assert repr(dict(zarr_rust.open_group(tmp_path / "theirs.zarr").attrs)) == "{'a': nan, 'b': 1}"


def test_a_missing_store_is_a_missing_file(tmp_path: Path) -> None:
    for store in (tmp_path / "none.zarr", f"sqlite:{tmp_path}/none.sqlite", tmp_path / "none.zip"):
        with pytest.raises(FileNotFoundError, match="No such file or directory"):
            zarr_rust.open(store)


def test_warnings_name_the_line_of_the_program(tmp_path: Path) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr")
    group.create_array("a", shape=2, dtype="i4", dimension_names=["x"])
    (tmp_path / "x.zarr" / "bad").mkdir()
    (tmp_path / "x.zarr" / "bad" / "zarr.json").write_text("{")
    for call in (
        lambda: zarr_rust.dataset(tmp_path / "x.zarr"),
        lambda: zarr_rust.convert(tmp_path / "x.zarr", tmp_path / "y.zarr", keep_going=True),
        lambda: list(group),
        lambda: group.tree(),
        lambda: group.members(),
        lambda: dict(group.arrays()),
    ):
        with pytest.warns(zarr_rust.errors.ZarrWarning) as caught:
            call()
        assert {warning.filename for warning in caught} == {__file__}
