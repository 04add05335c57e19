"""zarr-python 3, which writes Zarr v2 and v3."""

from pathlib import Path

import numcodecs
import numpy as np
import zarr
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    VLenBytesCodec,
    VLenUTF8Codec,
    ZstdCodec,
)
from zarr.codecs import numcodecs as numcodecs_v3

import manifest
import stores
import values
from values import pick

NUMBERS = ["b1", "i1", "u1", "i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
FIXED = ["S1", "S5", "U1", "U7", "V3", "M8[ns]", "M8[D]", "M8[25s]", "m8[us]", "m8[h]"]
VARIABLE = ["string", "bytes"]
# The compressors that the wheel of numcodecs was built with; snappy is left out of it.
BLOSC = numcodecs.blosc.list_compressors()


def random_dtype(rng) -> str:
    """A type string with a byte order, or the name of a type of variable length."""
    name = pick(rng, NUMBERS * 2 + FIXED + VARIABLE)
    if name in VARIABLE:
        return name
    return np.dtype(pick(rng, "<>") + name).str


def random_fill(rng, dtype: str):
    """A fill value."""
    if dtype in VARIABLE:
        return pick(rng, ["", "none"]) if dtype == "string" else pick(rng, [b"", b"\x00\xff"])
    if rng.random() < 0.4:
        return np.zeros((), np.dtype(dtype))[()]
    return values.scalars(rng, np.dtype(dtype), 1)[0]


def v2_compressor(rng):
    kind = pick(rng, ["none", "blosc", "blosc", "blosc", "zstd", "gzip", "zlib", "lz4"])
    match kind:
        case "none":
            return None
        case "blosc":
            blocksize = pick(rng, [0, 0, 256])
            return numcodecs.Blosc(pick(rng, BLOSC), int(rng.integers(10)), pick(rng, [-1, 0, 1, 2]), blocksize)
        case "zstd":
            return numcodecs.Zstd(level=pick(rng, [-5, 0, 1, 3, 19]), checksum=bool(rng.integers(2)))
        case "gzip":
            return numcodecs.GZip(level=int(rng.integers(10)))
        case "zlib":
            return numcodecs.Zlib(level=int(rng.integers(10)))
        case _:
            return numcodecs.LZ4(acceleration=pick(rng, [1, 10]))


def write_v2(rng, store, path: str, dtype: str, lengths, fill) -> tuple[zarr.Array, str]:
    compressor, order, separator = v2_compressor(rng), pick(rng, "CF"), pick(rng, "./")
    filters = None
    if dtype in VARIABLE:
        # Objects are one-dimensional to their codec, and zarr-python writes them in C order only.
        order = "C"
        filters = [numcodecs.VLenUTF8() if dtype == "string" else numcodecs.VLenBytes()]
    array = zarr.create(
        lengths,
        chunks=values.chunks(rng, lengths),
        dtype={"string": zarr.dtype.VariableLengthUTF8(), "bytes": zarr.dtype.VariableLengthBytes()}.get(dtype, dtype),
        compressor=compressor,
        filters=filters,
        order=order,
        fill_value=None if dtype not in VARIABLE and rng.random() < 0.15 else fill,
        dimension_separator=separator,
        attributes=values.attributes(rng),
        store=store,
        path=path,
        zarr_format=2,
    )
    return array, f"v2, order {order}, separator {separator}, {compressor!r}"


def v3_compressors(rng) -> list:
    found = []
    for _ in range(pick(rng, [0, 1, 1, 1, 1, 2])):
        kind = pick(rng, ["blosc", "blosc", "zstd", "gzip", "crc32c", "zlib", "lz4"])
        match kind:
            case "blosc":
                shuffle = pick(rng, ["noshuffle", "shuffle", "bitshuffle"])
                codec = BloscCodec(cname=pick(rng, BLOSC), clevel=int(rng.integers(10)), shuffle=shuffle)
            case "zstd":
                codec = ZstdCodec(level=pick(rng, [-5, 0, 1, 3, 19]), checksum=bool(rng.integers(2)))
            case "gzip":
                codec = GzipCodec(level=int(rng.integers(10)))
            case "crc32c":
                codec = Crc32cCodec()
            case "zlib":
                codec = numcodecs_v3.Zlib(level=int(rng.integers(10)))
            case _:
                codec = numcodecs_v3.LZ4(acceleration=1)
        found.append(codec)
    return found


def v3_codecs(rng, dtype: str, chunk, depth: int) -> list:
    """The codecs of chunks of a shape, shards in shards among them."""
    codecs = []
    # zarr-python 3.1 fails to hash fill values without a type in front of shards.
    sharded = depth > 0 and len(chunk) > 0 and (dtype in VARIABLE or np.dtype(dtype).kind != "V")
    # It compares the shape of inner chunks with that of the shard before it is transposed.
    if len(chunk) > 1 and dtype not in VARIABLE and not sharded and rng.random() < 0.3:
        order = tuple(int(axis) for axis in rng.permutation(len(chunk)))
        codecs.append(TransposeCodec(order=order))
        chunk = tuple(chunk[axis] for axis in order)
    if sharded:
        inner = values.inner(rng, chunk)
        endian = pick(rng, ["little", "little", "big"])
        index = [BytesCodec(endian=endian)] + ([Crc32cCodec()] if rng.random() < 0.8 else [])
        nested = v3_codecs(rng, dtype, inner, depth - 1)
        location = pick(rng, ["end", "end", "start"])
        codecs.append(ShardingCodec(chunk_shape=inner, codecs=nested, index_codecs=index, index_location=location))
        # Shards are rarely compressed as a whole, but may be.
        return codecs + (v3_compressors(rng)[:1] if rng.random() < 0.1 else [])
    elif dtype == "string":
        codecs.append(VLenUTF8Codec())
    elif dtype == "bytes":
        codecs.append(VLenBytesCodec())
    else:
        codecs.append(BytesCodec(endian=pick(rng, ["little", "little", "big"])))
    return codecs + v3_compressors(rng)


def write_v3(rng, store, path: str, dtype: str, lengths, fill) -> tuple[zarr.Array, str]:
    chunk = values.chunks(rng, lengths)
    codecs = v3_codecs(rng, dtype, chunk, pick(rng, [0, 0, 1, 1, 2]))
    keys = (pick(rng, ["default", "default", "v2"]), pick(rng, "/."))
    native = dtype if dtype in VARIABLE else np.dtype(dtype).newbyteorder("<")
    array = zarr.create(
        lengths,
        chunks=chunk,
        dtype={"string": zarr.dtype.VariableLengthUTF8(), "bytes": zarr.dtype.VariableLengthBytes()}.get(dtype, native),
        codecs=codecs,
        fill_value=fill,
        chunk_key_encoding=keys,
        dimension_names=values.dimension_names(rng, len(lengths)),
        attributes=values.attributes(rng),
        store=store,
        path=path,
        zarr_format=3,
    )
    return array, f"v3, keys {keys}, {codecs!r}"


def facts(array: zarr.Array) -> dict:
    """The properties of an array in the manifest besides its elements."""
    like = like_of(array)
    found = {"fill": manifest.fill_hex(array.metadata.fill_value, like), "attributes": dict(array.attrs)}
    if array.metadata.zarr_format == 3:
        names = array.metadata.dimension_names
        found["dimension_names"] = None if names is None else list(names)
    return found


def like_of(array: zarr.Array) -> np.ndarray:
    """An empty array of the type that elements are read as."""
    return np.empty(0, array.dtype)


def write(writer: manifest.Writer, count: int, rng) -> None:
    for number in range(count):
        name = f"zarr-{number}"
        write_one(writer, rng, name, name, "a", pick(rng, [write_v2, write_v3]))


def write_one(writer: manifest.Writer, rng, name: str, store: str, path: str, maker) -> None:
    """Writes an array by `write_v2` or `write_v3`."""
    dtype, lengths = random_dtype(rng), values.shape(rng)
    if dtype == "bytes" and not lengths:
        # zarr-python takes a single object for an array of it.
        lengths = (1,)
    fill = random_fill(rng, dtype)
    array, about = maker(rng, writer.stores.zarr(store), path, dtype, lengths, fill)
    array[...] = values.elements(rng, dtype, lengths, fill)
    found = facts(array)
    if dtype in VARIABLE:
        # Objects do not tell their type if there are none.
        found["dtype"] = dtype
    writer.add(name, store, f"/{path}", elements_of(array), about=f"{dtype}, {about}", **found)


def elements_of(array: zarr.Array) -> np.ndarray:
    """The elements as they are read, not as they were written: chunks that compare equal to the fill value, as -0.0
    does to 0.0, are not stored."""
    return np.asarray(array[...], dtype=array.dtype)


def read(folder: Path, line: dict) -> list[str]:
    array = zarr.open_array(stores.of(folder).zarr(line["store"]), path=line["path"].strip("/"), mode="r")
    return manifest.differences(line, folder, elements_of(array), **facts(array))
