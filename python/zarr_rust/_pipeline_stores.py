"""Where the bytes of chunks are, for the pipeline of zarr-python: stores that are opened here, and objects of Python that are asked.

The object of Python is the truth of each store: a store is opened here only if that gives the same bytes.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
import weakref
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import zarr.storage
from zarr.storage import LocalStore, MemoryStore, StorePath, ZipStore

from zarr_rust import _core, _pipeline_fsspec, _pipeline_obstore
from zarr_rust._pipeline_place import Place, is_plain
from zarr_rust.errors import ArgumentError, ZarrError

#: How many remote stores are kept open.
_MOST = 32

#: For how many seconds a store is left to Python, after it failed here and not there.
_LEFT = 60.0

#: Failures of stores that are raised here: those that Python's store would not mend, and the one that says that another writer was first.
_RAISED = {"Internal", "Limit", "Precondition", "Range"}

#: Those of writes besides: they may pass, and a request without an answer may have taken effect. Python's store would set the chunk
#: whatever others wrote to it since.
_RAISED_OF_WRITES = {"Throttled", "TimedOut", "Transient"}


@dataclass(frozen=True)
class Native:
    """A store that is opened here."""

    source: Any
    #: Where it is; ``None`` of values in memory.
    place: Place | None = None
    #: The file system whose listings a write changes.
    listed: Any = None

    def leaves(self, error: ZarrError, writes: bool) -> bool:
        """Whether the object of Python is to do what failed here so; it may do it otherwise, or raises what programs expect of it.

        That is a failure of the store. The stored bytes and the arguments are the same for both, and a conflict with another writer is none
        for Python's stores, which set chunks without conditions.
        """
        if self.place is None:
            return False
        if self.place.kind == "directory":
            # A link leads out of the directory. Python's stores follow it.
            return isinstance(error, ArgumentError) and error.kind == "path"
        failure = error._of_store
        return failure is not None and failure not in _RAISED and not (writes and failure in _RAISED_OF_WRITES)

    def is_left(self) -> bool:
        """Whether it was left to Python since it was found."""
        return self.place is not None and self.place.kind != "directory" and _kept.is_left(self.place)

    def was_left(self) -> None:
        """The object of Python did what failed here."""
        if self.place is not None and self.place.kind != "directory":
            _kept.leave(self.place)

    def was_written(self, getters: Sequence[Any]) -> None:
        """Values were set or erased."""
        if self.listed is not None:
            _pipeline_fsspec.forget_listings(self.listed, [getter.path for getter in getters])


class _Kept:
    """Stores of this process that are open, by their places: remote ones, with their connections, and zip files.

    A zip file stays open as long as a store of Python has it open, so that it can be removed when those are closed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._remote: OrderedDict[Place, Any] = OrderedDict()
        self._zips: weakref.WeakValueDictionary[Place, Any] = weakref.WeakValueDictionary()
        #: By the open file of Python.
        self._of_files: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        #: Those that are being opened.
        self._opening: dict[Place, threading.Lock] = {}
        self._left: dict[Place, float] = {}
        self._directories: OrderedDict[Place, _core.LookedThrough] = OrderedDict()

    def find(self, place: Place, file: Any) -> Any:
        """The store at a place, for the open file of a zip file."""
        with self._lock:
            if place.kind == "zip":
                opened = self._zips.get(place)
                if opened is not None:
                    self._of_files[file] = opened
                return opened
            if place in self._remote:
                self._remote.move_to_end(place)
            return self._remote.get(place)

    def open(self, place: Place, file: Any, make: Callable[[], Any]) -> Any:
        """As :meth:`find`, and opens it if it is not open yet: once, for all that want it at the same time. ``None`` if it cannot be opened."""
        with self._lock:
            turn = self._opening.setdefault(place, threading.Lock())
        try:
            with turn:
                found = self.find(place, file)
                if found is not None:
                    return found
                opened = make()
                if opened is not None:
                    self._keep(place, file, opened)
                return opened
        finally:
            with self._lock:
                self._opening.pop(place, None)

    def _keep(self, place: Place, file: Any, opened: Any) -> None:
        with self._lock:
            if place.kind == "zip":
                self._zips[place] = opened
                self._of_files[file] = opened
                return
            self._remote[place] = opened
            while len(self._remote) > _MOST:
                self._remote.popitem(last=False)

    def looked_through(self, place: Place) -> _core.LookedThrough:
        """Where writes to a directory have looked for what killed processes left: each batch opens it anew."""
        with self._lock:
            found = self._directories.setdefault(place, _core.LookedThrough())
            self._directories.move_to_end(place)
            while len(self._directories) > _MOST:
                self._directories.popitem(last=False)
            return found

    def leave(self, place: Place) -> None:
        with self._lock:
            if len(self._left) >= _MOST:
                self._left.clear()
            self._left[place] = time.monotonic() + _LEFT

    def is_left(self, place: Place) -> bool:
        with self._lock:
            return time.monotonic() < self._left.get(place, 0.0)


