"""Groups in buckets: what they ask for."""

from __future__ import annotations

from pathlib import Path

import pytest
import zarr_rust
from server import Server, serving


def upload(folder: Path, server: Server) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            server.values[f"/bucket/{path.relative_to(folder.parent).as_posix()}"] = path.read_bytes()


@pytest.mark.parametrize("dialect", ["v2", "v3"])
def test_nodes_of_consolidated_groups_cost_no_requests(tmp_path: Path, dialect: str) -> None:
    root = zarr_rust.create_group(tmp_path / "x.zarr", dialect=dialect)
    names = [f"a{number}" for number in range(20)]
    for name in names:
        root.create_array(name, shape=(3,), dtype="i2", fill_value=4)
    root.create_group("g").create_array("b", shape=(3,), dtype="i2")
    zarr_rust.consolidate_metadata(tmp_path / "x.zarr")
    with serving() as server:
        upload(tmp_path / "x.zarr", server)
        options = {"endpoint": server.url, "anonymous": "true", "region": "eu-west-3"}
        group = zarr_rust.open("s3://bucket/x.zarr", storage_options=options)
        assert sorted(group.keys()) == sorted([*names, "g"])
        arrays = [group[name] for name in names]
        assert group["g/b"].shape == (3,) and "a1" in group and group["g"].attrs == {}
        assert len(server.requests) <= (2 if dialect == "v3" else 8), server.requests
        assert arrays[0][:].tolist() == [4, 4, 4]
        with pytest.raises(zarr_rust.errors.NodeNotFoundError):
            group["none"]
        # What a handle writes it sees, and so do others.
        writer = zarr_rust.open("s3://bucket/x.zarr", mode="r+", storage_options=options)
        with pytest.warns(UserWarning, match="consolidated metadata was dropped"):
            writer.create_array("later", shape=(2,), dtype="i2")
        assert "later" in writer.keys() and writer["later"].shape == (2,)
        assert "later" in zarr_rust.open("s3://bucket/x.zarr", storage_options=options).keys()


def test_an_error_that_passes_loses_no_consolidated_metadata(tmp_path: Path) -> None:
    root = zarr_rust.create_group(tmp_path / "x.zarr", dialect="v2")
    names = [f"a{number}" for number in range(20)]
    for name in names:
        root.create_array(name, shape=(3,), dtype="i2")
    zarr_rust.consolidate_metadata(tmp_path / "x.zarr")
    with serving() as server:
        upload(tmp_path / "x.zarr", server)
        options = {"endpoint": server.url, "anonymous": "true", "region": "eu-west-3"}
        group = zarr_rust.open("s3://bucket/x.zarr", storage_options=options)
        server.refused.add("/bucket/x.zarr/.zmetadata")
        assert "a1" in group
        assert any(path.endswith("/.zmetadata") for _, path, _ in server.requests), server.requests
        server.refused.clear()
        server.requests.clear()
        assert [group[name].shape for name in names] == [(3,)] * 20
        assert len(server.requests) <= 2, server.requests
