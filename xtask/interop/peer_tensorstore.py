"""tensorstore, which writes Zarr v2 (driver zarr) and v3 (driver zarr3)."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import tensorstore

import manifest
import stores
import values
from values import pick

NUMBERS = ["b1", "i1", "u1", "i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
# The names that v3 has for them.
NAMES = {np.dtype(name).str[1:]: np.dtype(name).name for name in NUMBERS}
BLOSC = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]


def fill_json(value: np.generic):
    """A number as metadata has it."""

    def part(number: float):
        if np.isnan(number):
            return "NaN"
        if np.isinf(number):
            return "Infinity" if number > 0 else "-Infinity"
        return float(number)

    match value.dtype.kind:
        case "b":
            return bool(value)
        case "i" | "u":
            return int(value)
        case "c":
            return [part(value.real), part(value.imag)]
        case _:
            return part(float(value))


def create(driver: str, kvstore: dict, metadata: dict) -> tensorstore.TensorStore:
    spec = {"driver": driver, "kvstore": kvstore, "metadata": metadata}
    return tensorstore.open(spec, create=True).result()


def v2_compressor(rng):
    match pick(rng, ["none", "blosc", "blosc", "blosc", "zstd", "gzip", "zlib"]):
        case "none":
            return None
        case "blosc":
            cname, shuffle = pick(rng, BLOSC), pick(rng, [-1, 0, 1, 2])
            return {"id": "blosc", "cname": cname, "clevel": int(rng.integers(10)), "shuffle": shuffle, "blocksize": 0}
        case "zstd":
            return {"id": "zstd", "level": pick(rng, [-5, 0, 1, 3, 19])}
        case kind:
            return {"id": kind, "level": int(rng.integers(10))}


def write_v2(rng, kvstore: dict, dtype: np.dtype, lengths, fill):
    metadata = {
        "zarr_format": 2,
        "shape": lengths,
        "chunks": values.chunks(rng, lengths),
        "dtype": dtype.str,
        "compressor": v2_compressor(rng),
        # tensorstore has it that a single dimension is in C order.
        "order": pick(rng, "CF") if len(lengths) > 1 else "C",
        "fill_value": None if fill is None else fill_json(fill),
        "filters": None,
        "dimension_separator": pick(rng, "./"),
    }
    return create("zarr", kvstore, metadata), metadata


def v3_compressors(rng, size: int) -> list:
    found = []
    for _ in range(pick(rng, [0, 1, 1, 1, 2])):
        match pick(rng, ["blosc", "blosc", "zstd", "gzip", "crc32c"]):
            case "blosc":
                shuffle = pick(rng, ["noshuffle", "shuffle", "bitshuffle"])
                configuration = {"cname": pick(rng, BLOSC), "clevel": int(rng.integers(10)), "shuffle": shuffle}
                found.append({"name": "blosc", "configuration": {**configuration, "typesize": size, "blocksize": 0}})
            case "zstd":
                found.append({"name": "zstd", "configuration": {"level": pick(rng, [-5, 0, 1, 3, 19])}})
            case "gzip":
                found.append({"name": "gzip", "configuration": {"level": int(rng.integers(10))}})
            case _:
                found.append({"name": "crc32c"})
    return found


def v3_codecs(rng, size: int, chunk, depth: int) -> list:
    codecs = []
    if len(chunk) > 1 and rng.random() < 0.3:
        order = [int(axis) for axis in rng.permutation(len(chunk))]
        codecs.append({"name": "transpose", "configuration": {"order": order}})
        chunk = [chunk[axis] for axis in order]
    if depth and len(chunk):
        inner = values.inner(rng, chunk)
        index = [{"name": "bytes", "configuration": {"endian": pick(rng, ["little", "little", "big"])}}]
        index += [{"name": "crc32c"}] if rng.random() < 0.8 else []
        sharding = {
            "chunk_shape": inner,
            "codecs": v3_codecs(rng, size, inner, depth - 1),
            "index_codecs": index,
            "index_location": pick(rng, ["end", "end", "start"]),
        }
        return [*codecs, {"name": "sharding_indexed", "configuration": sharding}]
    endian = pick(rng, ["little", "little", "big"])
    codecs.append({"name": "bytes", "configuration": {"endian": endian}} if size > 1 else {"name": "bytes"})
    return codecs + v3_compressors(rng, size)


def write_v3(rng, kvstore: dict, dtype: np.dtype, lengths, fill):
    chunk = values.chunks(rng, lengths)
    keys = pick(rng, ["default", "default", "v2"])
    metadata = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": lengths,
        "data_type": NAMES.get(dtype.str[1:], dtype.name),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": keys, "configuration": {"separator": pick(rng, "/.")}},
        "codecs": v3_codecs(rng, dtype.itemsize, chunk, pick(rng, [0, 0, 1, 1, 2])),
        "fill_value": fill_json(fill),
        "attributes": values.attributes(rng),
    }
    names = values.dimension_names(rng, len(lengths))
    if names is not None:
        metadata["dimension_names"] = names
    return create("zarr3", kvstore, metadata), metadata


def random_elements(rng, dtype: np.dtype, lengths, fill) -> np.ndarray:
    if dtype == ml_dtypes.bfloat16:
        return values.elements(rng, "<f4", lengths).astype(dtype)
    return values.elements(rng, dtype, lengths, fill)


def write(writer: manifest.Writer, count: int, rng) -> None:
    for number in range(count):
        lengths = values.shape(rng)
        name = f"tensorstore-{number}"
        if rng.random() < 0.06:
            # v2 knows bfloat16 as well, but only by the bare name.
            dtype, maker = np.dtype(ml_dtypes.bfloat16), write_v3
        else:
            dtype, maker = np.dtype(pick(rng, "<>") + pick(rng, NUMBERS)), pick(rng, [write_v2, write_v3])
        fill = dtype.type(pick(rng, [0, 1, 3]))
        if dtype.kind in "fc" and rng.random() < 0.3:
            fill = dtype.type(pick(rng, [np.nan, np.inf, -0.0, 0.1]))
        if maker is write_v2 and rng.random() < 0.15:
            fill = None
        store, metadata = maker(rng, writer.stores.tensorstore(name, "a"), dtype, lengths, fill)
        elements = random_elements(rng, dtype, lengths, fill).astype(store.dtype.numpy_dtype)
        store.write(elements).result()
        facts = {"fill": manifest.fill_hex(fill, elements)}
        if maker is write_v3:
            facts["attributes"] = metadata["attributes"]
            # tensorstore stores no names if there is none among them.
            names = metadata.get("dimension_names") or []
            facts["dimension_names"] = names if any(names) else None
        writer.add(name, name, "/a", elements, about=json.dumps(metadata), **facts)


def read(folder: Path, line: dict) -> list[str]:
    path, where = line["path"].strip("/"), stores.of(folder)
    driver = "zarr3" if where.has(line["store"], f"{path}/zarr.json") else "zarr"
    store = tensorstore.open({"driver": driver, "kvstore": where.tensorstore(line["store"], path)}).result()
    facts = {}
    elements = store.read().result()
    if driver == "zarr3":
        # Nothing tells an unnamed dimension from one whose name is empty.
        names = [label or None for label in store.domain.labels]
        line["dimension_names"] = [name or None for name in line["dimension_names"] or [None] * store.rank]
        facts["dimension_names"] = names
    facts["fill"] = manifest.fill_hex(store.fill_value, elements)
    return manifest.differences(line, folder, elements, **facts)
