import pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "zarr-codec" / "tests"))
import frame


def parameters(rng):
    pick = lambda *choice: choice[rng.integers(len(choice))]
    delta = pick({}, {"delta_spec": "auto", "delta_encoding_order": pick(0, 1, 3)}, {"delta_spec": "no_op"})
    delta = pick(delta, {"delta_spec": "none"}, {"delta_spec": "try_lookback"}, {
        "delta_spec": "try_consecutive", "delta_encoding_order": pick(0, 1, 2, 7)
    })
    return {"level": int(rng.integers(0, 13)), "mode_spec": pick("auto", "classic"), **delta,
            "paging_spec": "equal_pages_up_to", "equal_pages_up_to": pick(262144, 100, 1000)}


frame.of_numbers("pcodec", ["u2", "u4", "u8", "i2", "i4", "i8", "f2", "f4", "f8"], parameters)
