import base64, json, sys
import numpy as np
import numcodecs

HELP = """Vectors by numcodecs.

    python vectors.py COUNT SEED > vectors.jsonl    # what tests/vectors.rs decodes
    python vectors.py --check OURS                  # what it wrote with VECTORS_OUT=OURS, decoded by numcodecs
"""
b64 = lambda data: base64.b64encode(bytes(data)).decode()
ID = "shuffle"


def parameters(rng):
    size = int(rng.choice([0, 1, 2, 3, 4, 5, 8, 12, 16, 33]))
    return {"elementsize": size}, max(size, 1)


def decode(configuration, data):
    return numcodecs.get_codec({"id": ID, **configuration}).decode(data)


def main():
    if len(sys.argv) != 3:
        sys.exit(HELP)
    if sys.argv[1] == "--check":
        count = 0
        for line in open(sys.argv[2]):
            case = json.loads(line)
            decoded = bytes(decode(case["configuration"], base64.b64decode(case["encoded"])))
            assert decoded == base64.b64decode(case["decoded"]), line
            count += 1
        return print(count, "cases by this crate decode with numcodecs", numcodecs.__version__)
    count, rng = int(sys.argv[1]), np.random.default_rng(int(sys.argv[2]))
    for number in range(count):
        configuration, unit = parameters(rng)
        length = int(rng.integers(0, (300 if count < 100 else 20000) // unit + 1)) * unit
        if number % 3 == 0:
            data = rng.bytes(length // 4)
        else:
            kind = str(rng.choice(["<i2", "<i4", "<f4", "<f8"]))
            data = np.cumsum(rng.integers(-3, 4, length + 1)).astype(kind).tobytes()[:length]
        data = data[: len(data) // unit * unit]
        codec = numcodecs.get_codec({"id": ID, **configuration})
        case = {"configuration": configuration, "decoded": b64(data), "encoded": b64(codec.encode(data))}
        print(json.dumps(case, separators=(",", ":")))


main()
