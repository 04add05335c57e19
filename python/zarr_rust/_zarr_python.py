"""Arguments by which zarr-python describes the codecs of a new array."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zarr_rust import _core, _values

#: The default of arguments whose ``None`` means that there is none.
AUTO = "auto"

#: What zarr-python compresses by.
_COMPRESSOR = {2: {"id": "zstd", "level": 0, "checksum": False}, 3: {"name": "zstd", "configuration": {"level": 0, "checksum": False}}}

#: The filters of objects in version 2.
_OBJECTS = {"string": "vlen-utf8", "bytes": "vlen-bytes"}


def codecs_and_dialect(
    codecs: Any,
    dialect: str | None,
    rank: int,
    dtype: Any,
    *,
    compressors: Any = AUTO,
    filters: Any = AUTO,
    serializer: Any = AUTO,
    order: str | None = None,
    zarr_format: int | None = None,
    of_group: str | None = None,
) -> tuple[Any, str | None]:
    """The codecs and dialect that arguments of this library, or else those of zarr-python, describe. ``of_group`` is the dialect of the group in
    which the array is to be.
    """
    dialect = dialect_of(dialect, zarr_format, of_group)
    given = {"compressors": compressors, "filters": filters, "serializer": serializer}
    named = [name for name, value in given.items() if not (isinstance(value, str) and value == AUTO)]
    if order not in (None, "C", "F"):
        raise ValueError(f'order: found {order!r}, expected "C" or "F"')
    if order == "F":
        named.append("order")
    if not named:
        return codecs, dialect
    if codecs is not None:
        raise TypeError(f"found codecs and {' and '.join(named)}, expected codecs or the arguments of zarr-python")
    if (dialect or of_group) == "v2":
        return _of_version_2(rank, dtype, compressors, filters, serializer, order), dialect
    if order == "F":
        # There it says how elements lie in memory, and is no metadata.
        raise ValueError('order="F" is stored in version 2 alone (zarr_format=2); in version 3 give codecs with a transpose, or read(out=...)')
    found = _listed("filters", filters, ())
    found += [] if _is_auto(serializer) else _listed("serializer", serializer, ())
    found += _listed("compressors", compressors, (_COMPRESSOR[3],))
    return [_in_version_3(name, codec) for name, codec in _tuned(found, dtype, rank)], dialect


def dialect_of(dialect: str | None, zarr_format: int | None, of_group: str | None = None) -> str | None:
    """The dialect that arguments of this library, or else of zarr-python, name. ``of_group`` is that of the group in which a node is to be."""
    if zarr_format is None:
        return dialect
    if zarr_format not in (2, 3) or isinstance(zarr_format, bool):
        raise ValueError(f"zarr_format: found {zarr_format!r}, expected 2 or 3; dialect= has others")
    if dialect is not None:
        raise TypeError(f"found zarr_format={zarr_format!r} and dialect={dialect!r}, expected one of them")
    named = f"v{zarr_format}"
    if of_group is not None and of_group != named:
        raise ValueError(f"zarr_format={zarr_format!r}: the group is of dialect {of_group!r}")
    return named


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == AUTO


def _listed(name: str, value: Any, default: tuple[Any, ...]) -> list[tuple[str, Any]]:
    """The codecs that an argument has, each with its name."""
    if _is_auto(value):
        codecs: Any = default
    elif value is None:
        codecs = ()
    else:
        codecs = value if isinstance(value, (list, tuple)) else (value,)
    return [(name, codec) for codec in codecs]


def _tuned(listed: list[tuple[str, Any]], dtype: Any, rank: int) -> list[tuple[str, Any]]:
    """The codecs as zarr-python makes them fit the elements of a new array: it takes what is not given of some, such as the size of elements
    and the shuffle of Blosc, from the data type.
    """
    if not any(hasattr(codec, "evolve_from_array_spec") for _, codec in listed):
        return listed
    from zarr.core.array_spec import ArrayConfig, ArraySpec
    from zarr.core.buffer.core import default_buffer_prototype
    from zarr.dtype import parse_dtype

    try:
        kind = parse_dtype(dtype, zarr_format=3)
    except (TypeError, ValueError):
        # One that zarr-python does not have: the codecs are completed by this library.
        return [(name, _unset(codec)) for name, codec in listed]
    spec = ArraySpec((1,) * rank, kind, kind.default_scalar(), ArrayConfig.from_dict({}), default_buffer_prototype())
    tuned = []
    for name, codec in listed:
        if hasattr(codec, "evolve_from_array_spec"):
            codec = codec.evolve_from_array_spec(spec)
            spec = codec.resolve_metadata(spec)
        tuned.append((name, codec))
    return tuned


def _unset(codec: Any) -> Any:
    """The codec without the members that zarr-python would take from the data type."""
    unset = getattr(codec, "_tunable_attrs", ())
    if not unset:
        return codec
    made = dict(codec.to_dict())
    return made | {"configuration": {name: value for name, value in made["configuration"].items() if name not in unset}}


def _in_version_3(name: str, codec: Any) -> Any:
    if isinstance(codec, Mapping) and "name" in codec:
        return dict(codec)
    to_dict = getattr(codec, "to_dict", None)
    made = None if to_dict is None else to_dict()
    if not isinstance(made, Mapping) or "name" not in made:
        text = "a codec of zarr-python (zarr.codecs) or a dict with a name"
        also = "; those of numcodecs need zarr_format=2" if hasattr(codec, "get_config") else ""
        raise TypeError(f"{name}: found {codec!r}, expected {text}{also}")
    return dict(made)


def _in_version_2(name: str, codec: Any) -> dict[str, Any]:
    made = codec if isinstance(codec, Mapping) else codec.get_config() if hasattr(codec, "get_config") else None
    if not isinstance(made, Mapping) or "id" not in made:
        raise TypeError(f"{name}: found {codec!r}, expected a codec of numcodecs or a dict with an id, in version 2")
    return dict(made)


def _of_version_2(rank: int, dtype: Any, compressors: Any, filters: Any, serializer: Any, order: str | None) -> Any:
    if not _is_auto(serializer) and serializer is not None:
        raise TypeError("found serializer, expected none: version 2 has filters and a compressor")
    compressor = [_in_version_2(name, codec) for name, codec in _listed("compressors", compressors, (_COMPRESSOR[2],))]
    if len(compressor) > 1:
        raise TypeError(f"compressors: found {len(compressor)}, expected one, in version 2")
    listed = [_in_version_2(name, codec) for name, codec in _listed("filters", filters, ())]
    stored, fixed = _values.name_of(dtype)
    if stored in _OBJECTS:
        if not any(codec["id"] == _OBJECTS[stored] for codec in listed):
            listed.insert(0, {"id": _OBJECTS[stored]})
        stored = "|O"
    elif fixed is None:
        raise TypeError(f"dtype: found {dtype!r}, which version 2 does not have; give codecs and dialect")
    document = {
        "zarr_format": 2,
        "shape": [],
        "chunks": [],
        "dtype": json.loads(stored) if stored.startswith("[") else stored,
        "fill_value": None,
        "order": order or "C",
        "filters": listed or None,
        "compressor": compressor[0] if compressor else None,
        "dimension_separator": ".",
    }
    return json.loads(_core.Codecs(json.dumps(document), [1] * rank).model)

