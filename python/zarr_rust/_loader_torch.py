"""Loaders as data sets of torch."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from zarr_rust._loader_epochs import Loader

try:
    _IterableDataset: Any = import_module("torch.utils.data").IterableDataset
except ImportError:
    # `iterable` says so.
    _IterableDataset = object


class _Iterable(_IterableDataset):
    """A loader, of which each worker of a ``DataLoader`` reads its part."""

    def __init__(self, loader: Loader) -> None:
        super().__init__()
        self.loader = loader

    def __iter__(self) -> Iterator[Any]:
        return iter(self.loader)

    def set_epoch(self, epoch: int) -> None:
        self.loader.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        return self.loader.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.loader.load_state_dict(state)


def iterable(loader: Loader) -> Any:
    """A loader as an iterable data set of torch. A worker that the loader does not name is the one that torch says."""
    import_module("torch.utils.data")
    rank, world, worker, workers = loader._place
    if worker == 0 and workers is None:
        loader = copy.copy(loader)
        loader._place = (rank, world, "torch", None)
    return _Iterable(loader)
