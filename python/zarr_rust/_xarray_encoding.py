"""The codecs of stored arrays in the encodings of variables."""

from __future__ import annotations

from typing import Any

from zarr_rust import _codec_objects
from zarr_rust._array import Array

#: Formats of zarr-python.
_DIALECTS = ("v2", "v3")


def codecs_of(array: Array) -> dict[str, Any]:
    """``compressors``, ``filters`` and, in version 3, ``serializer``, as an array of zarr-python has them. There are none where zarr-python is
    not installed or does not know one of the codecs, and of other formats than its own.
    """
    if array.dialect not in _DIALECTS:
        return {}
    core = array._core
    found: dict[str, Any] = {"compressors": _codec_objects.compressors(core), "filters": _codec_objects.filters(core)}
    if array.dialect == "v3":
        found["serializer"] = _codec_objects.serializer(core)
    if not all(map(_codec_objects.is_object, (*found["compressors"], *found["filters"], found.get("serializer")))):
        return {}
    if array.dialect == "v2":
        # xarray writes texts of a fixed number of characters there, with which the codec of others makes a document that nobody reads. Where
        # it writes these, zarr-python adds the codec.
        found["filters"] = tuple(codec for codec in found["filters"] if codec.codec_id != "vlen-utf8")
    return found
