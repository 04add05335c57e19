import pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "zarr-codec" / "tests"))
import frame
import numpy as np

ID = sys.argv.pop(1)


def case(rng, shape):
    configuration = {}
    if ID == "json2":
        configuration["ensure_ascii"] = bool(rng.integers(2))
        configuration["sort_keys"] = bool(rng.integers(2))
        configuration["indent"] = [None, None, 0, 2, "\t"][rng.integers(5)]
        if rng.integers(2):
            configuration["separators"] = [", ", ": "]
    else:
        configuration["use_bin_type"] = True
    if ID == "pickle":
        # Plain values alone, as any_value gives deep down.
        configuration = {"protocol": int(rng.integers(0, 6))}
        return configuration, "v2_object", frame.objects(rng, shape, lambda: frame.any_value(rng, True, 3))
    array = frame.objects(rng, shape, lambda: frame.any_value(rng, ID != "json2"))
    return configuration, "v2_object", array


frame.of_objects(ID, case, frame.plain)
