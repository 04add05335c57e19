import base64, json, sys
import numpy as np
import numcodecs

HELP = """Vectors by numcodecs.

    python vectors.py COUNT SEED > vectors.jsonl    # what tests/vectors.rs decodes
    python vectors.py --check OURS                  # what it wrote with VECTORS_OUT=OURS, decoded by numcodecs
"""
b64 = lambda data: base64.b64encode(bytes(data)).decode()
ID = "pcodec"
TYPES = ["u2", "u4", "u8", "i2", "i4", "i8", "f2", "f4", "f8"]
LOSSY = False


def parameters(rng):
    pick = lambda *choice: choice[rng.integers(len(choice))]
    delta = pick({}, {"delta_spec": "auto", "delta_encoding_order": pick(0, 1, 3)}, {"delta_spec": "no_op"})
    delta = pick(delta, {"delta_spec": "none"}, {"delta_spec": "try_lookback"}, {
        "delta_spec": "try_consecutive", "delta_encoding_order": pick(0, 1, 2, 7)
    })
    return {"level": int(rng.integers(0, 13)), "mode_spec": pick("auto", "classic"), **delta,
            "paging_spec": "equal_pages_up_to", "equal_pages_up_to": pick(262144, 100, 1000)}


def main():
    if len(sys.argv) != 3:
        sys.exit(HELP)
    if sys.argv[1] == "--check":
        count = 0
        for line in open(sys.argv[2]):
            case = json.loads(line)
            codec = numcodecs.get_codec({"id": ID, **case["configuration"]})
            decoded = np.asarray(codec.decode(base64.b64decode(case["encoded"])))
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
            data = np.where(np.isfinite(data), data, 1).astype(dtype)
        data = data.reshape(shape)
        configuration = parameters(rng)
        codec = numcodecs.get_codec({"id": ID, **configuration})
        encoded = codec.encode(data)
        decoded = np.asarray(codec.decode(encoded))
        case = {"configuration": configuration, "dtype": np.dtype(dtype).name, "shape": shape}
        case |= {"data": b64(data.tobytes())} if LOSSY and decoded.tobytes() != data.tobytes() else {}
        case |= {"decoded": b64(decoded.tobytes()), "encoded": b64(encoded)}
        print(json.dumps(case, separators=(",", ":")))


main()
