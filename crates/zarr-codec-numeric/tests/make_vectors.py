"""Makes vectors.json.gz: chunks as numcodecs, zarr-python, cast-value-rs and ml_dtypes encode and decode them.

    python -m venv v && v/bin/pip install numcodecs==0.17.1 zarr==3.4.2 cast-value-rs==0.5.1 ml_dtypes==0.6.0 numpy==2.5.5
    v/bin/python make_vectors.py

200 cases for each codec, always the same. Run it on x86-64: where numbers do not fit an integer type, numpy gives the
result of the processor. Items are base64 of little-endian bytes in C order; null means that the codec refuses.
"""

import base64
import gzip
import json
import pathlib
import random
import warnings

import ml_dtypes
import numcodecs
import numpy as np
from cast_value_rs import cast_array
from zarr.codecs import scale_offset

warnings.simplefilter("ignore")
random.seed(20240229)
rng = np.random.default_rng(20240229)

COUNT = 200
INTS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]
NAMES = {
    "b1": "bool", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
    "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
    "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128",
}
cases = []


def shape():
    return [random.randint(1, 3) for _ in range(random.choice([0, 0, 1, 1, 2]))] + [random.randint(1, 5)]


def integers(dtype, dims, spread=None):
    info = np.iinfo(dtype)
    if spread is None:
        spread = random.choice([8, 100, None])
    if spread is None:
        return rng.integers(info.min, info.max, dims, dtype=dtype, endpoint=True)
    return rng.integers(max(info.min, -spread), min(info.max, spread), dims, dtype=dtype, endpoint=True)


def floats(dtype, dims, spread=None):
    spread = spread or random.choice([1, 100, 3000])
    return (rng.standard_normal(dims) * spread).astype(dtype)


def values(dtype, dims, spread=None):
    kind = np.dtype(dtype).kind
    if kind in "iu":
        return integers(dtype, dims, spread)
    if kind == "c":
        return (floats("f8", dims, spread) + 1j * floats("f8", dims, spread)).astype(dtype)
    if kind == "b":
        return rng.integers(0, 2, dims).astype(bool)
    return floats(dtype, dims, spread)


def text(array):
    array = np.ascontiguousarray(array)
    return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def typestr(dtype):
    dtype = np.dtype(dtype)
    return random.choice([dtype.str, dtype.newbyteorder(">").str])


def add(codec, data_type, configuration, decoded, encoded, back):
    case = {"codec": codec, "type": data_type, "shape": list(decoded.shape), "items": text(decoded)}
    if configuration:
        case["configuration"] = configuration
    case["encoded"] = None if encoded is None else text(encoded)
    if encoded is not None and (back is None or text(back) != case["items"]):
        case["decoded"] = None if back is None else text(back)
    cases.append(case)


def filtered(codec, cls, data_type, configuration, decoded, dtype=None):
    """A filter of numcodecs, in the byte order that its configuration says."""
    dtype = configuration.get("dtype") or configuration.get("decode_dtype") or dtype or decoded.dtype.str
    filter = cls(**{"dtype": dtype, **configuration} if cls not in (numcodecs.AsType, numcodecs.BitRound) else configuration)
    stored = decoded.astype(np.dtype(dtype))
    try:
        encoded = filter.encode(stored)
    except OverflowError:
        # Delta refuses a first element that does not fit, and only that; such a case is made anew.
        return
    back = filter.decode(np.array(encoded)).astype(decoded.dtype).reshape(decoded.shape)
    add(codec, data_type, configuration, decoded, encoded, back)


def delta():
    own = random.choice(INTS + FLOATS + ["c8", "c16", "m8"])
    if own == "m8":
        decoded = integers("i8", shape(), 1000).view("m8[25s]")
        decoded.reshape(-1)[rng.random(decoded.size) < 0.1] = "NaT"
        data_type = {"name": "numpy.timedelta64", "configuration": {"unit": "s", "scale_factor": 25}}
        return filtered("numcodecs.delta", numcodecs.Delta, data_type, {"dtype": "<m8[25s]"}, decoded)
    configuration = {} if random.random() < 0.2 else {"dtype": typestr(own)}
    other = random.choice([None, None, own, random.choice(INTS + FLOATS)])
    if other and np.dtype(own).kind != "c":
        configuration["astype"] = typestr(other)
    cut = np.dtype(own).kind == "f" and np.dtype(configuration.get("astype", own)).kind in "iu"
    decoded = values(own, shape(), 30 if cut else None)
    filtered("numcodecs.delta", numcodecs.Delta, NAMES[own], configuration, decoded)