_kept = _Kept()
# Their threads and connections are the parent's, and are not touched.
_of_parents: list[_Kept] = []


def _after_fork() -> None:
    global _kept
    _of_parents.append(_kept)
    _kept = _Kept()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


async def native_of(getters: Sequence[Any], prototype: Any, writes: bool) -> Native | None:
    """The store, opened here, of the chunks that these objects get and set; ``None`` where they are to be asked themselves."""
    first = getters[0]
    store: Any = first.store if type(first) is StorePath else None
    # Stores of these types exactly: a class that is derived from one may do anything.
    if type(store) not in _OPENED or not isinstance(prototype.buffer.create_zero_length().as_array_like(), _host_memory()):
        return None
    await store._ensure_open()
    if writes:
        store._check_writable()
    if type(store) is MemoryStore:
        return Native(_core.MemoryValues(str(store), store._store_dict, prototype.buffer.from_bytes))
    if type(store) is LocalStore:
        return _of_directory(Place("directory", os.fspath(store.root.absolute())), writes)
    # Keys with other characters have other names in some stores.
    if not is_plain("/".join([getter.path for getter in getters])):
        return None
    place = await _place_of(store, writes)
    if place is None:
        return None
    if place.kind == "directory":
        return _of_directory(place, writes)
    if _kept.is_left(place):
        return None
    file = store._zf.fp if place.kind == "zip" else None
    opened = _kept.find(place, file)
    if opened is None:
        try:
            opened = await asyncio.to_thread(_kept.open, place, file, partial(_opened, place, store))
        except (OSError, ZarrError, zipfile.BadZipFile):
            opened = None
        if opened is None:
            _kept.leave(place)
            return None
    return Native(opened, place, store if writes and type(store) is _Fsspec else None)


async def place_of(store: Any, writes: bool) -> Place | None:
    """Where a store has its values, if this library has a store for that; ``None`` where it is to be asked itself."""
    if type(store) not in _OPENED:
        return None
    await store._ensure_open()
    if type(store) is LocalStore:
        return Place("directory", os.fspath(store.root.absolute()))
    return None if type(store) is MemoryStore else await _place_of(store, writes)


def _host_memory() -> type:
    import numpy as np

    return np.ndarray


def _of_directory(place: Place, writes: bool) -> Native | None:
    # Each time: the directory may have been replaced, or removed, which a write undoes as in zarr-python.
    opened = _core.OpenedStore.directory(place.address, writes, _kept.looked_through(place))
    return None if opened is None else Native(opened, place)


async def _place_of(store: Any, writes: bool) -> Place | None:
    try:
        if type(store) is ZipStore:
            return None if writes else _zip_file(store)
        if type(store) is _Fsspec:
            return await _pipeline_fsspec.place_of(store, writes)
        return await _pipeline_obstore.place_of(store.store, writes)
    # Another version than those that are known, or what the store is to raise when it is asked.
    except Exception:  # noqa: BLE001
        return None


def _opened(place: Place, store: Any) -> Any:
    if place.kind == "remote":
        return _core.OpenedStore.remote(place.address, place.options)
    opened = _core.OpenedStore.zip(place.address)
    return opened if _is_as_opened(store._zf, place.address) and _zip_file(store) == place else None


def _zip_file(store: Any) -> Place | None:
    """The file of a ``ZipStore`` that reads, if it is still the one that the store has open."""
    if store._zmode != "r" or not store.read_only or store.path is None:
        return None
    path, opened = os.path.abspath(store.path), store._zf
    try:
        found = [os.fstat(opened.fp.fileno()), os.stat(path)]
    except OSError:
        return None
    one, other = [(file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns) for file in found]
    # Others may append to the file, and stores have the entries of the time when they were opened.
    return Place("zip", path, state=(*one, opened.start_dir, len(opened.filelist))) if one == other else None


def _is_as_opened(opened: zipfile.ZipFile, path: str) -> bool:
    """Whether a zip file has the entries that it had when it was opened by Python."""

    def entries(file: zipfile.ZipFile) -> list[Any]:
        return [(entry.filename, entry.header_offset, entry.CRC, entry.file_size) for entry in file.filelist]

    with zipfile.ZipFile(path) as now:
        return entries(now) == entries(opened)


#: zarr-python has it since 3.0.9, and imports obstore only when it is used.
_Object: Any = getattr(zarr.storage, "ObjectStore", None)
#: Of another package, which need not be installed.
_Fsspec: Any = getattr(zarr.storage, "FsspecStore", None)

_OPENED = {LocalStore, MemoryStore, ZipStore, _Object, _Fsspec} - {None}
