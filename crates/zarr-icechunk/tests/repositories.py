"""Writes the repositories that the tests read, by Python's icechunk 2.3, and what icechunk finds in them.

    python repositories.py

`v1.zip` and `v2.zip` are repositories of these versions of the format. `expected.zip` has the values of all keys that the store of a session
lists, below `VERSION/REVISION/`; `outside.bin` is the file outside of the repositories, at `file:///tmp/zarr-icechunk/outside.bin`. `checked.zip` is a
repository whose references to this file have ETags and times of its last change.
"""

import datetime
import shutil
import zipfile
from pathlib import Path

import icechunk as ic
import numpy as np
import zarr
from icechunk.credentials import LocalFileSystemAccess
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

HERE = Path(__file__).parent
WORK = Path("/tmp/zarr-icechunk")
URL = "file:///tmp/zarr-icechunk/"
OUTSIDE = np.arange(4000, dtype="<i2").tobytes()


def config(version):
    condition = ic.ManifestSplitCondition.path_matches("/group/split")
    splitting = ic.ManifestSplittingConfig.from_dict({condition: {ic.ManifestSplitDimCondition.Axis(0): 2}})
    manifest = ic.ManifestConfig(splitting=splitting)
    if version == 2:
        compression = ic.ManifestVirtualChunkLocationCompressionConfig(min_num_chunks=50)
        manifest.virtual_chunk_location_compression = compression
    config = ic.RepositoryConfig.default()
    config.inline_chunk_threshold_bytes = 12
    config.manifest = manifest
    name = {"name": "mine"} if version == 2 else {}
    config.set_virtual_chunk_container(ic.VirtualChunkContainer(URL, ic.local_filesystem_store(str(WORK)), **name))
    return config


def reference(index, location, offset, length, **kwargs):
    return ic.VirtualChunkSpec(index=index, location=location, offset=offset, length=length, **kwargs)


def write(version):
    folder = WORK / f"v{version}"
    access = {URL: LocalFileSystemAccess}
    repo = ic.Repository.create(
        ic.local_filesystem_storage(str(folder)), config(version), access, spec_version=version
    )
    session = repo.writable_session("main")
    root = zarr.create_group(session.store, attributes={"title": "a repository"})
    group = root.create_group("group")
    # A sibling that sorts between a group and what is in it.
    root.create_group("group-b")
    time = root.create_array("time", shape=(5,), chunks=(2,), dtype="<i8", compressors=None)
    time[:] = np.arange(5) * 10
    data = group.create_array("data", shape=(6, 7), chunks=(3, 4), dtype="<f4", fill_value=np.nan)
    data[:3] = np.arange(21, dtype="f4").reshape(3, 7)
    data[3:, 4:] = np.random.default_rng(0).random((3, 3), dtype="f4")
    root.create_array("scalar", shape=(), dtype="<u1", compressors=None)[...] = 7
    root.create_array("empty", shape=(3,), chunks=(1,), dtype="<u1")
    split = group.create_array("split", shape=(13, 3), chunks=(1, 2), dtype="<i2", compressors=None, fill_value=-1)
    split[:12] = np.arange(36).reshape(12, 3)
    many = group.create_array("many", shape=(60,), chunks=(2,), dtype="<i2", compressors=None)
    many[:] = np.arange(60)
    session.commit("first")
    repo.create_tag("v1", snapshot_id=repo.lookup_branch("main"))
    repo.create_tag("gone", snapshot_id=repo.lookup_branch("main"))
    repo.delete_tag("gone")

    session = repo.writable_session("main")
    outside = zarr.create_array(session.store, name="outside", shape=(60, 40), chunks=(1, 20), dtype="<i2", compressors=None)
    references = []
    for i in range(60):
        references += [reference([i, j], f"{URL}outside.bin", (2 * i + j) * 40, 40) for j in range(2) if i != 3]
    assert session.store.set_virtual_refs("outside", references, validate_containers=True) is None
    if version == 2:
        zarr.create_array(session.store, name="named", shape=(20,), chunks=(20,), dtype="<i2", compressors=None)
        assert session.store.set_virtual_refs("named", [reference([0], "vcc://mine/outside.bin", 2, 40)]) is None
    root = zarr.open_group(session.store)
    root.attrs["title"] = "another title"
    root["group/split"][3, 0] = -3
    del root["group/many"]
    session.commit("second")

    repo.create_branch("dev", snapshot_id=repo.lookup_tag("v1"))
    session = repo.writable_session("dev")
    zarr.open_group(session.store)["time"][1:3] = [-1, -2]
    dev = session.commit("of dev")
    return repo, {"main": {"branch": "main"}, "tag.v1": {"tag": "v1"}, "branch.dev": {"branch": "dev"}, dev: {"snapshot_id": dev}}


async def values(store):
    found = {}
    async for key in store.list():
        value = await store.get(key, prototype=default_buffer_prototype())
        found[key] = value.to_bytes()
    return found


def add(archive, name, value):
    # Without the time of day, so that the archives stay the same where their content does.
    archive.writestr(zipfile.ZipInfo(name), value, zipfile.ZIP_DEFLATED)


def pack(folder, name):
    with zipfile.ZipFile(HERE / name, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                add(archive, path.relative_to(folder).as_posix(), path.read_bytes())


def checked():
    """References with an ETag, and with the time of the last change, 2006-04-16T12:00:00Z."""
    folder = WORK / "checked"
    repo = ic.Repository.create(ic.local_filesystem_storage(str(folder)), config(2), {URL: LocalFileSystemAccess}, spec_version=2)
    session = repo.writable_session("main")
    time = datetime.datetime(2006, 4, 16, 12, tzinfo=datetime.timezone.utc)
    for name, checksum in {
        "etag": {"etag_checksum": '"abc"'},
        "time": {"last_updated_at_checksum": time},
        "neither": {},
    }.items():
        zarr.create_array(session.store, name=name, shape=(40,), chunks=(20,), dtype="<i2", compressors=None)
        references = [reference([i], f"{URL}outside.bin", i * 40, 40, **checksum) for i in range(2)]
        assert session.store.set_virtual_refs(name, references) is None
    session.commit("with checksums")
    pack(folder, "checked.zip")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    (WORK / "outside.bin").write_bytes(OUTSIDE)
    checked()
    with zipfile.ZipFile(HERE / "expected.zip", "w") as expected:
        for version in (1, 2):
            repo, revisions = write(version)
            for name, which in revisions.items():
                found = sync(values(repo.readonly_session(**which).store))
                for key in sorted(found):
                    add(expected, f"v{version}/{name}/{key}", found[key])
            pack(WORK / f"v{version}", f"v{version}.zip")
    shutil.copy(WORK / "outside.bin", HERE)


main()
