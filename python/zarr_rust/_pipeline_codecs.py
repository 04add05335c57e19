"""The codecs of zarr-python's arrays, as this library reads them."""

from __future__ import annotations

from typing import Any

from zarr.abc.codec import Codec
from zarr.codecs import ShardingCodec
from zarr.codecs._v2 import V2Codec
from zarr.core.array_spec import ArraySpec


def is_known(codec: Any) -> bool:
    """Whether a codec is one of zarr-python or numcodecs, which may be of this library too, and not of the program."""
    parts: list[Any] = [codec]
    if isinstance(codec, ShardingCodec):
        parts += [*codec.codecs, *codec.index_codecs]
    elif isinstance(codec, V2Codec):
        parts += [*(codec.filters or ()), *(() if codec.compressor is None else (codec.compressor,))]
    return all(
        type(part).__module__.partition(".")[0] in ("zarr", "numcodecs") and (part is codec or is_known(part)) for part in parts
    )


def document(codecs: tuple[Codec, ...], spec: ArraySpec) -> dict[str, Any]:
    """The metadata of an array with these codecs, but for its shape and chunks."""
    version: Any = 2 if isinstance(codecs[0], V2Codec) else 3
    # Without a fill value zarr-python reads and leaves out the default of the data type.
    fill: Any = spec.dtype.default_scalar() if spec.fill_value is None else spec.fill_value
    fill = spec.dtype.to_json_scalar(fill, zarr_format=version)
    made = {"zarr_format": version, "shape": [], "fill_value": fill}
    dtype: Any = spec.dtype.to_json(zarr_format=version)
    if isinstance(codecs[0], V2Codec):
        filters, compressor = codecs[0].filters, codecs[0].compressor
        return made | {
            "dtype": dtype["name"],
            "order": spec.order,
            "chunks": [],
            "dimension_separator": ".",
            "filters": [codec.get_config() for codec in filters] if filters else None,
            "compressor": None if compressor is None else compressor.get_config(),
        }
    return made | {
        "node_type": "array",
        "data_type": dtype,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "attributes": {},
        "codecs": [codec.to_dict() for codec in codecs],
    }
