"""The libraries that are compared: each opens an array, reads it whole into an array of numpy, and writes one."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

#: The pipelines of zarr-python.
PIPELINES = {
    "zarr-python batched": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "zarr-python fused": "zarr.core.codec_pipeline.FusedCodecPipeline",
    "zarrs-python": "zarrs.ZarrsCodecPipeline",
    "zarr-rust pipeline": "zarr_rust.pipeline.RustCodecPipeline",
}

NAMES = [*PIPELINES, "tensorstore", "zarrista", "zarr-rust"]


class Absent(Exception):
    """A library that is not installed, or lacks the operation."""


class ZarrPython:
    def __init__(self, pipeline: str) -> None:
        import zarr

        module, _, name = pipeline.rpartition(".")
        try:
            getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise Absent(str(error)) from None
        zarr.config.set({"codec_pipeline.path": pipeline})
        self.zarr = zarr

    def open(self, path: str) -> Any:
        return self.zarr.open_array(path, mode="r+")

    def read(self, array: Any) -> np.ndarray[Any, Any]:
        return array[...]

    def write(self, array: Any, data: np.ndarray[Any, Any]) -> None:
        array[...] = data

    def open_all(self, path: str, names: Sequence[str]) -> int:
        group = self.zarr.open_group(path, mode="r")
        return sum(group[name].shape[0] for name in names)


class Tensorstore:
    def __init__(self) -> None:
        import tensorstore

        self.tensorstore = tensorstore
        self.context = tensorstore.Context()

    def open(self, path: str) -> Any:
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": path}}
        return self.tensorstore.open(spec, context=self.context)

    def read(self, array: Any) -> np.ndarray[Any, Any]:
        return array.result().read().result()

    def write(self, array: Any, data: np.ndarray[Any, Any]) -> None:
        array.result().write(data).result()

    def open_all(self, path: str, names: Sequence[str]) -> int:
        # All are asked for before the first is waited for.
        return sum(array.result().shape[0] for array in [self.open(f"{path}/{name}") for name in names])


class Zarrista:
    def __init__(self) -> None:
        import zarrista
        from zarrista.store import FilesystemStore

        self.zarrista, self.store = zarrista, FilesystemStore

    def open(self, path: str) -> Any:
        return self.zarrista.Array.open(self.store(path))

    def read(self, array: Any) -> np.ndarray[Any, Any]:
        return np.asarray(array[...])

    def write(self, array: Any, data: np.ndarray[Any, Any]) -> None:
        array[...] = data

    def open_all(self, path: str, names: Sequence[str]) -> int:
        store = self.store(path)
        return sum(self.zarrista.Array.open(store, f"/{name}").shape[0] for name in names)


class ZarrRust:
    def __init__(self) -> None:
        import zarr_rust

        self.zarr_rust = zarr_rust

    def open(self, path: str) -> Any:
        return self.zarr_rust.open_array(path, path="/", mode="r+")

    def read(self, array: Any) -> np.ndarray[Any, Any]:
        return array[...]

    def write(self, array: Any, data: np.ndarray[Any, Any]) -> None:
        array[...] = data

    def open_all(self, path: str, names: Sequence[str]) -> int:
        group = self.zarr_rust.open_group(path, path="/")
        return sum(group[name].shape[0] for name in names)


def peer(name: str) -> Any:
    """A library by its name.

    Raises :class:`Absent` if it is not there.
    """
    try:
        if name in PIPELINES:
            return ZarrPython(PIPELINES[name])
        return {"tensorstore": Tensorstore, "zarrista": Zarrista, "zarr-rust": ZarrRust}[name]()
    except ImportError as error:
        raise Absent(str(error)) from None
