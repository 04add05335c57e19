"""The codecs of an array as zarr-python has them."""

from __future__ import annotations

import json
from typing import Any

from zarr_rust import _core


def compressors(core: _core.Array) -> tuple[Any, ...]:
    """The codecs that make bytes of bytes."""
    document = _document(core)
    if document is None:
        return tuple(_of_kind(core, "compressors"))
    return tuple(_of_numcodecs(codec) for codec in (document.get("compressor"),) if codec is not None)


def filters(core: _core.Array) -> tuple[Any, ...]:
    """The codecs that make elements of elements; in version 2 those before the compressor."""
    document = _document(core)
    if document is None:
        return tuple(_of_kind(core, "filters"))
    return tuple(_of_numcodecs(codec) for codec in document.get("filters") or ())


def serializer(core: _core.Array) -> Any:
    """The codec that makes bytes of elements; ``None`` in version 2."""
    return next(iter(_of_kind(core, "serializer")), None) if _document(core) is None else None


def is_object(codec: Any) -> bool:
    """Whether a codec is one of zarr-python or numcodecs, and not what the document has."""
    return not isinstance(codec, (str, dict))


def order(core: _core.Array) -> str:
    """The order of elements in a chunk."""
    document = _document(core)
    return "C" if document is None else document.get("order", "C")


def _document(core: _core.Array) -> dict[str, Any] | None:
    """The document of an array of version 2, in which codecs are otherwise than in version 3."""
    if core.dialect != "v2":
        return None
    document: dict[str, Any] = json.loads(core.document)
    return document


def _of_kind(core: _core.Array, kind: str) -> list[Any]:
    """The codecs of a kind; of shards, those of inner chunks."""
    codecs: list[dict[str, Any]] = json.loads(core.document if core.dialect == "v3" else core.metadata)["codecs"]
    while True:
        inner = next((codec for codec in codecs if _name(codec) == "sharding_indexed"), None)
        if inner is None:
            break
        codecs = inner["configuration"]["codecs"]
    by_kind: dict[str, list[Any]] = {"filters": [], "serializer": [], "compressors": []}
    kinds = _core.codec_kinds([_name(codec) for codec in codecs])
    for codec, of_codec in zip(codecs, kinds, strict=True):
        by_kind[of_codec].append(_of_zarr_python(codec))
    return by_kind[kind]


def _name(codec: Any) -> str:
    return str(codec if isinstance(codec, str) else codec.get("name"))


def _of_zarr_python(codec: Any) -> Any:
    """The object of zarr-python; what the document has where it is not installed, or does not know the codec."""
    try:
        from zarr.registry import get_codec_class
    except ImportError:
        return codec
    try:
        made: Any = {"name": codec} if isinstance(codec, str) else codec
        return get_codec_class(made["name"]).from_dict(made)
    # Whatever a codec of others raises for a configuration.
    except Exception:  # noqa: BLE001
        return codec


def _of_numcodecs(codec: dict[str, Any]) -> Any:
    try:
        from numcodecs.registry import get_codec
    except ImportError:
        return codec
    try:
        return get_codec(dict(codec))
    except Exception:  # noqa: BLE001
        return codec
