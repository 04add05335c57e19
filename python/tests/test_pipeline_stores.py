"""The pipeline of zarr-python over stores of Python that this library opens itself, and over those that it does not."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import pickle
import shutil
import threading
import traceback
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rust
from server import Server, serving
from zarr.storage import FsspecStore, ObjectStore, ZipStore
from zarr_rust import _core, _pipeline_fsspec, _pipeline_obstore, _pipeline_stores, errors, pipeline

obstore = pytest.importorskip("obstore.store")
s3fs = pytest.importorskip("s3fs")

pytestmark = pytest.mark.filterwarnings("ignore")

DATA = np.arange(600, dtype="i4").reshape(20, 30)
SECRET = "SENTINEL/SENTINEL"
KEYS = {"access_key_id": "KEYID", "secret_access_key": SECRET}


@pytest.fixture(scope="module")
def one_server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def server(one_server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    for name in tuple(os.environ):
        if name.startswith(("AWS_", "GOOGLE_", "AZURE_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    # No profile of the user.
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    one_server.values.clear()
    one_server.requests.clear()
    one_server.refused.clear()
    one_server.encodes = None
    _pipeline_stores._kept._left.clear()
    return one_server


def s3(server: Server, **more: Any) -> Any:
    options = {"endpoint": server.url, "client_options": {"allow_http": True}, "prefix": "p/q", "region": "eu-west-3", **KEYS}
    return obstore.S3Store("bucket", **(options | more))


def of_fsspec(server: Server, path: str = "bucket/p/q", **more: Any) -> FsspecStore:
    options = {"key": "KEYID", "secret": SECRET, "endpoint_url": server.url, "skip_instance_cache": True, "asynchronous": True}
    return FsspecStore(s3fs.S3FileSystem(**(options | more)), path=path)


def ways(work: Any) -> tuple[Any, int, int]:
    """The result, and how many batches went each way."""
    before = pipeline.counts()
    result = work()
    after = pipeline.counts()
    assert after["python-codec"] == before["python-codec"]
    native, python = (after[name] - before[name] for name in ("native", "python-store"))
    assert native + python == sum(after[name] - before[name] for name in ("reads", "writes"))
    return result, native, python


def created(store: Any, **options: Any) -> Any:
    with zarr_rust.enable():
        return zarr.create_array(store, name="a", shape=DATA.shape, chunks=(6, 7), dtype="i4", overwrite=True, **options)


def opened(store: Any, mode: Any = "r") -> Any:
    with zarr_rust.enable():
        return zarr.open_array(store, path="a", mode=mode)


def plain(store: Any, mode: Any = "r") -> Any:
    """The array as zarr-python alone reads and writes it."""
    return zarr.open_array(store, path="a", mode=mode)


def check_reads_and_writes(store: Any) -> None:
    """Whole arrays, parts of chunks, chunks that are erased, and writes of each side that the other one sees."""
    array, data = created(store), DATA.copy()

    def write() -> None:
        array[...] = data
        array[3:9, 4:11] = -1
        array[:6, :7] = 0
        array[18:, 28:] = 0

    _, native, python = ways(write)
    assert (native, python) == (4, 0)
    data[3:9, 4:11] = -1
    data[:6, :7] = 0
    data[18:, 28:] = 0
    assert ways(lambda: np.array_equal(array[...], data)) == (True, 1, 0)
    assert ways(lambda: array[5, ::2].tolist()) == (data[5, ::2].tolist(), 1, 0)
    assert np.array_equal(plain(store)[...], data)
    assert array.nchunks_initialized == 18
    # Seen at once, whatever was read or written before.
    plain(store, "r+")[0, 0] = 5
    plain(store, "r+")[10:12] = 8
    data[0, 0], data[10:12] = 5, 8
    assert ways(lambda: np.array_equal(array[...], data)) == (True, 1, 0)
    array[:6, :7] = 0
    data[:6, :7] = 0
    assert array.nchunks_initialized == 18 and np.array_equal(plain(store)[...], data)
    zarr.core.sync.sync(store.delete("a/c/1/1"))
    data[6:12, 7:14] = 0
    assert ways(lambda: np.array_equal(array[...], data)) == (True, 1, 0)
    # Other processes, and other flags.
    again = pickle.loads(pickle.dumps(array))
    assert ways(lambda: np.array_equal(again[...], data)) == (True, 1, 0)
    locked = opened(store.with_read_only(True))
    assert ways(lambda: np.array_equal(locked[...], data)) == (True, 1, 0)
    with pytest.raises(ValueError, match="read-only"):
        locked[...] = 0
    store.close()
    assert ways(lambda: np.array_equal(array[...], data)) == (True, 1, 0)
    sharded = zarr.create_array(store, name="s", data=DATA, chunks=(2, 3), shards=(10, 15))
    with zarr_rust.enable():
        sharded = zarr.open_array(store, path="s", mode="r+")
    sharded[4:17, 9] = 7
    assert np.array_equal(sharded[:3], DATA[:3]) and (zarr.open_array(store, path="s")[4:17, 9] == 7).all()


def check_left_to_python(store: Any, *, writes: bool = True) -> None:
    array = created(store) if writes else opened(store)
    if writes:
        assert ways(lambda: array.__setitem__(..., DATA))[1:] == (0, 1)
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 0, 1)


def test_directories_of_obstore(tmp_path: Path) -> None:
    check_reads_and_writes(ObjectStore(obstore.LocalStore(tmp_path, mkdir=True)))
    assert (tmp_path / "a/c/2/3").is_file()
    check_left_to_python(ObjectStore(obstore.MemoryStore()))


def test_a_link_as_the_directory_of_obstore(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    # obstore follows it once.
    check_left_to_python(ObjectStore(obstore.LocalStore(tmp_path / "link")))


def test_directories_of_fsspec(tmp_path: Path) -> None:
    check_reads_and_writes(FsspecStore.from_url(tmp_path.as_uri(), storage_options={"auto_mkdir": True}))
    # fsspec makes no directories then.
    store = FsspecStore.from_url(tmp_path.as_uri(), storage_options={"auto_mkdir": False})
    with pytest.raises(FileNotFoundError):
        shutil.rmtree(tmp_path / "a/c")
        opened(store, "r+")[...] = 1
    assert ways(lambda: opened(store)[...].any()) == (False, 1, 0)


def test_buckets_of_obstore(server: Server) -> None:
    store = ObjectStore(s3(server))
    check_reads_and_writes(store)
    assert server.values["/bucket/p/q/a/zarr.json"].startswith(b"{")
    assert {method for method, _ in server.asked_by(native=True)} in ({"GET", "PUT", "DELETE"}, {"GET", "PUT", "POST"})
    signed = [headers["authorization"] for _, _, headers in server.requests if headers.get("user-agent", "").startswith("zarr-rs/")]
    assert all("Credential=KEYID/" in text and "/eu-west-3/s3/" in text for text in signed)


def test_buckets_of_s3fs(server: Server) -> None:
    check_reads_and_writes(of_fsspec(server))
    assert {method for method, _ in server.asked_by(native=True)} in ({"GET", "PUT", "DELETE"}, {"GET", "PUT", "POST"})


@pytest.mark.parametrize("package", ["obstore", "s3fs"])
def test_public_buckets(server: Server, package: str) -> None:
    created(of_fsspec(server))[...] = DATA
    server.requests.clear()
    if package == "obstore":
        options = {"endpoint": server.url, "client_options": {"allow_http": True}, "skip_signature": True, "prefix": "p/q"}
        store: Any = ObjectStore(obstore.S3Store("bucket", **options), read_only=True)
    else:
        store = of_fsspec(server, anon=True, key=None, secret=None)
    array = opened(store)
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 1, 0)
    assert len(server.asked_by(native=True)) == 20 and not server.asked_by(native=False)
    assert not any("authorization" in headers for _, _, headers in server.requests)


def test_credentials_of_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "KEYID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    made = obstore.S3Store("bucket", client_options={"allow_http": True})
    store = ObjectStore(made)
    array = created(store)
    array[...] = DATA
    # It is where it was when it was made, which it still says.
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 1, 0)
    # Other keys than it has.
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "OTHER")
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 0, 1)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 0, 1)
    # What nothing says of it.
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "KEYID")
    monkeypatch.setenv("AWS_REQUEST_PAYER", "true")
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 0, 1)


def test_options_that_are_not_known(server: Server) -> None:
    provider = lambda: {"access_key_id": "KEYID", "secret_access_key": SECRET, "token": None, "expires_at": None}  # noqa: E731
    without = {"endpoint": server.url, "region": "x", "client_options": {"allow_http": True}}
    check_left_to_python(ObjectStore(obstore.S3Store("bucket", credential_provider=provider, **without)))
    for client in ({"default_headers": {"x-own": "1"}}, {"timeout": "1h 3s"}, {"http2_only": False}):
        check_left_to_python(ObjectStore(s3(server, client_options={"allow_http": True, **client})))
    check_left_to_python(ObjectStore(s3(server, config={"copy_if_not_exists": "multipart"})))
    check_left_to_python(of_fsspec(server, s3_additional_kwargs={"ServerSideEncryption": "AES256"}))
    check_left_to_python(of_fsspec(server, config_kwargs={"s3": {"payload_signing_enabled": True}}))
    check_left_to_python(of_fsspec(server, "bucket/p+q"))
    refused = FsspecStore(of_fsspec(server).fs, path="bucket/p", allowed_exceptions=(FileNotFoundError, PermissionError))
    check_left_to_python(refused)


def test_classes_of_a_program(server: Server, tmp_path: Path) -> None:
    class Own(ObjectStore):  # type: ignore[type-arg]
        pass

    class OwnFiles(s3fs.S3FileSystem):  # type: ignore[misc]
        pass

    check_left_to_python(Own(s3(server)))
    options = {"key": "KEYID", "secret": SECRET, "endpoint_url": server.url, "skip_instance_cache": True, "asynchronous": True}
    check_left_to_python(FsspecStore(OwnFiles(**options), path="bucket/own"))
    from fsspec.implementations.dirfs import DirFileSystem

    check_left_to_python(FsspecStore(DirFileSystem("bucket/dir", of_fsspec(server).fs, asynchronous=True), path=""))
    created(of_fsspec(server))[...] = DATA
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
    from fsspec.implementations.cached import SimpleCacheFileSystem

    cached = SimpleCacheFileSystem(fs=of_fsspec(server, asynchronous=False).fs, cache_storage=str(tmp_path / "cache"))
    check_left_to_python(FsspecStore(AsyncFileSystemWrapper(cached, asynchronous=True), read_only=True, path="bucket/p/q"), writes=False)


@pytest.mark.parametrize("package", ["obstore", "fsspec"])
def test_sites(server: Server, package: str) -> None:
    created(of_fsspec(server))[...] = DATA
    url = f"{server.url}/bucket/p/q"
    if package == "obstore":
        client = {"allow_http": True, "default_headers": {"x-token": SECRET}}
        store: Any = ObjectStore(obstore.HTTPStore(url, client_options=client))
    else:
        store = FsspecStore.from_url(url, storage_options={"client_kwargs": {"headers": {"x-token": SECRET}}})
    array = opened(store)
    server.requests.clear()
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 1, 0)
    assert ways(lambda: array[3, 4:9].tolist()) == (DATA[3, 4:9].tolist(), 1, 0)
    assert len(server.asked_by(native=True)) == 22 and not server.asked_by(native=False)
    assert all(headers["x-token"] == SECRET for _, _, headers in server.requests)
    server.values["/bucket/p/q/a/c/0/0"] = server.values["/bucket/p/q/a/c/1/1"]
    assert np.array_equal(array[:6, :7], DATA[6:12, 7:14])
    if package == "obstore":
        # There are no writes over HTTP here, and obstore has some.
        writer = opened(store, "r+")
        assert ways(lambda: writer.__setitem__(..., DATA))[1:] == (0, 1)
        assert np.array_equal(array[...], DATA)
        check_left_to_python(ObjectStore(obstore.HTTPStore(f"{url}?x=1", client_options={"allow_http": True})), writes=False)


def test_what_fails_here_is_left_to_python(server: Server) -> None:
    created(of_fsspec(server))[...] = DATA
    store = FsspecStore.from_url(f"{server.url}/bucket/p/q")
    array = opened(store)
    # Values that are stored as gzip are read here, and those of another encoding by fsspec alone.
    server.encodes = "gzip"
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 1, 0)
    server.encodes = "deflate"
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 0, 1)
    server.requests.clear()
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 0, 1)
    # It is not tried anew for each batch.
    assert not server.asked_by(native=True)


class Failing:
    """Codecs whose work in a store that is opened here fails."""

    def __init__(self, engine: Any, error: Exception) -> None:
        self.engine, self.error = engine, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def read(self, batch: Any, source: Any, out: Any) -> Any:
        if isinstance(source, _core.OpenedStore):
            raise self.error
        return self.engine.read(batch, source, out)

    def write(self, batch: Any, source: Any, *arguments: Any) -> None:
        if isinstance(source, _core.OpenedStore):
            raise self.error
        self.engine.write(batch, source, *arguments)


@pytest.mark.parametrize(
    ("kind", "of_store", "reads", "writes"),
    [
        ("conflict", None, False, False),
        ("internal", None, False, False),
        ("limit", None, False, False),
        ("limit", "Limit", False, False),
        ("corrupt-chunk", None, False, False),
        ("corrupt-chunk", "Range", False, False),
        ("checksum-mismatch", None, False, False),
        ("shard-index", None, False, False),
        ("argument", None, False, False),
        ("store", "Precondition", False, False),
        ("store", "TimedOut", True, False),
        ("store", "Transient", True, False),
        ("store", "Throttled", True, False),
        ("store", "Denied", True, True),
        ("store", "Io", True, True),
        ("store", "Unsupported", True, True),
        ("invalid-metadata", "Invalid", True, True),
    ],
)
def test_only_failures_of_the_store_are_left_to_python(
    server: Server, monkeypatch: pytest.MonkeyPatch, kind: str, of_store: Any, reads: bool, writes: bool
) -> None:
    """Python's store would overwrite what the writer that was first has written, and read the same broken bytes."""
    array = created(of_fsspec(server))
    array[...] = DATA
    error = errors._of_parts("it fails", kind, of_store, None, (None, None, None, None, None))
    engine_of = pipeline.RustCodecPipeline._engine
    monkeypatch.setattr(pipeline.RustCodecPipeline, "_engine", lambda self, spec: Failing(engine_of(self, spec), error))
    for work, is_left in ((lambda: array[...], reads), (lambda: array.__setitem__((3, 4), -1), writes)):
        _pipeline_stores._kept._left.clear()
        before = dict(server.values)
        server.requests.clear()
        if is_left:
            assert ways(work)[1:] == (0, 1)
            continue
        with pytest.raises(type(error)) as raised:
            work()
        assert raised.value is error and server.values == before
        assert not server.asked_by(native=False) and not _pipeline_stores._kept._left


