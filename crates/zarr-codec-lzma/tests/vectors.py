import base64, json, sys
import numpy as np
import numcodecs

HELP = """Vectors by numcodecs.

    python vectors.py COUNT SEED > vectors.jsonl    # what tests/vectors.rs decodes
    python vectors.py --check OURS                  # what it wrote with VECTORS_OUT=OURS, decoded by numcodecs
"""
b64 = lambda data: base64.b64encode(bytes(data)).decode()
ID = "lzma"
LZMA1, LZMA2 = 0x4000000000000001, 0x21


def parameters(rng):
    pick = lambda *choice: choice[rng.integers(len(choice))]
    form = pick(1, 1, 2, 3, 3)
    preset = pick(0, 1, 2, 3, 4, 5, 6, 2**31 + 1, 2**31 + 5, 9)
    if form != 3 and rng.random() < 0.6:
        return {"format": form, "check": pick(-1, 0, 1, 4, 10) if form == 1 else -1, "preset": preset, "filters": None}, 1
    last = {"id": {1: LZMA2, 2: LZMA1}.get(form) or pick(LZMA1, LZMA2), "preset": preset}
    if rng.random() < 0.5:
        lc = pick(0, 1, 3, 4)
        last |= {"lc": lc, "lp": pick(*range(5 - lc)), "pb": pick(0, 2, 4), "dict_size": pick(4096, 5000, 1 << 20)}
    if rng.random() < 0.3:
        last |= {"mode": pick(1, 2), "nice_len": pick(5, 32, 273), "mf": pick(3, 4, 0x12, 0x13, 0x14), "depth": pick(0, 7)}
    filters = []
    if form != 2:
        for _ in range(pick(0, 1, 1, 2, 3)):
            one = pick(3, 3, 4, 5, 6, 7, 8, 9)
            filters.append({"id": one, "dist": pick(1, 2, 4, 8, 256)} if one == 3 else {"id": one})
            if one != 3 and rng.random() < 0.4:
                filters[-1]["start_offset"] = 16 * pick(0, 1, 1000)
    return {"format": form, "check": -1, "preset": None, "filters": filters + [last]}, 1


def decode(configuration, data):
    # Python takes filters for raw data only; the others say what they went through.
    filters = configuration["filters"] if configuration["format"] == 3 else None
    return numcodecs.get_codec({"id": ID, **configuration, "filters": filters}).decode(data)


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
