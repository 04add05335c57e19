"""Advice: chunks, shards and codecs that suit the reads and writes of an array."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zarr_rust import _core
from zarr_rust._arguments import checked
from zarr_rust._array import Array
from zarr_rust._sizes import size_in_bytes
from zarr_rust._stores import StoreLike, where

#: Pattern of a read or a write: numbers of elements along dimensions, by name or number of the axis, or its text.
Pattern = str | Mapping[str | int, int]


@dataclass(frozen=True)
class AccessCost:
    """Mean cost of one read or write by a layout, over places that are spread over the array.

    The ``access`` is its pattern. It takes ``seconds`` from the first request to the last element, with so many ``requests`` and transferred
    ``nbytes``; ``nbytes_decoded`` is the size of the elements that are decoded and encoded. ``price`` is that of the requests and the transfer.
    """

    access: str
    is_write: bool
    seconds: float
    requests: float
    nbytes: float
    nbytes_decoded: float
    price: float


@dataclass(frozen=True)
class Layout:
    """A layout with its costs: the shapes of ``chunks`` and ``shards``, and the ``codecs``, as :func:`zarr_rust.convert` takes them.

    ``best_for`` is the access for which it is recommended, or ``None`` if it is near the best for all. Elements are ``ratio`` times as large as
    they are stored, ``nbytes_stored`` in ``objects``. ``price_per_month`` is that of keeping them, ``price_of_writing`` that of writing them once.
    """

    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None
    codecs: list[dict[str, Any]]
    ratio: float
    best_for: str | None
    nbytes_stored: float
    objects: int
    price_per_month: float
    price_of_writing: float
    accesses: tuple[AccessCost, ...]


@dataclass(frozen=True)
class Storage:
    """Model of a storage: its ``latency`` in seconds, its ``bandwidth`` in bytes a second, and how many requests it takes at once."""

    name: str
    latency: float
    bandwidth: float
    concurrency: int


@dataclass(frozen=True)
class Advice:
    """Layouts for an array: at most three ``layouts``, of which none is worse than another for all accesses, and the ``present`` one.

    The first layout is near the best for all accesses. Costs are those on ``storage``; codecs were measured on ``nbytes_sampled`` of elements.
    """

    layouts: tuple[Layout, ...]
    present: Layout | None
    storage: Storage
    nbytes_sampled: int


@checked
def advise(
    source: StoreLike | Array | None = None,
    path: str | None = None,
    *,
    reads: Iterable[Pattern] = (),
    writes: Iterable[Pattern] = (),
    at: str | None = None,
    probe: bool = False,
    prices: Mapping[str, Any] | None = None,
    codecs: Sequence[str] = (),
    sample_size: int | str = "16MiB",
    codec_seconds: float = 0.05,
    dialect: str | None = None,
    shape: Sequence[int] | None = None,
    dtype: Any = None,
    dims: Sequence[str] = (),
    storage_options: Mapping[str, Any] | None = None,
) -> Advice:
    """Finds chunks, shards and codecs that suit the reads and writes of an array. Nothing is written.

    ``source`` is an address, with the ``path`` of the array, or an array that is open. ``reads`` and ``writes`` are patterns: numbers of elements along
    some dimensions, at random places, and all elements along the others. ``{"time": 1}`` is one step of time, ``{"lat": 1, "lon": 1}`` a series at a
    point, ``"all"`` everything. A write begins at a multiple of its length.

    The storage is ``at``: ``"local"``, ``"s3"``, or a latency and a bandwidth, ``"50ms,100MB/s"``. Without it, it is that of the source: ``probe``
    measures it by some requests, else a disk of this machine, or a bucket, is assumed. ``prices`` are as ``zarr advise --json`` prints them, by default
    list prices of S3.

    ``codecs`` are those to choose from. They are measured on ``sample_size`` of elements of the array, each for ``codec_seconds`` in each direction.
    ``dialect`` is that of the new array: ``"v2"`` has no shards.

    With ``shape``, ``dtype`` and the names ``dims`` the array is one that is not there yet; ``source`` is then an array with elements like its own, or
    ``None``.

    >>> import zarr_rust
    >>> advice = zarr_rust.advise(shape=(8760, 721, 1440), dtype="f4", dims=("time", "lat", "lon"), reads=[{"time": 1}, {"lat": 1, "lon": 1}], at="s3")
    >>> best = advice.layouts[0]
    >>> all(cost.seconds < 20 for cost in best.accesses)
    True
    >>> best.shards is not None
    True
    """
    described = None
    if shape is not None:
        described = ([int(length) for length in shape], _type_name(dtype), [str(name) for name in dims])
    elif dtype is not None or dims:
        raise TypeError("dtype and dims are of an array that is not there: shape is missing")
    elif source is None:
        raise TypeError("expected a source, or the shape of an array that is not there")
    if probe and (at is not None or described is not None):
        raise ValueError("probe: found it beside at or shape, expected one of them")
    if isinstance(source, Array):
        if path is not None or storage_options:
            raise TypeError("the source is open: path and storage_options are of a source that is given by its address")
        found: Any = source._core
    else:
        found = None if source is None else where(source, path, storage_options, writes=False)
    settings = {
        "reads": [_text(pattern) for pattern in reads],
        "writes": [_text(pattern) for pattern in writes],
        "at": at,
        "probe": probe,
        "prices": None if prices is None else json.dumps(dict(prices)),
        "codecs": list(codecs),
        "sample_bytes": size_in_bytes(sample_size),
        "seconds": codec_seconds,
        "dialect": dialect,
        "described": described,
    }
    facts = _core.advise(found, settings)
    present = facts["present"]
    return Advice(
        layouts=tuple(_layout(layout) for layout in facts["layouts"]),
        present=None if present is None else _layout(present),
        storage=Storage(*facts["storage"]),
        nbytes_sampled=facts["sample_bytes"],
    )


def _text(pattern: Pattern) -> str:
    if isinstance(pattern, str):
        return pattern
    return ",".join(f"{name}={length}" for name, length in pattern.items()) or "all"


def _type_name(dtype: Any) -> str:
    if dtype is None:
        raise TypeError("shape: found no dtype beside it, expected one")
    if isinstance(dtype, str):
        return dtype
    import numpy as np

    return str(np.dtype(dtype).str)


def _layout(facts: dict[str, Any]) -> Layout:
    shards = facts["shards"]
    return Layout(
        chunks=tuple(facts["chunks"]),
        shards=None if shards is None else tuple(shards),
        codecs=json.loads(facts["codecs"]),
        ratio=facts["ratio"],
        best_for=facts["best_for"],
        nbytes_stored=facts["stored_bytes"],
        objects=facts["objects"],
        price_per_month=facts["price_per_month"],
        price_of_writing=facts["price_of_writing"],
        accesses=tuple(AccessCost(*cost) for cost in facts["accesses"]),
    )