def test_broken_chunks_are_not_read_twice(server: Server) -> None:
    array = created(of_fsspec(server))
    array[...] = DATA
    server.values["/bucket/p/q/a/c/1/1"] = b"\x28\xb5\x2f\xfd broken"
    for work in (lambda: array[...], lambda: array.__setitem__((7, 8), -1)):
        server.requests.clear()
        with pytest.raises(errors.DataError, match="a/c/1/1"):
            work()
        assert server.asked_by(native=True) and not server.asked_by(native=False)


def test_a_chunk_that_becomes_empty_in_a_bucket_stays(server: Server) -> None:
    # There is no erasure on conditions, by which a chunk that another sets meanwhile would stay.
    array = created(ObjectStore(s3(server)))
    array[...] = DATA
    server.requests.clear()
    array[:3, :7] = 0
    array[3:6, :7] = 0
    assert {method for method, _ in server.asked_by(native=True)} == {"GET", "PUT"}
    assert "/bucket/p/q/a/c/0/0" in server.values
    assert not array[:6, :7].any() and not plain(ObjectStore(s3(server)))[:6, :7].any()
    # All of it is written: what others set before is gone in any order.
    array[:6, :7] = 0
    assert "/bucket/p/q/a/c/0/0" not in server.values


@pytest.mark.parametrize("package", ["obstore", "s3fs"])
def test_errors_are_those_of_the_store_and_show_no_secrets(server: Server, package: str) -> None:
    store: Any = ObjectStore(s3(server)) if package == "obstore" else of_fsspec(server)
    array = created(store)
    array[...] = DATA
    server.refused.add("/bucket/p/q/a/c/1/1")
    plain_array = plain(store)
    raised = []
    for each in (plain_array, array):
        with pytest.raises(Exception) as error:
            each[...]
        raised.append(error)
        assert SECRET not in "".join(traceback.format_exception(error.value))
    assert type(raised[0].value) is type(raised[1].value)
    with pytest.raises(type(raised[0].value)):
        array[...] = 3
    # An error says nothing of the other chunks: they may be set later, or not at all.
    server.refused.clear()
    array[...] = 3
    assert ways(lambda: np.array_equal(array[:6], np.full((6, 30), 3))) == (True, 1, 0)
    places = [*_pipeline_stores._kept._remote, *_pipeline_stores._kept._left]
    assert any(("secret_access_key", SECRET) in place.options for place in places)
    assert SECRET not in repr(places) + str(places) + repr(_pipeline_stores._kept) + repr(array.async_array.codec_pipeline)