def fixed_scale_offset():
    own = random.choice(INTS + FLOATS)
    configuration = {"offset": random.choice([0, 1, 7, 100, 0.5, -3.25, 1000.7, 12.0]),
                     "scale": random.choice([1, 2, 10, 100, 0.1, 2.5, 1e3, -4.0, 1 / 3])}
    if random.random() < 0.8:
        configuration["dtype"] = typestr(own)
    if random.random() < 0.8:
        configuration["astype"] = typestr(random.choice(INTS + FLOATS))
    # Negative numbers beyond the range of u8 and u4 are left out: numpy is not of one mind.
    unsigned = np.dtype(configuration.get("astype", own)).str[1:] in ("u4", "u8")
    decoded = values(own, shape(), random.choice([10, 200]))
    if unsigned:
        decoded = np.abs(decoded.astype("f8")).clip(0, 100).astype(own)
        configuration["offset"], configuration["scale"] = min(0, configuration["offset"]), abs(configuration["scale"])
        if np.dtype(own).kind == "u":
            configuration["offset"] = 0
    filtered("numcodecs.fixedscaleoffset", numcodecs.FixedScaleOffset, NAMES[own], configuration, decoded)


def quantize():
    own = random.choice(FLOATS)
    configuration = {"digits": random.choice([-2, -1, 0, 1, 2, 3, 4, 7, 12])}
    if random.random() < 0.8:
        configuration["dtype"] = typestr(own)
    if random.random() < 0.6:
        configuration["astype"] = typestr(random.choice(FLOATS))
    filtered("numcodecs.quantize", numcodecs.Quantize, NAMES[own], configuration, floats(own, shape()))


def bitround():
    own, most = random.choice([("f2", 10), ("f4", 23), ("f8", 52)])
    keepbits = random.choice([random.randint(0, most), random.randint(0, 8), most])
    decoded = floats(own, shape())
    odd = rng.random(decoded.shape) < 0.2
    decoded[odd] = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.5, 2.5, np.finfo(own).max,
                               np.finfo(own).smallest_subnormal], odd.sum())
    filtered("numcodecs.bitround", numcodecs.BitRound, NAMES[own], {"keepbits": keepbits}, decoded)


def astype():
    own = random.choice(["b1", "c8", "c16"] + 2 * INTS + 3 * FLOATS)
    other = random.choice(["b1", "c8", "c16"] + 2 * INTS + 3 * FLOATS)
    configuration = {"encode_dtype": typestr(other), "decode_dtype": typestr(own)}
    decoded = values(own, shape())
    if own in FLOATS:
        odd = rng.random(decoded.shape) < 0.3
        choice = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-7, -1e-7, 1e30, -1e30, 3e9, -3e9, 1e19, 65519.9, 65520]
        decoded[odd] = rng.choice(choice, odd.sum()).astype(own)
        if other == "u4":
            decoded = np.nan_to_num(decoded, posinf=0, neginf=0).clip(-2e9, 4e9).astype(own)
    filtered("numcodecs.astype", numcodecs.AsType, NAMES[own], configuration, decoded)


def attempt(f):
    try:
        with np.errstate(all="ignore"):
            return f()
    except (ValueError, OverflowError):
        return None


