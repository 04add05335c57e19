"""TIFF files of all forms beside tifffile: each element, the axes, and what is known of the images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr_rust

tifffile = pytest.importorskip("tifffile")
pytest.importorskip("imagecodecs")

import tiff_files  # noqa: E402

CASES = list(tiff_files.cases())


def same(ours: Any, theirs: np.ndarray[Any, Any], tolerance: int) -> bool:
    ours = np.asarray(ours)
    theirs = theirs.astype(theirs.dtype.newbyteorder("="))
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return False
    if tolerance:
        return int(np.abs(ours.astype(int) - theirs.astype(int)).max()) <= tolerance
    return ours.tobytes() == np.ascontiguousarray(theirs).tobytes()


def compare(path: Path, name: str) -> int:
    """Compares all levels of all series; returns their number."""
    count = 0
    opened = zarr_rust.open_group(path)
    series = tiff_files.expected(path)
    for number, levels in enumerate(series):
        group = opened[str(number)] if len(series) > 1 else opened
        assert sorted(group) == [str(level) for level in range(len(levels))], name
        for level, expected in enumerate(levels):
            array = group[str(level)]
            assert same(array[...], expected, tiff_files.TOLERANCE.get(name, 0)), f"{name} {number}/{level}"
            # A part across chunks.
            part = tuple(slice(length // 3, length // 3 + 1 + length // 2) for length in expected.shape)
            assert same(array[part], expected[part], tiff_files.TOLERANCE.get(name, 0)), f"{name} {number}/{level}, a part"
            count += 1
    return count


@pytest.mark.parametrize("part", range(8))
def test_files_of_tifffile(tmp_path: Path, part: int) -> None:
    faults, count = [], 0
    for case in CASES[part::8]:
        path = tmp_path / f"{case[0]}.tif"
        tiff_files.write(path, case)
        try:
            count += compare(path, case[0])
        except Exception as error:  # noqa: BLE001
            faults.append(f"{case[0]}: {error!r}")
    assert not faults, "\n".join(faults)
    assert count >= len(CASES[part::8]) >= 7


def test_tiles_that_are_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "x.tif"
    expected = tiff_files.sparse(path)
    assert np.array_equal(np.asarray(zarr_rust.open(path, "0")[...]), expected)


def image(path: Path) -> dict[str, Any]:
    return zarr_rust.open_group(path).attrs["ome"]


def write(path: Path, name: str) -> None:
    tiff_files.write(path, next(case for case in CASES if case[0] == name))


def test_images_are_those_of_their_descriptions(tmp_path: Path) -> None:
    path = tmp_path / "x.tif"
    write(path, "ome_tczyx")
    (found,) = image(path)["multiscales"]
    assert [axis["name"] for axis in found["axes"]] == list("tczyx")
    with tifffile.TiffFile(path) as file:
        pixels = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
        assert zarr_rust.open_group(path).attrs["ome_xml"] == file.ome_metadata
    scale = found["datasets"][0]["coordinateTransformations"][0]["scale"]
    assert scale == [pixels["TimeIncrement"], 1, pixels["PhysicalSizeZ"], pixels["PhysicalSizeY"], pixels["PhysicalSizeX"]]
    assert [channel["label"] for channel in image(path)["omero"]["channels"]] == ["DAPI", "GFP"]
    write(path, "imagej")
    (found,) = image(path)["multiscales"]
    assert [axis.get("unit") for axis in found["axes"]] == ["second", None, "micrometer", "micrometer", "micrometer"]
    assert found["datasets"][0]["coordinateTransformations"][0]["scale"] == [0.25, 1, 0.5, 0.25, 0.25]
    write(path, "levels_below")
    (found,) = image(path)["multiscales"]
    scales = [level["coordinateTransformations"][0]["scale"] for level in found["datasets"]]
    assert scales == [[1, 1], [2, 2], [4, 4]]


def test_tags_of_geotiff(tmp_path: Path) -> None:
    path = tmp_path / "x.tif"
    write(path, "geotiff")
    found = zarr_rust.open_group(path).attrs["geotiff"]
    with tifffile.TiffFile(path) as file:
        expected = file.geotiff_metadata
    assert found["model_pixel_scale"] == expected["ModelPixelScale"]
    assert found["model_tiepoint"] == expected["ModelTiepoint"]
    assert found["keys"]["ProjectedCSTypeGeoKey"] == int(expected["ProjectedCSTypeGeoKey"])
    array = zarr_rust.open(path, "0")
    assert array.fill_value == -9999
    # Attributes of GeoZarr: a, b, c, d, e, f of rasterio.
    (width, height, _), (_, _, _, west, north, _) = expected["ModelPixelScale"], expected["ModelTiepoint"]
    assert array.attrs["spatial:transform"] == [width, 0, west, 0, -height, north]
    assert array.attrs["proj:code"] == f"EPSG:{int(expected['ProjectedCSTypeGeoKey'])}"
    assert array.attrs["spatial:bbox"] == [west, north - 48 * height, west + 64 * width, north]


def test_copies_keep_levels(tmp_path: Path) -> None:
    path = tmp_path / "x.tif"
    write(path, "ome_levels")
    zarr_rust.convert(path, tmp_path / "x.zarr")
    ours, copied = zarr_rust.open_group(path), zarr_rust.open_group(tmp_path / "x.zarr")
    assert ours.attrs["ome"] == copied.attrs["ome"]
    for level in ["0", "1"]:
        assert np.array_equal(np.asarray(ours[level][...]), np.asarray(copied[level][...]))