def test_zip_files(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with ZipStore(path, mode="w") as store:
        assert ways(lambda: created(store).__setitem__(..., DATA))[1:] == (0, 1)
        assert ways(lambda: np.array_equal(opened(store, "r+")[...], DATA)) == (True, 0, 1)
    store = ZipStore(path, mode="r")
    array = opened(store)
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 1, 0)
    again = pickle.loads(pickle.dumps(array))
    assert ways(lambda: np.array_equal(again[5], DATA[5])) == (True, 1, 0)
    store.close()
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 1, 0)
    # Others append to it, and the store has its old entries.
    with ZipStore(path, mode="a") as other, zarr_rust.enable():
        zarr.open_array(other, path="a", mode="r+")[...] = -DATA
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 0, 1)
    new = opened(ZipStore(path, mode="r"))
    assert ways(lambda: np.array_equal(new[...], -DATA)) == (True, 1, 0)
    # Others replace it, and the store has the old file.
    with ZipStore(tmp_path / "new.zip", mode="w") as other:
        created(other)[...] = DATA + 1
    os.replace(tmp_path / "new.zip", path)
    assert ways(lambda: np.array_equal(new[...], -DATA)) == (True, 0, 1)
    assert ways(lambda: np.array_equal(opened(ZipStore(path))[...], DATA + 1)) == (True, 1, 0)
    # Other methods than those of most archives.
    with ZipStore(path, mode="w", compression=zipfile.ZIP_LZMA) as other:
        created(other)[...] = DATA
    assert ways(lambda: np.array_equal(opened(ZipStore(path))[...], DATA)) == (True, 1, 0)
    with path.open("rb") as file:
        check_left_to_python(ZipStore(file), writes=False)


