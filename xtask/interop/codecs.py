"""Random arrays of Zarr v2 for each codec of numcodecs: encodes them, and decodes chunks that were encoded elsewhere.

    codecs.py write FOLDER COUNT SEED    COUNT arrays for each codec below FOLDER/theirs, and their elements
    codecs.py read FOLDER                decodes FOLDER/ours; a line of JSON for each array that differs

An array is one chunk. FOLDER/cases.jsonl has a line for each: codec, path, and where its elements are in FOLDER/values.bin,
as they went in and as numcodecs decodes them: [offset, size], in the form that manifest.py describes. Values of object arrays are
JSON text, values of Python that JSON lacks as objects: {"$float": "NaN"}, {"$bytes": base64}.
"""

import base64
import json
import struct
import sys
import warnings
from pathlib import Path

import numcodecs
import numpy as np

import manifest
import values

INTEGERS = ["|i1", "<i2", "<i4", ">i4", "<i8", "|u1", "<u2", ">u2", "<u4", "<u8"]
FLOATS = ["<f2", "<f4", ">f4", "<f8", ">f8"]
FIXED = [*INTEGERS, *FLOATS, "|b1", "<c8", ">c16", "|S5", "<U3", "|V3", "<M8[ns]", "<m8[25s]"]
LZMA1, LZMA2 = 0x4000000000000001, 0x21
TEXTS = ["", "a", "grün", "東京", "\U0001f980", "b\x00c", "quote \" \\ /", "x" * 70]


def shape_of(rng, ranks=(0, 1, 1, 2, 2, 3)):
    return tuple(int(rng.integers(1, 9)) for _ in range(values.pick(rng, ranks)))


def fixed(rng, dtypes=FIXED, ranks=(0, 1, 1, 2, 2, 3)):
    """An array of numbers, texts or bytes: any, or such as compress well."""
    dtype, shape = np.dtype(values.pick(rng, dtypes)), shape_of(rng, ranks)
    count = int(np.prod(shape))
    if dtype.kind in "iuf" and rng.random() < 0.5:
        return np.cumsum(rng.integers(-2, 3, count)).astype(dtype).reshape(shape)
    return values.scalars(rng, dtype, count).astype(dtype).reshape(shape)


def finite(rng, dtypes, spread, ranks=(0, 1, 1, 2, 2, 3)):
    """Numbers that are of one magnitude."""
    dtype, shape = np.dtype(values.pick(rng, dtypes)), shape_of(rng, ranks)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(max(info.min, -spread), min(info.max, spread) + 1, shape).astype(dtype)
    return (rng.standard_normal(shape) * spread).astype(dtype)


def objects(rng, one, ranks=(0, 1, 1, 2, 2)):
    array = np.empty(shape_of(rng, ranks), dtype=object)
    for index in np.ndindex(*array.shape):
        array[index] = one()
    return array


def of_bytes(parameters):
    """Cases of a codec of bytes, which is a filter or the compressor."""

    def case(rng):
        array, configuration = fixed(rng), parameters(rng)
        return (array, [configuration], None) if rng.random() < 0.3 else (array, [], configuration)

    return case


def filtered(case):
    """Cases of an array and the configuration of its filter; at times the output of the filter is compressed."""

    def with_compressor(rng):
        array, configuration = case(rng)
        compressor = {"id": "zlib", "level": 1} if rng.random() < 0.3 else None
        return array, [configuration], compressor

    return with_compressor


def blosc(rng):
    name = values.pick(rng, [name for name in numcodecs.blosc.list_compressors() if name != "snappy"])
    return {"cname": name, "clevel": int(rng.integers(0, 10)), "shuffle": int(rng.integers(-1, 3)),
            "blocksize": values.pick(rng, [0, 0, 64, 256])}


def lzma(rng):
    form = values.pick(rng, [1, 1, 2, 3])
    preset = values.pick(rng, [None, 0, 1, 5, 9])
    if form != 3:
        return {"format": form, "check": values.pick(rng, [-1, 0, 1, 4, 10]) if form == 1 else -1, "preset": preset, "filters": None}
    last = {"id": values.pick(rng, [LZMA1, LZMA2]), "preset": preset or 0}
    first = values.pick(rng, [[], [{"id": 3, "dist": values.pick(rng, [1, 2, 4, 8])}]])
    return {"format": 3, "check": -1, "preset": None, "filters": [*first, last]}


