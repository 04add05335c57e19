"""Images of OME-Zarr: written, and compared with what other software reads and with the schemas of the specification where these are there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust
from zarr_rust import ome
from zarr_rust.errors import ZarrWarning

VERSIONS = ("0.4", "0.5", "0.6")


def levels() -> dict[str, np.ndarray]:
    whole = np.arange(2 * 64 * 48, dtype="u2").reshape(2, 64, 48)
    return {"0": whole, "1": whole.reshape(2, 32, 2, 24, 2).mean((2, 4)).astype("u2"), "2": whole[:, ::4, ::4]}


def members(group: zarr.Group) -> dict[str, Any]:
    found = dict(group.attrs)
    return found.get("ome", found)


@pytest.mark.parametrize("version", VERSIONS)
def test_images_from_arrays(tmp_path: Path, version: Any) -> None:
    scale = {"y": (0.5, "um"), "x": (0.25, "micrometer")}
    channels = ["DAPI", ome.Channel("GFP", (0, 255, 0), window=(10, 900))]
    written = ome.write_image(tmp_path / "x.zarr", levels(), "cyx", scale=scale, channels=channels, name="cells", version=version)
    assert [name for name, _ in written.arrays()] == ["0", "1", "2"]
    read = zarr.open_group(tmp_path / "x.zarr", mode="r")
    for path, expected in levels().items():
        np.testing.assert_array_equal(read[path][:], expected)
    if version != "0.4":
        assert read["1"].metadata.dimension_names == ("c", "y", "x")
    image = members(read)["multiscales"][0]
    assert image["name"] == "cells"
    axes = image["coordinateSystems"][0]["axes"] if version == "0.6" else image["axes"]
    assert [(axis["name"], axis.get("unit")) for axis in axes] == [("c", None), ("y", "micrometer"), ("x", "micrometer")]
    last = image["datasets"][2]["coordinateTransformations"]
    steps = last[0]["transformations"] if version == "0.6" else last
    assert [step[step["type"]] for step in steps] == [[1, 2, 1], [0, 0.75, 0.375]]
    windows = [channel["window"] for channel in members(read)["omero"]["channels"]]
    assert windows == [{"start": 0, "end": 65535, "min": 0, "max": 65535}, {"start": 10, "end": 900, "min": 0, "max": 65535}]


def test_windows_of_floats_are_those_of_the_elements(tmp_path: Path) -> None:
    array = np.array([[[1.5, 2], [np.nan, 3]], [[-1, 0], [7, np.inf]]], "f4")
    group = ome.write_image(tmp_path / "x.zarr", array, "cyx", channels=["a", ome.Channel("b", window=(0, 1))])
    windows = [channel["window"] for channel in group.attrs["ome"]["omero"]["channels"]]
    assert windows == [{"start": 1.5, "end": 3, "min": 1.5, "max": 3}, {"start": 0, "end": 1, "min": 0, "max": 1}]


def test_metadata_for_levels_that_are_there(tmp_path: Path) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr", attributes={"note": 1})
    for path, array in levels().items():
        group.create_array(f"s/{path}", data=array)
    ome.write_metadata(group, "zyx", levels=["s/0", "s/1"], scale="z=2um, y=1e-1um,x=3", method="nearest")
    assert group.attrs["note"] == 1
    image = group.attrs["ome"]["multiscales"][0]
    assert [level["path"] for level in image["datasets"]] == ["s/0", "s/1"]
    assert image["datasets"][1]["coordinateTransformations"] == [{"type": "scale", "scale": [2, 0.2, 6]}]
    with pytest.raises(ValueError, match="expected 2 as the axes yx"):
        ome.write_metadata(group, "yx", levels=["s/0"])
    with pytest.raises(ValueError, match="expected an array"):
        ome.write_metadata(group, "yx", levels=["s"])
    with pytest.raises(ValueError, match="dialect v3"):
        ome.write_metadata(group, "zyx", levels=["s/0"], version="0.4")


def test_nearest_elements_lie_where_pyramids_pick_them(tmp_path: Path) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr")
    group.create_array("0", data=np.arange(81), chunks=(9,))
    zarr_rust.pyramid(tmp_path / "x.zarr/0", factors={0: 3}, levels=2, method="nearest")
    factors = {"0": (1, 1), "1": (1, 3), "2": (1, 9)}
    shapes = {"0": (1, 81), "1": (1, 27), "2": (1, 9)}
    levels = ome.metadata(shapes, "yx", factors=factors, method="nearest")["ome"]["multiscales"][0]["datasets"]
    for path in ("1", "2"):
        transformations = levels[int(path)]["coordinateTransformations"]
        assert transformations[1]["translation"] == [0, group[path][0]]


def test_factors_are_those_from_level_to_level() -> None:
    shapes = {str(level): (length, 64) for level, length in enumerate([100, 50, 25, 13, 7, 4])}
    levels = ome.metadata(shapes, "yx", factors=None)["ome"]["multiscales"][0]["datasets"]
    assert levels[5]["coordinateTransformations"][0] == {"type": "scale", "scale": [32, 1]}
    given = {"0": (1, 1), "1": (1.5, 2)}
    levels = ome.metadata({"0": (6, 6), "1": (4, 3)}, "yx", factors=given)["ome"]["multiscales"][0]["datasets"]
    assert levels[1]["coordinateTransformations"][0] == {"type": "scale", "scale": [1.5, 2]}
    with pytest.raises(ValueError, match="expected those of 0"):
        ome.metadata({"0": (6, 6)}, "yx", factors=given)


@pytest.mark.parametrize(("dialect", "version"), [("v2", "0.4"), ("v3", "0.5")])
def test_metadata_of_others_is_kept(tmp_path: Path, dialect: str, version: Any) -> None:
    group = zarr_rust.create_group(tmp_path / "x.zarr", dialect=dialect, attributes={"note": 1})
    group.create_array("0", data=np.zeros((2, 4, 4), "u1"))
    ome.write_metadata(group, "cyx", channels=["a", "b"], version=version)
    ome.write_metadata(group, "cyx", version=version)
    found = dict(group.attrs)
    assert found.pop("note") == 1 and found == ome.metadata({"0": (2, 4, 4)}, "cyx", version=version)
    there = {"plate": {"rows": [], "columns": [], "wells": []}}
    plate = there if dialect == "v2" else {"ome": {"version": "0.5", **there}}
    group = zarr_rust.create_group(tmp_path / "p.zarr", dialect=dialect, attributes=plate)
    group.create_array("0", data=np.zeros((4, 4), "u1"))
    with pytest.raises(FileExistsError, match="plate"):
        ome.write_metadata(group, "yx", version=version)
    assert dict(group.attrs) == plate


def test_versions_are_converted() -> None:
    shapes = {"0": (2, 64, 48), "1": (2, 32, 24)}
    old = {**ome.metadata(shapes, "cyx", scale="x=2mm", channels=["a", "b"], version="0.4"), "note": [1]}
    new = ome.convert_metadata(old, "0.6")
    assert new["note"] == [1] and new["ome"]["version"] == "0.6"
    assert ome.convert_metadata(new, "0.4") == old
    assert ome.convert_metadata(ome.convert_metadata(new, "0.5"), "0.6") == new
    scene = {"ome": {"version": "0.6", "scene": {"coordinateTransformations": [{"type": "identity"}]}}}
    with pytest.raises(ValueError, match="has no scenes"):
        ome.convert_metadata(scene, "0.5")
    with pytest.warns(ZarrWarning, match="scene"):
        assert ome.convert_metadata(scene, "0.5", losses=True) == {"ome": {"version": "0.5"}}


@pytest.mark.parametrize(
    ("axes", "scale", "message"),
    [
        ("xyc", None, "in the order time, channel, space"),
        ("cyx", "z=1um", "no axis"),
        ("cyx", "x=1parsecs", "unit"),
        ("cyx", "x", "AXIS=NUMBER"),
        ("cyx", {"x": -1}, "above 0"),
    ],
)
def test_what_is_no_image_is_refused(axes: str, scale: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ome.metadata({"0": (2, 4, 4)}, axes, scale=scale)


def test_levels_are_no_finer_than_the_first() -> None:
    with pytest.raises(ValueError, match="fits into"):
        ome.metadata({"0": (4, 4), "1": (8, 8)}, "yx")
    with pytest.raises(ValueError, match="found 1 channels, expected 2"):
        ome.metadata({"0": (2, 4, 4)}, "cyx", channels=["a"])


@pytest.mark.parametrize("version", VERSIONS)
def test_the_schemas_of_the_specification(version: Any) -> None:
    """``ZARR_NGFF_SCHEMAS`` is a folder with the folders ``schemas`` of ngff-spec, called 0.4, 0.5 and 0.6. They are not copied here for their licence."""
    if "ZARR_NGFF_SCHEMAS" not in os.environ:
        pytest.skip("no ZARR_NGFF_SCHEMAS")
    jsonschema, referencing = pytest.importorskip("jsonschema"), pytest.importorskip("referencing")
    draft = pytest.importorskip("referencing.jsonschema").DRAFT202012
    found = [json.loads(file.read_text()) for file in (Path(os.environ["ZARR_NGFF_SCHEMAS"]) / version).glob("*.schema")]
    resources = [referencing.Resource.from_contents(schema, default_specification=draft) for schema in found]
    registry = referencing.Registry().with_resources([(schema["$id"], resource) for schema, resource in zip(found, resources, strict=True)])
    schema = next(schema for schema in found if schema["$id"].endswith("/image.schema"))
    named = next((one["enum"][0] for one in found if one["$id"].endswith("_version.schema")), version)
    shapes = {name: array.shape for name, array in levels().items()}
    written = ome.metadata(shapes, "cyx", scale="y=0.5um,x=0.5um", channels=["a", "b"], name="n", version=version)
    # A draft of the schemas names its own version.
    written = json.loads(json.dumps(written).replace(f'"version": "{version}"', f'"version": "{named}"'))
    jsonschema.Draft202012Validator(schema, registry=registry).validate(written)