def times_open(path: Path) -> int:
    """How many open files of this process are one."""
    return sum(os.path.realpath(f"/proc/self/fd/{name}") == str(path) for name in os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_zip_files_are_open_once_and_as_long_as_in_python(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "x.zip"
    with ZipStore(path, mode="w") as store:
        created(store)[...] = DATA

    def read_and_close() -> None:
        stores = [ZipStore(path, mode="r") for _ in range(3)]
        arrays = [opened(store) for store in stores]
        threads = [threading.Thread(target=array.__getitem__, args=(...,)) for array in arrays]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert times_open(path) == 4
        stores[0].close()
        assert ways(lambda: np.array_equal(arrays[1][...], DATA)) == (True, 1, 0)
        assert times_open(path) == 3
        for store in stores:
            store.close()
        assert times_open(path) == 0
        # It is opened again, and not closed.
        assert ways(lambda: np.array_equal(arrays[0][...], DATA)) == (True, 1, 0)
        assert times_open(path) == 2

    read_and_close()
    gc.collect()
    assert times_open(path) == 0
    assert all(place.address != str(path) for place in _pipeline_stores._kept._zips)


@pytest.mark.skipif(zarr.config.get("array.rectilinear_chunks", None) is None, reason="zarr-python has no such grids")
def test_chunks_of_several_shapes_find_the_store_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    async def native_of(*arguments: Any) -> Any:
        found.append(arguments)
        return await _pipeline_stores.native_of(*arguments)

    monkeypatch.setattr(pipeline, "native_of", native_of)
    chunks = [[3, 7, 3, 5, 2], [6, 10, 6, 8]]
    store = of_fsspec(server)
    with zarr.config.set({"array.rectilinear_chunks": True}), zarr_rust.enable():
        array = zarr.create_array(store, name="r", shape=DATA.shape, chunks=chunks, dtype="i4")
        array[...] = DATA
        assert len(found) == 1
        assert np.array_equal(array[...], DATA) and len(found) == 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ["bucket", "zip"])
def test_a_forked_child_opens_stores_anew(server: Server, tmp_path: Path, kind: str) -> None:
    made: Any
    if kind == "zip":
        with ZipStore(tmp_path / "x.zip", mode="w") as writer:
            created(writer)[...] = DATA
        made = ZipStore(tmp_path / "x.zip", mode="r")
    else:
        created(of_fsspec(server))[...] = DATA
        options = {"endpoint": server.url, "client_options": {"allow_http": True}, "skip_signature": True, "prefix": "p/q"}
        made = ObjectStore(obstore.S3Store("bucket", **options), read_only=True)
    array = opened(made)
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 1, 0)
    of_parent = _pipeline_stores._kept

    def kept() -> list[Any]:
        return [*_pipeline_stores._kept._remote.values(), *_pipeline_stores._kept._zips.values()]

    in_parent = kept()
    assert in_parent
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()

    def read() -> None:
        try:
            before = kept()
            done = [ways(lambda: np.array_equal(array[...], DATA)) for _ in range(2)]
            is_new = len(kept()) == 1 and kept()[0] not in in_parent and _pipeline_stores._kept is not of_parent
            results.put((before, done, is_new))
        except BaseException as error:  # noqa: BLE001
            results.put(repr(error))

    workers = [fork.Process(target=read) for _ in range(2)]
    for process in workers:
        process.start()
    assert [results.get(timeout=60) for _ in workers] == [([], [(True, 1, 0)] * 2, True)] * 2
    for process in workers:
        process.join(60)
        assert process.exitcode == 0
    assert ways(lambda: np.array_equal(array[...], DATA)) == (True, 1, 0) and kept() == in_parent