def shuffle(rng):
    # An elementsize that does not divide the bytes is an error in numcodecs.
    array = fixed(rng)
    sizes = [size for size in (1, 2, 3, 4, 8, 16) if array.nbytes % size == 0]
    return array, [{"id": "shuffle", "elementsize": values.pick(rng, sizes)}], values.pick(rng, [None, {"id": "zlib", "level": 1}])


def delta(rng):
    # Which of two NaNs their sum is depends on the processor.
    array = finite(rng, FLOATS, 100) if rng.random() < 0.4 else fixed(rng, [*INTEGERS, "<m8[25s]"])
    configuration = {"id": "delta", "dtype": array.dtype.str}
    if array.dtype.kind in "iu" and rng.random() < 0.5:
        array = np.asarray(array % 50, dtype=array.dtype)
        configuration["astype"] = values.pick(rng, INTEGERS)
    return array, configuration


def fixed_scale_offset(rng):
    array = finite(rng, [*INTEGERS, *FLOATS], values.pick(rng, [10, 200]))
    astype = values.pick(rng, [None, *INTEGERS, *FLOATS])
    offset, scale = values.pick(rng, [0, 1, 7, 0.5, -3.25, 100.7]), values.pick(rng, [1, 2, 10, 0.1, 2.5, -4.0])
    if np.dtype(astype or array.dtype).kind == "u":
        # numpy is not of one mind about negative numbers as unsigned ones.
        array, offset, scale = np.abs(array), min(0, offset) if array.dtype.kind != "u" else 0, abs(scale)
    configuration = {"id": "fixedscaleoffset", "offset": offset, "scale": scale, "dtype": array.dtype.str}
    return array, configuration | ({"astype": astype} if astype else {})


def quantize(rng):
    # numpy's scalars, which 0-d arrays become, lose the byte order of `astype`.
    array = finite(rng, FLOATS, values.pick(rng, [1, 100, 3000]), (1, 1, 2, 2, 3))
    configuration = {"id": "quantize", "digits": int(rng.integers(-2, 8)), "dtype": array.dtype.str}
    return array, configuration | values.pick(rng, [{}, {"astype": values.pick(rng, FLOATS)}])


def bitround(rng):
    array = fixed(rng, ["<f2", "<f4", "<f8"])
    return array, {"id": "bitround", "keepbits": int(rng.integers(0, np.finfo(array.dtype).nmant + 1))}


def astype(rng):
    array, other = finite(rng, [*INTEGERS, *FLOATS], 100), values.pick(rng, [*INTEGERS, *FLOATS, "<c16"])
    if np.dtype(other).kind == "u":
        array = np.abs(array)
    return array, {"id": "astype", "encode_dtype": other, "decode_dtype": array.dtype.str}


def categorize(rng):
    labels = [text for text in TEXTS if len(text) < 12 and "\x00" not in text][1 : 2 + int(rng.integers(5))]
    one = lambda: values.pick(rng, [*labels, ""])
    array = objects(rng, one)
    if rng.random() < 0.4:
        array = array.astype("<U12")
    configuration = {"id": "categorize", "labels": labels, "dtype": array.dtype.str}
    return array, configuration | {"astype": values.pick(rng, ["|u1", "|i1", "<u2", ">i4"])}


def vlen_array(rng):
    dtype = np.dtype(values.pick(rng, ["|b1", "|i1", "<i2", ">i4", "<u8", "<f4", ">f8", "<M8[s]"]))
    one = lambda: values.scalars(rng, dtype, int(rng.integers(0, 6))).astype(dtype)
    return objects(rng, one), {"id": "vlen-array", "dtype": dtype.str}


def any_value(rng, with_bytes, depth=0):
    """A value as arrays of objects have it."""
    kind = int(rng.integers(0, 11 if depth < 3 else 8))
    if kind <= 1:
        return [None, True, False][int(rng.integers(3))]
    if kind <= 3:
        return int(rng.integers(-(2**62), 2**62) >> int(rng.integers(0, 62)))
    if kind == 4:
        return values.pick(rng, [0.0, -0.0, 1.5, 1e300, 1 / 3, 1e16, 1e-7, float("nan"), float("inf"), float("-inf")])
    if kind == 5 and with_bytes:
        return rng.bytes(int(rng.integers(0, 40)))
    if kind <= 7:
        return values.pick(rng, TEXTS)
    if kind == 8:
        return {values.pick(rng, TEXTS): any_value(rng, with_bytes, depth + 1) for _ in range(int(rng.integers(0, 4)))}
    return [any_value(rng, with_bytes, depth + 1) for _ in range(int(rng.integers(0, 4)))]


