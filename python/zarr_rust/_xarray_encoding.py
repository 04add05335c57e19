"""The codecs of stored arrays as objects of zarr-python and numcodecs."""

from __future__ import annotations

import functools
import json
from typing import Any

from zarr_rust._array import Array

#: Formats of zarr-python.
_DIALECTS = ("v2", "v3")

#: Members of a document that no codec depends on, and that differ between the arrays of a group.
_OTHERS = ("attributes", "dimension_names")


def codecs_of(array: Array) -> dict[str, Any]:
    """``compressors``, ``filters`` and, in version 3, ``serializer``, as an array of zarr-python has them. There are none where zarr-python is
    not installed or does not know the codecs or the data type, and of other formats than its own.
    """
    if array.dialect not in _DIALECTS:
        return {}
    document = {member: value for member, value in json.loads(array._core.document).items() if member not in _OTHERS}
    try:
        return dict(_made(json.dumps(document)))
    # Whatever zarr-python raises, or its absence: it could not open the array.
    except Exception:  # noqa: BLE001
        return {}


@functools.lru_cache(256)
def _made(text: str) -> dict[str, Any]:
    import zarr
    from zarr.storage import MemoryStore, StorePath

    document = json.loads(text)
    array = zarr.Array.from_dict(StorePath(MemoryStore()), document | {"attributes": {}})
    if document["zarr_format"] == 3:
        return {"compressors": array.compressors, "filters": array.filters, "serializer": array.serializer}
    # xarray writes texts of a fixed number of characters there, with which the codec of others makes a document that nobody reads. Where it
    # writes these, zarr-python adds the codec.
    filters = tuple(codec for codec in array.filters if getattr(codec, "codec_id", None) != "vlen-utf8")
    return {"compressors": array.compressors, "filters": filters}
