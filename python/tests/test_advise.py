"""Advice on layouts: as the command gives it, and for arrays that are open, addressed or described."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr_rust

COMMAND = "import sys; from zarr_rust._command import main; sys.argv[0] = 'zarr-rs'; sys.exit(main())"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with one array of planes."""
    array = zarr_rust.create_array(
        tmp_path / "s.zarr", "t", shape=(64, 64, 64), dtype="f4", chunks=(1, 64, 64), dimension_names=("time", "y", "x")
    )
    array[:] = np.random.default_rng(1).integers(0, 50, (64, 64, 64))
    return tmp_path / "s.zarr"


def test_what_is_there_costs_what_its_chunks_cost(folder: Path) -> None:
    reads: list[str | dict[str | int, int]] = [{"time": 1}, "y=1,x=1"]
    for source, path in ((folder, "t"), (zarr_rust.open(folder, "t", mode="r"), None)):
        advice = zarr_rust.advise(source, path, reads=reads, writes=[{"time": 1}], at="50ms,100MB/s", codec_seconds=0.01)
        present = advice.present
        assert present is not None
        assert (present.chunks, present.shards, present.objects) == ((1, 64, 64), None, 64)
        plane, series, write = present.accesses
        assert (plane.access, series.access, write.access) == ("time=1", "y=1,x=1", "time=1")
        assert [cost.is_write for cost in present.accesses] == [False, False, True]
        assert (plane.requests, series.requests) == (1, 64)
        assert series.nbytes_decoded == 64 * 64 * 64 * 4
        best = advice.layouts[0]
        assert best.best_for is None
        # Some layout asks for fewer chunks for a series.
        assert min(layout.accesses[1].requests for layout in advice.layouts) < 64
        assert (advice.storage.latency, advice.storage.bandwidth) == (0.05, 100e6)
        assert advice.nbytes_sampled == 64 * 64 * 64 * 4


def test_the_layout_is_what_convert_takes(folder: Path, tmp_path: Path) -> None:
    advice = zarr_rust.advise(folder, "t", reads=["y=1,x=1"], at="s3", codec_seconds=0.01)
    layout = advice.layouts[0]
    shards = False if layout.shards is None else layout.shards
    zarr_rust.convert(folder, tmp_path / "out.zarr", path="t", dialect="v3", chunks=layout.chunks, shards=shards, codecs=layout.codecs)
    written = zarr_rust.open(tmp_path / "out.zarr", "t")
    assert np.array_equal(written[...], zarr_rust.open(folder, "t")[...])
    assert written.chunks == layout.chunks


def test_an_array_that_is_not_there(folder: Path) -> None:
    described = zarr_rust.advise(shape=(640, 64, 64), dtype=np.float32, dims=("time", "y", "x"), reads=["time=1"], at="s3")
    assert described.present is None
    assert described.nbytes_sampled == 0
    assert described.layouts[0].ratio == 1
    sampled = zarr_rust.advise(folder, "t", shape=(640, 64, 64), dtype="f4", reads=["0=1"], at="s3", codec_seconds=0.01)
    assert sampled.present is None
    assert sampled.nbytes_sampled > 0
    assert sampled.layouts[0].ratio > 1
    v2 = zarr_rust.advise(shape=(640, 64, 64), dtype="f4", reads=["0=1"], at="s3", dialect="v2")
    assert all(layout.shards is None for layout in v2.layouts)


def test_it_is_as_the_command_says() -> None:
    shape = ["--shape", "8760,721,1440", "--dtype", "f4", "--dims", "time,lat,lon"]
    reads = ["--reads", "time=1", "--reads", "lat=1,lon=1"]
    run = subprocess.run([sys.executable, "-c", COMMAND, "advise", *shape, *reads, "--at", "s3", "--json"], capture_output=True, check=True)
    printed = json.loads(run.stdout)
    advice = zarr_rust.advise(
        shape=(8760, 721, 1440), dtype="f4", dims=("time", "lat", "lon"), reads=["time=1", {"lat": 1, "lon": 1}], at="s3", prices=printed["prices"]
    )
    assert len(advice.layouts) == len(printed["layouts"])
    for layout, expected in zip(advice.layouts, printed["layouts"]):
        assert list(layout.chunks) == expected["chunks"]
        assert layout.shards == (None if expected["shards"] is None else tuple(expected["shards"]))
        assert layout.codecs == expected["codecs"]
        assert layout.best_for == expected["best_for"]
        assert layout.price_per_month == pytest.approx(expected["price_per_month"])
        assert [cost.requests for cost in layout.accesses] == [cost["requests"] for cost in expected["accesses"]]


def test_what_does_not_fit_is_refused(folder: Path) -> None:
    with pytest.raises(zarr_rust.ZarrError, match="no reads and no writes"):
        zarr_rust.advise(folder, "t")
    with pytest.raises(zarr_rust.ZarrError, match="lat"):
        zarr_rust.advise(folder, "t", reads=["lat=1"])
    with pytest.raises(zarr_rust.ZarrError, match="a number above 0"):
        zarr_rust.advise(folder, "t", reads=[{"time": 0}])
    with pytest.raises(TypeError, match="expected a source"):
        zarr_rust.advise(reads=["time=1"])
    with pytest.raises(TypeError, match="found no dtype"):
        zarr_rust.advise(shape=(4,), reads=["0=1"])
    with pytest.raises(TypeError, match="shape is missing"):
        zarr_rust.advise(folder, "t", dtype="f4", reads=["time=1"])
    with pytest.raises(ValueError, match="probe"):
        zarr_rust.advise(folder, "t", reads=["time=1"], probe=True, at="s3")
    with pytest.raises(zarr_rust.ZarrError, match="nonsense"):
        zarr_rust.advise(folder, "t", reads=["time=1"], codecs=["nonsense"])
