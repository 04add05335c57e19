"""Consolidated metadata: written, believed, and told of where a change drops it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust
from zarr_rust.errors import ZarrWarning


def made(url: Path, dialect: str) -> zarr_rust.Group:
    root = zarr_rust.create_group(url, dialect=dialect)
    root["a/b"] = np.arange(3)
    root["c"] = np.arange(4)
    return root


@pytest.mark.parametrize("dialect", ["v2", "v3"])
@pytest.mark.filterwarnings("ignore:Consolidated metadata is currently")
def test_it_is_what_zarr_python_reads(tmp_path: Path, dialect: str) -> None:
    url = tmp_path / "x.zarr"
    root = made(url, dialect)
    with pytest.raises(ValueError, match="no consolidated metadata"):
        zarr_rust.open_consolidated(url)
    assert zarr_rust.consolidate_metadata(url) == root
    assert {path for path, _ in zarr.open_consolidated(url).members(max_depth=None)} == {"a", "a/b", "c"}
    opened = zarr_rust.open_consolidated(url)
    assert [path for path, _ in opened.members(None)] == ["a", "a/b", "c"]
    # It is believed, unless it is said otherwise.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.open_group(url, mode="r+").create_group("late")
    again = zarr_rust.open_consolidated(url)
    assert "late" not in dict(again.members()) and "late" in dict(again.members(use_consolidated_for_children=False))
    zarr_rust.consolidate_metadata(root)
    assert "late" in dict(zarr_rust.open_consolidated(url).members())
    with pytest.raises(TypeError):
        zarr_rust.consolidate_metadata(root, "a")
    with pytest.raises(PermissionError):
        zarr_rust.consolidate_metadata(zarr_rust.open_group(url))
    with pytest.raises(KeyError):
        zarr_rust.consolidate_metadata(url, "none")


def how_again(message: str) -> str:
    """The call that a warning names."""
    found = re.search(r"; (zarr_rust\.consolidate_metadata\(.*?\)).* writes it again$", message)
    assert found is not None, message
    return found[1]


CHANGES: dict[str, Callable[[Path], Any]] = {
    "resize": lambda url: zarr_rust.open_array(url, "c", "r+").resize(2),
    "array below a group": lambda url: zarr_rust.open_group(url, mode="r+").create_array("d/e", shape=1, dtype="i1"),
    "group below a group": lambda url: zarr_rust.open_group(url, "a", "r+").create_group("d"),
    "array": lambda url: zarr_rust.create_array(url, "d", shape=1, dtype="i1"),
    "group": lambda url: zarr_rust.create_group(url, "a/d"),
    "by mode": lambda url: zarr_rust.open_array(url, "d", "a", shape=1, dtype="i1"),
    "replaced": lambda url: zarr_rust.create_array(url, "c", shape=1, dtype="i1", overwrite=True),
    "erased": lambda url: zarr_rust.open_group(url, mode="r+").__delitem__("c"),
    "moved": lambda url: zarr_rust.open_group(url, mode="r+").move("c", "a/d"),
    "converted": lambda url: zarr_rust.convert(url, url.with_name("y.zarr"), path="c", to="c", overwrite=True),
}


@pytest.mark.parametrize("dialect", ["v2", "v3"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_drops_it_is_told(tmp_path: Path, dialect: str, change: str) -> None:
    for name in ("x.zarr", "y.zarr"):
        made(tmp_path / name, dialect)
        zarr_rust.consolidate_metadata(tmp_path / name)
    changed = tmp_path / ("y.zarr" if change == "converted" else "x.zarr")
    with pytest.warns(ZarrWarning, match="consolidated metadata was dropped") as caught:
        CHANGES[change](tmp_path / "x.zarr")
    told = [warning for warning in caught if "was dropped" in str(warning.message)]
    assert len(told) == 1 and told[0].filename == __file__
    # As it says.
    with pytest.raises(ValueError):
        zarr_rust.open_consolidated(changed)
    eval(how_again(str(told[0].message)), {"zarr_rust": zarr_rust})
    found = dict(zarr_rust.open_consolidated(changed).members(None))
    fresh = dict(zarr_rust.open_group(changed).members(None, use_consolidated_for_children=False))
    assert {path: node.attrs.asdict() for path, node in found.items()} == {path: node.attrs.asdict() for path, node in fresh.items()}


EXCHANGED: dict[str, Callable[[Path], Any]] = {
    "attribute of a group": lambda url: zarr_rust.open_group(url, "a", "r+").attrs.update(x=1),
    "attributes of an array": lambda url: zarr_rust.open_array(url, "a/b", "r+").attrs.put({"x": 1}),
    "append": lambda url: zarr_rust.open_array(url, "c", "r+").append([1]),
    "larger": lambda url: zarr_rust.open_array(url, "c", "r+").resize(20),
}


@pytest.mark.parametrize("dialect", ["v2", "v3"])
@pytest.mark.parametrize("change", EXCHANGED)
def test_a_change_that_exchanges_copies_is_not_told(tmp_path: Path, dialect: str, change: str) -> None:
    url = tmp_path / "x.zarr"
    made(url, dialect)
    zarr_rust.consolidate_metadata(url)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        EXCHANGED[change](url)
    found = dict(zarr_rust.open_consolidated(url).members(None))
    fresh = dict(zarr_rust.open_group(url).members(None, use_consolidated_for_children=False))
    assert {path: node.attrs.asdict() for path, node in found.items()} == {path: node.attrs.asdict() for path, node in fresh.items()}
    assert found["c"].shape == fresh["c"].shape


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_told_where_there_is_none(tmp_path: Path, change: str) -> None:
    for name in ("x.zarr", "y.zarr"):
        made(tmp_path / name, "v3")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CHANGES[change](tmp_path / "x.zarr")


@pytest.mark.parametrize("dialect", ["v2", "v3"])
def test_nothing_is_told_where_nothing_is_dropped(tmp_path: Path, dialect: str) -> None:
    url = tmp_path / "x.zarr"
    root = made(url, dialect)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zarr_rust.consolidate_metadata(url)
        # Elements are not in it, a copy of a hierarchy is another, and a root that is replaced has none.
        root["a/b"][:] = 5
        zarr_rust.convert(url, tmp_path / "copy.zarr")
        zarr_rust.create_group(url, overwrite=True)
    data = zarr_rust.create_dataset(tmp_path / "d.zarr", variables={"t": ("x", [1.0, 2.0])}, dialect=dialect)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data.append("x", {"t": ("x", [3.0])})
    assert dict(zarr_rust.open_consolidated(tmp_path / "d.zarr").members())["t"].shape == (3,)


def test_each_group_is_told(tmp_path: Path) -> None:
    url = tmp_path / "x.zarr"
    made(url, "v2")
    zarr_rust.consolidate_metadata(url, "a")
    zarr_rust.consolidate_metadata(url)
    array = zarr_rust.open_array(url, "a/b", "r+")
    with pytest.warns(ZarrWarning) as caught:
        array.resize(1)
    assert len(caught) == 2 and any("'/a')" in str(warning.message) for warning in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        array.resize(0)


DATA_SETS: dict[str, Callable[[Path], Any]] = {
    "another variable": lambda url: zarr_rust.dataset(url, "a", "r+").update({"u": ("x", [3.0, 4.0])}),
    "below": lambda url: zarr_rust.create_dataset(url, "a/b", variables={"t": ("x", [1.0])}),
    "beside, which consolidates nothing": lambda url: zarr_rust.create_dataset(url, "d", variables={"t": ("x", [1.0])}, consolidated=False),
}


@pytest.mark.parametrize("change", DATA_SETS)
def test_a_write_of_a_data_set_that_drops_it_is_told(tmp_path: Path, change: str) -> None:
    url = tmp_path / "x.zarr"
    zarr_rust.create_group(url, dialect="v2")
    zarr_rust.create_dataset(url, "a", variables={"t": ("x", [1.0, 2.0])})
    # The root has it by now, which data sets write again.
    zarr_rust.consolidate_metadata(url, "a")
    group = "/" if "nothing" in change else "/a"
    assert zarr_rust.open_consolidated(url, group).path == group.strip("/")
    with pytest.warns(ZarrWarning, match=f"x.zarr: {group}: consolidated metadata was dropped") as caught:
        DATA_SETS[change](url)
    assert len(caught) == 1 and caught[0].filename == __file__
    with pytest.raises(ValueError):
        zarr_rust.open_consolidated(url, group)
    eval(how_again(str(caught[0].message)), {"zarr_rust": zarr_rust})
    assert len(zarr_rust.open_consolidated(url, group)) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Elements are not in it.
        zarr_rust.dataset(url, "a", "r+").write({"t": ("x", [5.0] * zarr_rust.dataset(url, "a").dims["x"])})


def test_the_store_is_named_as_it_is_found_again(tmp_path: Path) -> None:
    store = zarr.storage.LoggingStore(zarr.storage.MemoryStore(), log_level="CRITICAL")
    stores: list[Any] = ["memory:", {}, zarr.storage.MemoryStore(), store, zarr.storage.LocalStore(tmp_path / "y.zarr")]
    for store in stores:
        root = zarr_rust.create_group(store)
        group = root.create_group("g")
        group["a"] = [1]
        zarr_rust.consolidate_metadata(group)
        with pytest.warns(ZarrWarning, match="/g: consolidated metadata was dropped") as caught:
            group["a"].resize(0)
        assert len(caught) == 1 and not root["g"]._core.is_consolidated()
        eval(how_again(str(caught[0].message)), {"zarr_rust": zarr_rust, "group": group, "store": store})
        assert root["g"]._core.is_consolidated()
    url = tmp_path / "x.zarr"
    # Options may be secrets.
    zarr_rust.create_group(url, storage_options={"durability": "none"})["a"] = [1]
    zarr_rust.consolidate_metadata(url)
    with pytest.warns(ZarrWarning, match=r"x.zarr', storage_options=\.\.\.\), with those of this store, writes it again"):
        zarr_rust.open_array(url, "a", "r+", storage_options={"durability": "none"}).resize(0)


def test_a_warning_that_is_an_error_comes_after_the_change(tmp_path: Path) -> None:
    url = tmp_path / "x.zarr"
    made(url, "v3")
    zarr_rust.consolidate_metadata(url)
    array = zarr_rust.open_array(url, "c", "r+")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ZarrWarning):
            array.resize(2)
    assert array.shape == (2,) and zarr_rust.open_array(url, "c").shape == (2,)
