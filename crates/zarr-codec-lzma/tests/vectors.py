import pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "zarr-codec" / "tests"))
import frame
import numcodecs

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
    # Python takes filters for raw data only; the other formats name the filters themselves.
    filters = configuration["filters"] if configuration["format"] == 3 else None
    return numcodecs.get_codec({"id": "lzma", **configuration, "filters": filters}).decode(data)


frame.of_bytes("lzma", parameters, decode)