def place(made: Any, writes: bool = True) -> Any:
    return asyncio.run(_pipeline_obstore.place_of(made, writes))


def test_places_of_obstore(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    found = place(obstore.S3Store("bucket", skip_signature=True, region="us-west-2", retry_config={"max_retries": 2}))
    assert found.address == "s3://bucket"
    assert {
        *(("skip_signature", "true"), ("region", "us-west-2"), ("endpoint", "https://s3.us-west-2.amazonaws.com")),
        *(("retries", "2"), ("deadline", "180.000"), ("timeout", "30")),
    } == set(found.options)
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    assert place(obstore.S3Store("bucket", skip_signature=True)) is None
    found = place(obstore.S3Store("bucket", virtual_hosted_style_request=True, session_token="SESSION", **KEYS))
    assert {("endpoint", "https://bucket.s3.us-west-2.amazonaws.com"), ("virtual_hosted_style_request", "true")} <= set(found.options)
    assert ("session_token", "SESSION") in found.options
    found = place(obstore.GCSStore("bucket", prefix="x", skip_signature=True, client_options={"connect_timeout": "500ms"}))
    assert found.address == "gs://bucket/x" and {("skip_signature", "true"), ("connect_timeout", "500ms")} < set(found.options)
    assert place(obstore.GCSStore("bucket")) is None
    public = obstore.GCSStore("bucket", skip_signature=True)
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT_KEY", "{}")
    assert place(public) is None
    account = {"account_name": "name", "account_key": "c2VudGluZWw="}
    found = place(obstore.AzureStore("box", prefix="x", **account))
    assert found.address == "az://box/x" and set(account.items()) < set(found.options)
    assert "c2VudGluZWw" not in repr(found)
    assert place(obstore.AzureStore("box", account_name="name")) is None
    monkeypatch.setenv("AZURE_STORAGE_SAS_KEY", "x")
    assert place(obstore.AzureStore("box", **account)) is None


def test_places_of_gcsfs_and_adlfs(server: Server) -> None:
    import adlfs
    import gcsfs

    def of(fs: Any, path: str, writes: bool = True) -> Any:
        return asyncio.run(_pipeline_fsspec.place_of(FsspecStore(fs, path=path), writes))

    found = of(gcsfs.GCSFileSystem(token="anon", asynchronous=True), "bucket/x.zarr")
    assert (found.address, found.options) == ("gs://bucket/x.zarr", (("anonymous", "true"),))
    assert of(gcsfs.GCSFileSystem(token="anon", asynchronous=True, requester_pays=True), "bucket/x.zarr") is None
    assert of(gcsfs.GCSFileSystem(token="anon", asynchronous=True, endpoint_url=server.url), "bucket/x.zarr") is None
    found = of(adlfs.AzureBlobFileSystem(account_name="name", account_key="c2VudGluZWw=", asynchronous=True), "box/x.zarr")
    assert found.address == "az://box/x.zarr" and dict(found.options) == {"account_name": "name", "account_key": "c2VudGluZWw="}
    assert "c2VudGluZWw" not in repr(found)
    text = "DefaultEndpointsProtocol=https;AccountName=name;AccountKey=c2VudGluZWw=;EndpointSuffix=core.windows.net"
    assert of(adlfs.AzureBlobFileSystem(connection_string=text, asynchronous=True), "box/x.zarr") is None
