"""The common part of the scripts `vectors.py` of the codec crates: cases made by numcodecs, a line of JSON each.

    python vectors.py COUNT SEED > vectors.jsonl    # the cases that tests/vectors.rs decodes
    python vectors.py --check OURS                  # the cases that it wrote with VECTORS_OUT=OURS, decoded by numcodecs
"""
import json, sys
import numpy as np
import numcodecs


def run(make, check):
    """Prints the case that `make(number, rng)` gives for each of COUNT numbers, or checks each case in OURS."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--check":
        cases = [json.loads(line) for line in open(sys.argv[2])]
        for case in cases:
            assert check(case), case
        return print(len(cases), "cases by this crate decode with numcodecs", numcodecs.__version__)
    rng = np.random.default_rng(int(sys.argv[2]))
    for number in range(int(sys.argv[1])):
        print(json.dumps(make(number, rng), separators=(",", ":")))


def of_bytes(id, parameters, decode=None):
    """Cases of a codec of bytes. `parameters(rng)` gives a configuration and a divisor of the lengths."""
    decode = decode or (lambda configuration, data: numcodecs.get_codec({"id": id, **configuration}).decode(data))

    def make(number, rng):
        configuration, unit = parameters(rng)
        length = int(rng.integers(0, (300 if int(sys.argv[1]) < 100 else 20000) // unit + 1)) * unit
        if number % 3 == 0:
            data = rng.bytes(length // 4)
        else:
            kind = str(rng.choice(["<i2", "<i4", "<f4", "<f8"]))
            data = np.cumsum(rng.integers(-3, 4, length + 1)).astype(kind).tobytes()[:length]
        data = data[: len(data) // unit * unit]
        encoded = numcodecs.get_codec({"id": id, **configuration}).encode(data)
        return {"configuration": configuration, "decoded": data.hex(), "encoded": bytes(encoded).hex()}

    def check(case):
        return bytes(decode(case["configuration"], bytes.fromhex(case["encoded"]))).hex() == case["decoded"]

    run(make, check)


def of_numbers(id, types, parameters, lossy=False, encode=None, decode=None):
    """Cases of a codec of arrays of numbers. `parameters(rng)` gives a configuration. If the codec is `lossy`, numbers are finite and
    none of the smallest. `encode(number, array, configuration)` and `decode(case, encoded)` may do otherwise than numcodecs: they
    give a name, a configuration and bytes, or the array; or None to leave it to numcodecs."""
    codec = lambda configuration: numcodecs.get_codec({"id": id, **configuration})

    def numbers(rng, dtype, length):
        match int(rng.integers(4)):
            case 0:
                return np.frombuffer(rng.bytes(length * np.dtype(dtype).itemsize), dtype)
            case 1:
                return np.cumsum(rng.integers(0, 50, length)).astype(dtype)
            case 2:
                wide = (rng.normal(size=length) * 100).round(1).astype("f8")
                return wide.astype("i8" if dtype[0] == "u" else dtype).astype(dtype)
            case _:
                return np.full(length, rng.integers(0, 3)).astype(dtype)

    def make(number, rng):
        most = 200 if int(sys.argv[1]) < 100 else 20000
        dtype, rank = str(rng.choice(types)), int(rng.integers(1, 5))
        shape = [int(rng.integers(1, int(most ** (1 / rank)) + 1)) for _ in range(rank)]
        data = numbers(rng, dtype, int(np.prod(shape)))
        if dtype[0] == "f" and lossy:
            # Of blocks of numbers close to the smallest there are, zfp 1.0.1 loses values.
            data = np.where(np.isfinite(data) & (np.abs(data) > np.finfo(dtype).tiny * 1e9), data, 1).astype(dtype)
        data = data.reshape(shape)
        configuration = parameters(rng)
        encoded = codec(configuration).encode(data)
        decoded = np.asarray(codec(configuration).decode(encoded)).tobytes()
        name = f"numcodecs.{id}"
        name, configuration, encoded = encode and encode(number, data, configuration) or (name, configuration, encoded)
        case = {"name": name, "configuration": configuration, "dtype": np.dtype(dtype).name, "shape": shape}
        case |= {"data": data.tobytes().hex()} if decoded != data.tobytes() else {}
        return case | {"decoded": decoded.hex(), "encoded": bytes(encoded).hex()}

    def check(case):
        encoded = bytes.fromhex(case["encoded"])
        decoded = decode and decode(case, encoded)
        decoded = codec(case["configuration"]).decode(encoded) if decoded is None else decoded
        return np.asarray(decoded).tobytes().hex() == case["decoded"]

    run(make, check)


def of_objects(id, make_case, plain):
    """Cases of a codec of objects. `make_case(rng, shape)` gives a configuration, a data type and an array of objects;
    `plain(value)` the value as this workspace has it in JSON."""

    def make(number, rng):
        shape = [[5], [2, 3], [1], [4, 1, 2]][number % 4]
        configuration, data_type, array = make_case(rng, shape)
        codec = numcodecs.get_codec({"id": id, **configuration})
        encoded = bytes(codec.encode(array))
        values = [plain(value) for value in array.reshape(-1)]
        return {"configuration": configuration, "data_type": data_type, "shape": shape, "values": values, "encoded": encoded.hex()}

    def check(case):
        codec = numcodecs.get_codec({"id": id, **case["configuration"]})
        found = np.asarray(codec.decode(bytes.fromhex(case["encoded"])), dtype=object).reshape(-1)
        return [plain(value) for value in found] == case["values"]

    run(make, check)


def plain(value):
    """A value of Python as JSON has it, or the object that stands for it."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"$float": "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, bytes):
        import base64

        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


def any_value(rng, with_bytes, depth=0):
    """A value as arrays of objects have it."""
    text = lambda: "".join(rng.choice(list("aZ \"\\\n\tü東🦀\x00\x7f/"), int(rng.integers(0, 40 if depth == 0 else 4))))
    kind = int(rng.integers(0, 11 if depth < 3 else 8))
    if kind == 0:
        return None
    if kind == 1:
        return bool(rng.integers(2))
    if kind in (2, 3):
        bits = int(rng.choice([3, 7, 8, 15, 16, 31, 32, 63]))
        return int(rng.integers(-(2**bits), 2**bits - 1, dtype=np.int64))
    if kind == 4:
        return float(rng.choice([0.0, -0.0, 1.5, 1e300, 1 / 3, 1e16, 1e-7, float("nan"), float("inf"), float("-inf")]))
    if kind == 5 and with_bytes:
        return rng.bytes(int(rng.integers(0, 40)))
    if kind <= 7:
        return text()
    if kind == 8:
        return {text(): any_value(rng, with_bytes, depth + 1) for _ in range(int(rng.integers(0, 4)))}
    return [any_value(rng, with_bytes, depth + 1) for _ in range(int(rng.integers(0, 4)))]


def objects(rng, shape, one):
    """An array of objects, each made by `one()`."""
    array = np.empty(shape, dtype=object)
    for index in np.ndindex(*shape):
        array[index] = one()
    return array
