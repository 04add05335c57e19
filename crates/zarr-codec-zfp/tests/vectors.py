import base64, json, sys
import numpy as np
import numcodecs
import zfpy

HELP = """Vectors by numcodecs.

    python vectors.py COUNT SEED > vectors.jsonl    # what tests/vectors.rs decodes
    python vectors.py --check OURS                  # what it wrote with VECTORS_OUT=OURS, decoded by numcodecs
"""
b64 = lambda data: base64.b64encode(bytes(data)).decode()
ID = "zfpy"
TYPES = ["i4", "i8", "f4", "f8"]
# Numbers that are no finite ones have no meaning to the lossy modes.
LOSSY = True


def parameters(rng):
    pick = lambda *choice: choice[rng.integers(len(choice))]
    return pick(
        {"mode": 4, "tolerance": -1},
        {"mode": 4, "tolerance": pick(0, 1e-6, 0.01, 0.5, 3.0, 1e5)},
        # Below 3 bits, those of a block's exponent alone, zfp 1.0.1 writes beyond its buffer.
        {"mode": 2, "rate": pick(3, 4, 7.3, 16, 40, 64)},
        {"mode": 3, "precision": pick(1, 8, 17, 32, 64)},
    )


def plain(configuration):
    """Codec `zfp` of version 3: the stream without its header."""
    for mode, member in (2, "rate"), (3, "precision"), (4, "tolerance"):
        if configuration["mode"] == mode and configuration[member] >= 0:
            return {"mode": {2: "fixed_rate", 3: "fixed_precision", 4: "fixed_accuracy"}[mode], member: configuration[member]}
    return {"mode": "reversible"}


def parameter(configuration):
    return {name: value for name, value in configuration.items() if name != "mode"}


def main():
    if len(sys.argv) != 3:
        sys.exit(HELP)
    if sys.argv[1] == "--check":
        count = 0
        for line in open(sys.argv[2]):
            case = json.loads(line)
            encoded = base64.b64decode(case["encoded"])
            if case["name"] == "zfp":
                kind = zfpy.dtype_to_ztype(np.dtype(case["dtype"]))
                decoded = zfpy._decompress(encoded, kind, case["shape"], **parameter(case["configuration"]))
            else:
                decoded = np.asarray(numcodecs.get_codec({"id": ID, **case["configuration"]}).decode(encoded))
            assert decoded.tobytes() == base64.b64decode(case["decoded"]), line
            count += 1
        return print(count, "cases by this crate decode with numcodecs", numcodecs.__version__)
    count, rng = int(sys.argv[1]), np.random.default_rng(int(sys.argv[2]))
    most = 200 if count < 100 else 20000
    for number in range(count):
        dtype = str(rng.choice(TYPES))
        rank = int(rng.integers(1, 5))
        shape = [int(rng.integers(1, int(most ** (1 / rank)) + 1)) for _ in range(rank)]
        match int(rng.integers(4)):
            case 0:
                data = np.frombuffer(rng.bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize), dtype)
            case 1:
                data = np.cumsum(rng.integers(0, 50, int(np.prod(shape)))).astype(dtype)
            case 2:
                data = (rng.normal(size=int(np.prod(shape))) * 100).round(1).astype("f8").astype("i8" if dtype[0] == "u" else dtype).astype(dtype)
            case _:
                data = np.full(int(np.prod(shape)), rng.integers(0, 3)).astype(dtype)
        if dtype[0] == "f" and LOSSY:
            # Of blocks of numbers close to the smallest there are, zfp 1.0.1 loses values.
            data = np.where(np.isfinite(data) & (np.abs(data) > np.finfo(dtype).tiny * 1e9), data, 1).astype(dtype)
        data = data.reshape(shape)
        configuration = parameters(rng)
        codec = numcodecs.get_codec({"id": ID, **configuration})
        encoded = codec.encode(data)
        decoded = np.asarray(codec.decode(encoded))
        name = "numcodecs.zfpy"
        if number % 2:
            name, configuration = "zfp", plain(configuration)
            encoded = zfpy.compress_numpy(data, write_header=False, **parameter(configuration))
        case = {"name": name, "configuration": configuration, "dtype": np.dtype(dtype).name, "shape": shape}
        case |= {"data": b64(data.tobytes())} if LOSSY and decoded.tobytes() != data.tobytes() else {}
        case |= {"decoded": b64(decoded.tobytes()), "encoded": b64(encoded)}
        print(json.dumps(case, separators=(",", ":")))


main()
