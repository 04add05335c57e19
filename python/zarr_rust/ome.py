"""Images of OME-Zarr: metadata for levels that are there, and images written from numpy arrays.

Versions 0.4 (Zarr v2), 0.5 and 0.6 (v3) are written.

>>> import numpy as np, tempfile, zarr_rust
>>> from zarr_rust import ome
>>> cells = np.arange(2 * 64 * 64, dtype="u2").reshape(2, 64, 64)
>>> half = cells.reshape(2, 32, 2, 32, 2).mean((2, 4)).astype("u2")
>>> image = ome.write_image(f"{tempfile.mkdtemp()}/x.ome.zarr", {"0": cells, "1": half}, "cyx", scale="y=0.5um,x=0.5um", channels=["DAPI", "GFP"])
>>> levels = image.attrs["ome"]["multiscales"][0]["datasets"]
>>> levels[1]["coordinateTransformations"][1]
{'type': 'translation', 'translation': [0, 0.25, 0.25]}
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from zarr_rust import _core
from zarr_rust._arguments import checked
from zarr_rust._array import Array
from zarr_rust._group import Group
from zarr_rust._open import create_group
from zarr_rust._stores import StoreLike
from zarr_rust._warnings import warn

__all__ = ["Channel", "convert_metadata", "metadata", "write_image", "write_metadata"]

Version = Literal["0.4", "0.5", "0.6"]
#: Distances of elements: a text such as ``"z=0.5um,x=0.1um"``, or numbers, with a unit or without, by axis.
Scale = str | Mapping[str, float | tuple[float, str]]


@dataclass(frozen=True)
class Channel:
    """Name, colour and contrast of a channel.

    ``window`` are the values that are displayed as black and in the full colour, ``limits`` the least and the greatest that can be chosen. Where
    they are not given, they are those of the data type for integers of up to 16 bits, and else those of the elements for :func:`write_image`, and 0 to 1
    for metadata alone. ``color`` is red, green and blue, 0 to 255 each.
    """

    label: str | None = None
    color: tuple[int, int, int] | None = None
    window: tuple[float, float] | None = None
    limits: tuple[float, float] | None = None


@checked
def metadata(
    shapes: Mapping[str, Sequence[int]],
    axes: str,
    *,
    dtype: Any = "u2",
    scale: Scale | None = None,
    translation: Mapping[str, float] | None = None,
    factors: Mapping[str, Sequence[float]] | None = None,
    channels: Sequence[str | Channel] = (),
    name: str | None = None,
    method: str = "mean",
    version: Version = "0.5",
) -> dict[str, Any]:
    """Returns the attributes of the group of an image, whose levels have ``shapes`` by their paths, the finest first.

    ``axes`` has a letter for each axis: ``t``, ``c``, and others in space. ``scale`` are the distances of elements of the finest level, with units
    of OME-Zarr or symbols (``um``, ``ms``), ``translation`` the positions of its first elements. ``factors`` has for each level, also the finest, and
    each axis the number of elements of the finest level that one element stands for; by default the numbers by which the shapes were divided from
    level to level, rounded up or down. ``method`` says how the other levels were made: ``"nearest"`` if their elements are those at the
    centres of blocks of the level before (of two the first), as :func:`zarr_rust.pyramid` picks them; else they lie at the centres of
    blocks. What is no image is a :class:`ValueError`.
    """
    options = {"dtype": dtype, "scale": scale, "translation": translation, "factors": factors, "channels": channels, "name": name, "method": method}
    return _written(shapes, axes, version, {}, None, **options)


def _written(
    shapes: Mapping[str, Sequence[int]],
    axes: str,
    version: str,
    attributes: Mapping[str, Any],
    group: str | None,
    *,
    dtype: Any = "u2",
    scale: Scale | None = None,
    translation: Mapping[str, float] | None = None,
    factors: Mapping[str, Sequence[float]] | None = None,
    channels: Sequence[str | Channel] = (),
    name: str | None = None,
    method: str = "mean",
) -> dict[str, Any]:
    """Returns the attributes of a group that has ``attributes``, and ``group`` as its name, with those of an image."""
    given = {str(path): [int(length) for length in shape] for path, shape in shapes.items()}
    settings = {
        "axes": axes,
        "scales": scale if isinstance(scale, str) else "",
        "scale": [] if isinstance(scale, str) else _scale(scale or {}),
        "translation": [(axis, float(position)) for axis, position in (translation or {}).items()],
        "levels": list(given.items()),
        "factors": None if factors is None else _factors(factors, given),
        "method": method,
        "name": name,
        "channels": [_channel(channel, np.dtype(dtype)) for channel in channels],
        "version": version,
    }
    first = next(iter(given.values()), [])
    count = first[axes.index("c")] if "c" in axes and len(first) == len(axes) else 1
    if channels and len(channels) != count:
        raise ValueError(f"found {len(channels)} channels, expected {count} as the array has")
    return json.loads(_core.image_attributes(settings, json.dumps(dict(attributes)), group))


def write_metadata(group: Group, axes: str, *, levels: Sequence[str] = ("0",), version: Version | None = None, **options: Any) -> None:
    """Writes the metadata of an image into a group whose arrays at the paths ``levels`` are there, the finest first.

    ``options`` are those of :func:`metadata`. ``version`` is 0.4 in Zarr v2, and 0.5 in v3 unless 0.6 is chosen; the axes name the dimensions of the
    arrays there, if they were created with these names. Metadata of an image of these levels that is there is replaced, with its channels. Other
    attributes stay; other metadata of OME-Zarr, as of a plate, and ``multiscales`` of other conventions are a :class:`FileExistsError`.
    """
    arrays: dict[str, Array] = {}
    for path in levels:
        found = group[path]
        if not isinstance(found, Array):
            raise ValueError(f"level {path}: found a group, expected an array")
        if len(found.shape) != len(axes):
            raise ValueError(f"level {path}: found {len(found.shape)} dimensions, expected {len(axes)} as the axes {axes}")
        arrays[path] = found
    shapes = {path: array.shape for path, array in arrays.items()}
    dtype = next(iter(arrays.values())).dtype if arrays else "u2"
    chosen, there = _version(version, group.dialect), dict(group.attrs)
    written = _written(shapes, axes, chosen, there, group.path.rpartition("/")[2] or None, dtype=dtype, **options)
    # Members of 0.4 are attributes: those that the image has no longer are erased.
    for key in there.keys() - written.keys():
        del group.attrs[key]
    group.attrs.update(written)


def write_image(
    target: StoreLike,
    levels: np.ndarray[Any, Any] | Mapping[str, np.ndarray[Any, Any]],
    axes: str,
    *,
    path: str | None = None,
    chunks: Any = "auto",
    codecs: Any = None,
    version: Version = "0.5",
    overwrite: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Group:
    """Writes an image of arrays in memory: one, or levels by their paths, the finest first. Returns its group.

    ``options`` are those of :func:`metadata`. The metadata is written last, so a group that has it has all levels.
    """
    arrays = dict(levels) if isinstance(levels, Mapping) else {"0": levels}
    shapes = {name: array.shape for name, array in arrays.items()}
    first = next(iter(arrays.values()), None)
    dtype = np.dtype("u2") if first is None else first.dtype
    if first is not None and options.get("channels"):
        options = {**options, "channels": _with_windows(options["channels"], first, axes)}
    written = metadata(shapes, axes, dtype=dtype, version=version, **options)
    dialect = "v2" if version == "0.4" else "v3"
    group = create_group(target, path, dialect=dialect, overwrite=overwrite, storage_options=storage_options)
    names = None if dialect == "v2" else list(axes)
    for name, array in arrays.items():
        group.create_array(name, data=array, chunks=chunks, codecs=codecs, dimension_names=names, separator="/")
    group.attrs.update(written)
    return group


@checked
def convert_metadata(attributes: Mapping[str, Any], version: Version, *, name: str | None = None, losses: bool = False) -> dict[str, Any]:
    """Returns the attributes of a group with its metadata of OME-Zarr in another version: of images, labels, plates, wells, scenes.

    Other attributes stay. What the version cannot hold, such as a scene before 0.6, is a :class:`ValueError`, or with ``losses`` is left out, with a
    :class:`~zarr_rust.errors.ZarrWarning`. ``name`` is the last name in the path of the group: lists ``labels`` and ``series`` of 0.4 are known by it.
    """
    text, left_out = _core.ome_to_version(json.dumps(dict(attributes)), name, version, losses)
    for part in left_out:
        warn(f"left out: {part}")
    return json.loads(text)


def _version(version: str | None, dialect: str) -> Any:
    if version is None:
        return "0.4" if dialect == "v2" else "0.5"
    if (version == "0.4") != (dialect == "v2"):
        raise ValueError(f"version {version!r} in dialect {dialect}: expected {'0.4' if dialect == 'v2' else '0.5 or 0.6'}")
    return version


def _scale(scale: Mapping[str, float | tuple[float, str]]) -> list[tuple[str, float, str]]:
    values = {axis: value if isinstance(value, tuple) else (value, "") for axis, value in scale.items()}
    return [(axis, float(distance), unit) for axis, (distance, unit) in values.items()]


def _factors(factors: Mapping[str, Sequence[float]], levels: Mapping[str, Any]) -> list[list[float]]:
    if factors.keys() != levels.keys():
        raise ValueError(f"factors: found those of the levels {', '.join(factors)}, expected those of {', '.join(levels)}")
    return [[float(factor) for factor in factors[path]] for path in levels]


def _with_windows(channels: Sequence[str | Channel], array: np.ndarray[Any, Any], axes: str) -> list[str | Channel]:
    """Returns the channels, with the range of their elements where they have no window and the data type names no range."""
    axis = axes.index("c") if "c" in axes else None
    is_like = array.ndim == len(axes) and len(channels) == (1 if axis is None else array.shape[axis])
    if not is_like or array.size == 0 or _is_small(array.dtype) or array.dtype.kind not in "iuf":
        return list(channels)
    found: list[str | Channel] = []
    for number, channel in enumerate(channels):
        one = Channel(channel) if isinstance(channel, str) else channel
        elements = array if axis is None else array.take(number, axis)
        elements = elements[np.isfinite(elements)]
        if one.window is None and one.limits is None and elements.size:
            one = replace(one, window=(float(elements.min()), float(elements.max())))
        found.append(one)
    return found


def _is_small(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iu" and dtype.itemsize <= 2


def _channel(channel: str | Channel, dtype: np.dtype[Any]) -> tuple[str | None, list[int] | None, list[float]]:
    one = Channel(channel) if isinstance(channel, str) else channel
    is_small = _is_small(dtype)
    whole = (float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)) if is_small else (0.0, 1.0)
    limits = one.limits or (one.window if not is_small and one.window else whole)
    window = one.window or limits
    return one.label, None if one.color is None else list(one.color), [*map(float, window), *map(float, limits)]