def of_objects(parameters, with_bytes, ranks=(0, 1, 1, 2, 2)):
    def case(rng):
        return objects(rng, lambda: any_value(rng, with_bytes), ranks), parameters(rng)

    return case


def json2(rng):
    flag = lambda: bool(rng.integers(2))
    return {"id": "json2", "ensure_ascii": flag(), "sort_keys": flag(), "indent": values.pick(rng, [None, None, 0, 2])}


def pcodec(rng):
    delta = values.pick(rng, [{}, {"delta_spec": "try_lookback"},
                              {"delta_spec": "try_consecutive", "delta_encoding_order": int(rng.integers(0, 8))}])
    configuration = {"id": "pcodec", "level": int(rng.integers(0, 13)), "mode_spec": values.pick(rng, ["auto", "classic"]),
                     "paging_spec": "equal_pages_up_to", "equal_pages_up_to": values.pick(rng, [262144, 100])}
    return fixed(rng, ["<u2", "<u4", "<u8", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8"], (1, 2, 3)), [], configuration | delta


def zfpy(rng):
    array = finite(rng, ["<i4", "<i8", "<f4", "<f8"], values.pick(rng, [10, 1000]), (1, 2, 3, 4))
    mode = values.pick(rng, [{"mode": 4, "tolerance": -1}, {"mode": 4, "tolerance": values.pick(rng, [1e-6, 0.01, 3.0])},
                             {"mode": 2, "rate": values.pick(rng, [4, 7.3, 16, 40])},
                             {"mode": 3, "precision": values.pick(rng, [8, 17, 32, 64])}])
    return array, [], {"id": "zfpy", **mode}


def level(id, least, most):
    return of_bytes(lambda rng: {"id": id, "level": int(rng.integers(least, most + 1))})


def checksum(id):
    return of_bytes(lambda rng: {"id": id} | values.pick(rng, [{}, {"location": "start"}, {"location": "end"}]))


def plain(id):
    return of_bytes(lambda rng: {"id": id})


CODECS = {
    "blosc": of_bytes(lambda rng: {"id": "blosc", **blosc(rng)}),
    "zstd": of_bytes(lambda rng: {"id": "zstd", "level": int(rng.integers(-5, 20)), "checksum": bool(rng.integers(2))}),
    "zlib": level("zlib", -1, 9),
    "gzip": level("gzip", 0, 9),
    "bz2": level("bz2", 1, 9),
    "lzma": of_bytes(lambda rng: {"id": "lzma", **lzma(rng)}),
    "lz4": of_bytes(lambda rng: {"id": "lz4", "acceleration": int(rng.integers(1, 20))}),
    "shuffle": shuffle,
    "base64": plain("base64"),
    "crc32": checksum("crc32"),
    "crc32c": checksum("crc32c"),
    "adler32": checksum("adler32"),
    "fletcher32": plain("fletcher32"),
    "jenkins_lookup3": of_bytes(lambda rng: {"id": "jenkins_lookup3", "initval": int(rng.integers(0, 2**32)), "prefix": None}),
    "delta": filtered(delta),
    "fixedscaleoffset": filtered(fixed_scale_offset),
    "quantize": filtered(quantize),
    "bitround": filtered(bitround),
    "astype": filtered(astype),
    "packbits": filtered(lambda rng: (fixed(rng, ["|b1"]), {"id": "packbits"})),
    "categorize": filtered(categorize),
    "vlen-utf8": filtered(lambda rng: (objects(rng, lambda: values.pick(rng, TEXTS)), {"id": "vlen-utf8"})),
    "vlen-bytes": filtered(lambda rng: (objects(rng, lambda: rng.bytes(int(rng.integers(0, 9)))), {"id": "vlen-bytes"})),
    "vlen-array": filtered(vlen_array),
    "json2": filtered(of_objects(json2, False)),
    "msgpack2": filtered(of_objects(lambda rng: {"id": "msgpack2", "use_bin_type": True}, True, (1, 1, 2, 3))),
    "pickle": filtered(of_objects(lambda rng: {"id": "pickle", "protocol": int(rng.integers(0, 6))}, True)),
    "pcodec": pcodec,
    "zfpy": zfpy,
}


# Codecs whose chunks of an array with order F zarr-python reads back as another array, or that zfpy does not take.
C_ORDER = {"bitround", "json2", "msgpack2", "zfpy"}


def encode(array, document):
    """As zarr-python encodes a chunk of v2."""
    data = np.asarray(array, order=document["order"])
    for codec in codecs_of(document):
        data = numcodecs.get_codec(codec).encode(data)
    return numcodecs.compat.ensure_bytes(data)


def decode(data, document):
    """As zarr-python decodes a chunk of v2."""
    shape, dtype = document["shape"], np.dtype(document["dtype"])
    for codec in reversed(codecs_of(document)):
        data = numcodecs.get_codec(codec).decode(data)
    data = numcodecs.compat.ensure_ndarray(data)
    if dtype != object:
        data = data.view(dtype)
    return data.reshape(-1, order="A").reshape(shape, order=document["order"])


def codecs_of(document):
    compressor = document["compressor"]
    return [*(document["filters"] or []), *([compressor] if compressor else [])]


def to_json(value):
    """A value of an object array as JSON has it."""
    if isinstance(value, float) and not np.isfinite(value):
        return {"$float": "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {name: to_json(item) for name, item in value.items()}
    return value


def to_bytes(array, codec):
    if codec in ("json2", "msgpack2", "pickle"):
        array = objects_like(array, lambda value: b"" if value is None else json.dumps(to_json(value), sort_keys=True).encode())
    if codec == "vlen-array":
        array = objects_like(array, lambda value: manifest.little(value).tobytes())
    return manifest.to_bytes(array)


def objects_like(array, change):
    changed = np.empty(array.shape, dtype=object)
    for index in np.ndindex(*array.shape):
        changed[index] = change(array[index])
    return changed


def cases(rng, codec, count):
    """Cases that numcodecs takes; the array as it went in, the document, the chunk and the array as it comes out."""
    made = 0
    for _ in range(50 * count):
        array, filters, compressor = CODECS[codec](rng)
        order = "C" if codec in C_ORDER else values.pick(rng, ["C", "C", "F"])
        document = {"zarr_format": 2, "shape": list(array.shape), "chunks": list(array.shape), "dtype": array.dtype.str,
                    "order": order, "fill_value": None, "filters": filters or None, "compressor": compressor}
        try:
            chunk = encode(array, document)
            decoded = decode(chunk, document)
        except (ValueError, OverflowError, RuntimeError, TypeError):
            # No case: a first delta that does not fit, lists that are taken for dimensions, the few chunks of pcodec that
            # it does not read itself.
            continue
        yield array, document, chunk, decoded
        made += 1
        if made == count:
            return
    sys.exit(f"{codec}: only {made} cases")


def write(folder, count, seed):
    with open(folder / "cases.jsonl", "w") as lines, open(folder / "values.bin", "wb") as file:
        for number, codec in enumerate(CODECS):
            rng = np.random.default_rng([seed, number])
            for case, (array, document, chunk, decoded) in enumerate(cases(rng, codec, count)):
                path = f"{codec}/{case}"
                store = folder / "theirs" / path
                store.mkdir(parents=True)
                (store / ".zarray").write_text(json.dumps(document))
                (store / key(document)).write_bytes(chunk)
                line = {"codec": codec, "path": path}
                for name, elements in [("input", array), ("decoded", decoded)]:
                    data = to_bytes(elements, codec)
                    line[name] = [file.tell(), len(data)]
                    file.write(data)
                lines.write(json.dumps(line) + "\n")


def key(document):
    return ".".join("0" for _ in document["shape"]) or "0"


def read(folder):
    data = (folder / "values.bin").read_bytes()
    for line in map(json.loads, open(folder / "cases.jsonl")):
        store = folder / "ours" / line["path"]
        if line["codec"] == "pickle":
            continue
        try:
            document = json.loads((store / ".zarray").read_text())
            found = to_bytes(decode((store / key(document)).read_bytes(), document), line["codec"])
            offset, size = line["decoded"]
            difference = None if same(found, data[offset : offset + size], line["codec"]) else "other elements"
        except Exception as error:
            difference = f"{type(error).__name__}: {error}"
        if difference:
            print(json.dumps({"path": line["path"], "difference": difference}), flush=True)


def same(found, expected, codec):
    if codec in ("json2", "msgpack2"):
        return [*map(json.loads, items(found))] == [*map(json.loads, items(expected))]
    return found == expected


def items(data):
    """The JSON texts of object arrays, `null` where nothing is."""
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        yield data[at + 4 : at + 4 + size] or b"null"
        at += 4 + size


def main():
    warnings.simplefilter("ignore")
    # It reads only pickles that this script made.
    numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE = True
    task, folder, *rest = sys.argv[1:]
    if task == "write":
        write(Path(folder), int(rest[0]), int(rest[1]))
    else:
        read(Path(folder))


if __name__ == "__main__":
    main()
