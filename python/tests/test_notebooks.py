"""How arrays, groups and data sets are shown in notebooks, and completed there."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr_rust

EVIL = '<script>alert("x")</script>&\'"'


class Checked(HTMLParser):
    """The tags and texts of HTML, whose tags are closed in order."""

    VOID = {"line", "rect"}

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href", "class", "id") for name, _ in attrs)
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def shown(node: Any) -> Checked:
    html = node._repr_html_()
    assert len(html) < 40_000
    assert not re.search(r"[:\"]\s*#[0-9a-f]{3}|rgb", html), "colours are those of the page"
    found = Checked(html)
    assert not {"script", "style", "link", "img", "iframe"} & set(found.tags)
    return found


@pytest.mark.parametrize(
    "settings",
    [
        {"shape": ()},
        {"shape": 7, "chunks": 2},
        {"shape": (0, 3)},
        {"shape": (100, 60), "chunks": (10, 30)},
        {"shape": (8, 8), "chunks": (2, 2), "shards": (4, 4)},
        {"shape": (3, 1_000_000), "chunks": (1, 10)},
        {"shape": (1_000_000, 2), "chunks": (10, 1), "shards": (1000, 2)},
        {"shape": (5, 4, 300, 200), "chunks": (1, 1, 100, 100), "dimension_names": ["t", "z", EVIL, "x"]},
        {"shape": 3, "dtype": "string", "fill_value": EVIL},
        {"shape": 3, "dtype": [(EVIL, "i4")], "dialect": "v2"},
        {"shape": 2, "dtype": "bfloat16"},
    ],
    ids=str,
)
def test_arrays_are_shown(settings: dict[str, Any]) -> None:
    array = zarr_rust.create_array("memory:", attributes={EVIL: EVIL * 100, "nan": [1, None]}, **({"dtype": "f4"} | settings))
    found = shown(array)
    text = "".join(found.texts)
    assert "shape" in text and array._core.data_type[:20] in text and EVIL in text
    assert ("svg" in found.tags) == (array.size > 0 and array.ndim > 0)
    assert found.tags.count("line") < 200


def test_the_picture_has_the_chunks() -> None:
    array = zarr_rust.create_array("memory:", shape=(100, 60), chunks=(10, 30), dtype="f4")
    # Nine lines across and one along.
    assert shown(array).tags.count("line") == 10
    sharded = zarr_rust.create_array("memory:", shape=(8, 8), chunks=(1, 2), shards=(4, 4), dtype="f4")
    # One each between shards, and in the first one three across and one along.
    assert shown(sharded).tags.count("line") == 2 + 4
    assert "2 × 2 chunks" in "".join(shown(sharded).texts)


def test_groups_are_shown_and_completed(tmp_path: Path) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr", attributes={f"a{number}": number for number in range(200)})
    for number in range(60):
        group.create_group(f"g{number:02}")
    group.create_array("a<b>", shape=(2, 3), dtype="i2")
    text = "".join(shown(group).texts)
    assert "61 nodes" in text and "11 more" in text and "200 attributes" in text and "a<b>" in text and "2 × 3 int16" in text
    assert group._ipython_key_completions_() == list(group)
    (tmp_path / "x.zarr" / "bad").mkdir()
    (tmp_path / "x.zarr" / "bad" / "zarr.json").write_text("{")
    assert "bad" in "".join(shown(zarr_rust.open_group(tmp_path / "x.zarr")).texts)
    assert shown(zarr_rust.create_group("memory:")).tags.count("table") == 1


def test_data_sets_are_shown_and_completed() -> None:
    times = np.array(["2020-01-01", "2020-01-02"], "M8[D]")
    data = zarr_rust.create_dataset(
        "memory:",
        variables={"t2m": ("time", [280.5, np.nan], {"units": "K<"}), "sel": ("time", [1, 2]), "2x": ("time", ["a", "b"])},
        coords={"time": ("time", times)},
        attrs={"title": EVIL},
    )
    text = "".join(shown(data).texts)
    assert "time: 2" in text and "t2m" in text and "K<" in text and "<script>" in text and "datetime64[ns]" in text
    shown(data["t2m"])
    assert data._ipython_key_completions_() == list(data)
    assert data.t2m.dims == ("time",) and data.isel(time=0).t2m.shape == ()
    # A method is not hidden.
    assert callable(data.sel) and data["sel"].shape == (2,)
    assert {"t2m", "time", "isel"} <= set(dir(data)) and "2x" not in dir(data)
    for name in ("wind", "_t2m", "__wrapped__"):
        with pytest.raises(AttributeError):
            getattr(data, name)
    assert not hasattr(data, "shape")


def test_data_types_of_variables() -> None:
    data = zarr_rust.create_dataset(
        "memory:",
        variables={
            "packed": ("x", [1.5, np.nan], {}, {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -1}),
            "count": ("x", [1, 2]),
            "text": ("x", ["a", "bcd"]),
            "scalar": ((), np.float32(1)),
        },
        coords={"x": ("x", np.array(["2020-01-01", "2020-01-02"], "M8[D]"))},
    )
    assert {name: data[name].dtype for name in data} == {name: data[name].read().dtype for name in data}
    assert data.packed.dtype == np.float64 and data.x.dtype == np.dtype("M8[ns]")
