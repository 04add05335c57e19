import pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "zarr-codec" / "tests"))
import frame
import numpy as np
import zfpy


def parameters(rng):
    pick = lambda *choice: choice[rng.integers(len(choice))]
    return pick(
        {"mode": 4, "tolerance": -1},
        {"mode": 4, "tolerance": pick(0, 1e-6, 0.01, 0.5, 3.0, 1e5)},
        # Below 3 bits, which hold a block's exponent alone, zfp 1.0.1 writes beyond its buffer.
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


def encode(number, data, configuration):
    """Every second array is one of codec `zfp`."""
    if number % 2:
        return "zfp", plain(configuration), zfpy.compress_numpy(data, write_header=False, **parameter(configuration))


def decode(case, encoded):
    if case["name"] == "zfp":
        kind = zfpy.dtype_to_ztype(np.dtype(case["dtype"]))
        return zfpy._decompress(encoded, kind, case["shape"], **parameter(case["configuration"]))


frame.of_numbers("zfpy", ["i4", "i8", "f4", "f8"], parameters, lossy=True, encode=encode, decode=decode)
