"""Reads the arrays that `cargo xtask conformance --matrix` wrote, by zarr-python, compares them, and writes them again.

    python matrix.py FOLDER    # prints a line of JSON for each array: codec, data_type, result and, if written, back

The result is "zarr" if zarr-python reads the same elements; "numcodecs" if it reads no such array but numcodecs decodes the
chunks to the same elements; "tensorstore" if neither does but TensorStore reads the same, blocks of N5 as an array of N5;
"differs" if one of them finds others, or else why not. Whoever reads them writes them under the same metadata into the folder
`back` beside the array's documents; if that fails, `back` says why.
"""

import base64
import json
import shutil
import sys
import warnings
from pathlib import Path

import numcodecs
import numpy as np
# This also gives numpy the types that it lacks, such as bfloat16 and int4, so that numcodecs takes them.
import tensorstore
import zarr


def plain(value):
    """An element as `expected.json` has it."""
    if isinstance(value, np.void):
        return {name: plain(value[name]) for name in value.dtype.names} if value.dtype.names else encoded(value.tobytes())
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return int(value.astype("i8"))
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, (bytes, np.bytes_)):
        return encoded(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def encoded(value):
    return base64.b64encode(bytes(value)).decode()


def same(found, expected, lossy):
    if lossy and isinstance(expected, (int, float)):
        return abs(found - expected) <= 8
    return found == expected and isinstance(found, bool) == isinstance(expected, bool)


def by_zarr(folder):
    return np.asarray(zarr.open_array(folder, mode="r")[...])


class Parts:
    """The parts of an array's document that numcodecs needs: chunks of one shape, which codecs alone turn into bytes."""

    def __init__(self, folder):
        if (folder / ".zarray").exists():
            document = json.loads((folder / ".zarray").read_text())
            self.chunks, self.dtype = document["chunks"], np.dtype(document["dtype"])
            self.filters = document["filters"] or []
            self.compressors = [document["compressor"]] if document["compressor"] else []
            self.prefix, self.separator, self.order = "", ".", document["order"]
        else:
            document = json.loads((folder / "zarr.json").read_text())
            self.chunks, self.dtype = document["chunk_grid"]["configuration"]["chunk_shape"], np.dtype(object)
            serializer, *compressors = document["codecs"]
            if serializer["name"] not in ("numcodecs.json2", "numcodecs.vlen-array"):
                raise ValueError("elements are turned into bytes by no codec of numcodecs")
            self.filters = [of_numcodecs(serializer)]
            self.compressors = [of_numcodecs(codec) for codec in compressors]
            self.prefix, self.separator, self.order = "c/", "/", "C"
        self.shape = document["shape"]

    def indices(self):
        return np.ndindex(*(-(-length // chunk) for length, chunk in zip(self.shape, self.chunks)))

    def path(self, folder, index):
        return folder / (self.prefix + self.separator.join(map(str, index)))


def of_numcodecs(codec):
    """A codec of Zarr v3 as numcodecs has it."""
    name, configuration = codec["name"], dict(codec.get("configuration", {}))
    if name == "blosc":
        # The size of elements is for encoding only, where the compressor takes it from the array.
        del configuration["typesize"]
        configuration["shuffle"] = ["noshuffle", "shuffle", "bitshuffle"].index(configuration["shuffle"])
    elif name not in ("gzip", "zstd", "crc32c") and not name.startswith("numcodecs."):
        raise ValueError(f"numcodecs has no {name}")
    return {"id": name.removeprefix("numcodecs."), **configuration}


def by_numcodecs(folder):
    """The elements of an array, each chunk decoded by the codecs alone."""
    parts = Parts(folder)
    shape, chunks, dtype = parts.shape, parts.chunks, parts.dtype
    array = np.empty(shape, dtype=dtype)
    for index in parts.indices():
        data = parts.path(folder, index).read_bytes()
        for codec in reversed([*parts.filters, *parts.compressors]):
            data = numcodecs.get_codec(codec).decode(data)
        if dtype != object:
            data = np.frombuffer(data, dtype=dtype)
        chunk = np.empty(np.prod(chunks), dtype=dtype)
        chunk[:] = data.reshape(-1) if data.size == chunk.size else data
        place = tuple(slice(i * c, min(i * c + c, n)) for i, c, n in zip(index, chunks, shape))
        array[place] = chunk.reshape(chunks, order=parts.order)[tuple(slice(0, s.stop - s.start) for s in place)]
    return array


def opened(folder):
    if (folder / "zarr.json").exists():
        document = json.loads((folder / "zarr.json").read_text())
        if document["codecs"][0]["name"] == "n5_default":
            return opened_as_n5(folder / "c", document)
    driver = "zarr3" if (folder / "zarr.json").exists() else "zarr"
    return tensorstore.open({"driver": driver, "kvstore": f"file://{folder.resolve()}/"}, open=True).result()


def opened_as_n5(folder, document):
    """The array whose chunks are blocks of N5 in `folder`, beside which metadata of N5 is written."""
    folder.mkdir(exist_ok=True)
    attributes = {
        "dimensions": document["shape"],
        "blockSize": document["chunk_grid"]["configuration"]["chunk_shape"],
        "dataType": document["data_type"],
        "compression": {"type": "raw"},
    }
    (folder / "attributes.json").write_text(json.dumps(attributes))
    return tensorstore.open({"driver": "n5", "kvstore": f"file://{folder.resolve()}/"}, open=True).result()


def by_tensorstore(folder):
    return opened(folder).read().result()


def to_tensorstore(folder, array):
    opened(folder).write(array).result()


def to_zarr(folder, array):
    zarr.open_array(folder, mode="r+")[...] = array


def to_numcodecs(folder, array):
    """Writes the chunks of an array, each encoded by the codecs alone; elements beyond the edge repeat the element at it."""
    parts = Parts(folder)
    for index in parts.indices():
        part = array[tuple(slice(i * c, i * c + c) for i, c in zip(index, parts.chunks))]
        data = np.pad(part, [(0, c - n) for c, n in zip(parts.chunks, part.shape)], mode="edge")
        data = data.reshape(-1, order=parts.order).reshape(parts.chunks)
        for codec in parts.filters:
            data = numcodecs.get_codec(codec).encode(data)
        for codec in parts.compressors:
            # Not all compressors take arrays of types that numpy does not have by itself.
            foreign = isinstance(data, np.ndarray) and (data.dtype.kind == "V" or data.dtype.isbuiltin == 2)
            plain = data.tobytes() if foreign else data
            data = numcodecs.get_codec(codec).encode(plain)
        path = parts.path(folder, index)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(data))


def back(folder, write, array):
    """Writes an array beside the one that it was read from; why not, if it cannot be written."""
    target = folder / "back"
    target.mkdir()
    for name in ("zarr.json", ".zarray", ".zattrs"):
        if (folder / name).exists():
            shutil.copy(folder / name, target)
    try:
        write(target, array)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]


def check(folder):
    case = json.loads((folder / "expected.json").read_text())
    lossy = case["codec"] == "numcodecs.zfpy"
    result, unwritten = "", None
    peers = [("zarr", by_zarr, to_zarr), ("numcodecs", by_numcodecs, to_numcodecs), ("tensorstore", by_tensorstore, to_tensorstore)]
    for peer, read, write in peers:
        try:
            array = read(folder)
            found = [plain(array[index]) for index in np.ndindex(*array.shape)]
        except Exception as error:
            result += f"{peer}: {type(error).__name__}: {error} "[:200]
        else:
            equal = len(found) == len(case["values"]) and all(same(*pair, lossy) for pair in zip(found, case["values"]))
            result = peer if equal else "differs"
            unwritten = back(folder, write, array) if equal else None
            break
    names = {"codec": case["codec"], "data_type": case["data_type"]}
    print(json.dumps({**names, "folder": folder.name, "result": result, "back": unwritten}))


warnings.simplefilter("ignore")
for folder in sorted(Path(sys.argv[1]).iterdir()):
    check(folder)