def scale_offset_case():
    own = random.choice(INTS + FLOATS)
    unsigned = np.dtype(own).kind == "u"
    if own in FLOATS:
        offset = random.choice([0, 1, 100, -3.25, 0.1])
        scale = random.choice([1, 2, 0.1, -4.0, 1000, 3])
    else:
        offset = random.choice([0, 1, 5, 100] + ([] if unsigned else [-7, -100]))
        scale = random.choice([1, 2, 3, 10] + ([] if unsigned else [-1, -2]))
    decoded = values(own, shape(), random.choice([10, 30, 120]))
    if unsigned and random.random() < 0.8:
        decoded = (decoded.astype("u8") + offset).clip(0, np.iinfo(own).max).astype(own)
    one = decoded.dtype.type
    encoded = attempt(lambda: scale_offset._encode(decoded, one(offset), one(scale)))
    back = None if encoded is None else attempt(
        lambda: scale_offset._decode(encoded, one(offset), one(scale), scale_repr=""))
    configuration = {}
    if offset != 0 or random.random() < 0.5:
        configuration["offset"] = offset
    if scale != 1 or random.random() < 0.5:
        configuration["scale"] = scale
    add("scale_offset", NAMES[own], configuration, decoded, encoded, back)


SMALL = ["bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
         "float8_e5m2", "float8_e5m2fnuz", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"]


def small_float():
    name = random.choice(SMALL)
    dtype = np.dtype(getattr(ml_dtypes, name))
    most = float(ml_dtypes.finfo(dtype).max)
    decoded = floats("f4", shape(), 1).astype("f8")
    decoded = (decoded * random.choice([1, most / 8, float(ml_dtypes.finfo(dtype).smallest_subnormal) * 4]))
    decoded = decoded.clip(-most, most).astype("f4")
    encoded = decoded.astype(dtype)
    width = f"u{dtype.itemsize}"
    add("cast_value", "float32", {"data_type": name}, decoded, encoded.view(width), encoded.astype("f4"))


def cast_value():
    if random.random() < 0.2:
        return small_float()
    own, other = random.choice(INTS + 2 * FLOATS), random.choice(INTS + 2 * FLOATS)
    rounding = random.choice(["nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"])
    mode = random.choice([None, "clamp", "wrap"] if other in INTS else [None, "clamp"])
    decoded = values(own, shape(), None if mode else random.choice([3, 60, None]))
    if own in FLOATS:
        decoded = np.where(rng.random(decoded.shape) < 0.3, np.round(decoded) + 0.5, decoded).astype(own)
        if mode:
            odd = rng.random(decoded.shape) < 0.1
            choice = [1e4, -1e4, 1e30, -1e30, 1e39, 3.4028235677973362e38, 3.4028235677973366e38, 65519.9, 65520, -0.0]
            decoded[odd] = rng.choice(choice, odd.sum()).astype(own)
            decoded[~np.isfinite(decoded)] = 7
    else:
        decoded = np.array(decoded)
    configuration = {"data_type": NAMES[other]}
    if rounding != "nearest-even" or random.random() < 0.3:
        configuration["rounding"] = rounding
    if mode:
        configuration["out_of_range"] = mode
    forth, back = None, None
    if random.random() < 0.4:
        key = float("nan") if own in FLOATS else 5
        sentinel = 99 if other in INTS else 99.0
        forth, back = {key: sentinel}, {sentinel: key}
        decoded.reshape(-1)[rng.integers(decoded.size)] = key
        name = "NaN" if own in FLOATS else 5
        configuration["scalar_map"] = {"encode": [[name, sentinel]], "decode": [[sentinel, name]]}

    def cast(array, target, entries):
        return cast_array(array, target_dtype=np.dtype(target), rounding_mode=rounding, out_of_range_mode=mode,
                          scalar_map_entries=entries)

    encoded = attempt(lambda: cast(decoded, other, forth))
    returned = None if encoded is None else attempt(lambda: cast(encoded, own, back))
    add("cast_value", NAMES[own], configuration, decoded, encoded, returned)


for make in [delta, fixed_scale_offset, quantize, bitround, astype, scale_offset_case, cast_value]:
    end = len(cases) + COUNT
    while len(cases) < end:
        make()

path = pathlib.Path(__file__).with_name("vectors.json.gz")
lines = "[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n"
path.write_bytes(gzip.compress(lines.encode(), 9, mtime=0))
refused = sum(case["encoded"] is None for case in cases)
print(len(cases), "cases,", refused, "refused,", path.stat().st_size, "bytes")
