import pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "zarr-codec" / "tests"))
import frame

LABELS = ["red", "grün", "", "a", "🦀", "b\x00c"]


def case(rng, shape):
    labels = LABELS[: int(rng.integers(1, 7))]
    configuration = {"labels": labels, "dtype": "|O", "astype": str(rng.choice(["|u1", "|i1", "<u2", ">i4", "<i8"]))}
    # numcodecs reads elements without a label as the empty text.
    pick = lambda: str(rng.choice([label for label in labels if label] + [""]))
    return configuration, "string", frame.objects(rng, shape, pick).reshape(-1)


frame.of_objects("categorize", case, frame.plain)
