"""Writes the tables of colours and the pixels that numpy makes with them: `python tables.py`, with matplotlib 3.11 and numpy.

`src/tables/*.rgb` are the tables, `tests/numpy.rgb` the pixels of each map in the order of `ColorMap::ALL`, 24 rows of 32, for the values of
`plane()`, from -1 to 1: `table[min(255, int(256 * fraction))]`, and grey for NaN.
"""

import pathlib

import numpy as np
from matplotlib import colormaps

HERE = pathlib.Path(__file__).parent
EVEN = ["viridis", "cividis", "magma", "inferno", "plasma", "gray", "RdBu", "coolwarm"]


def plane():
    y, x = np.mgrid[0:24, 0:32]
    values = (x * 37 + y * 91) % 257 / 100 - 1.25
    values[5, 7] = np.nan
    values[23, 31] = np.inf
    return values


def table(name, count=256):
    return np.rint(colormaps[name](np.arange(count))[:, :3] * 255).astype(np.uint8)


def pixels(colors, values):
    count = len(colors)
    fraction = (values + 1) / 2
    index = np.clip(np.nan_to_num(fraction, nan=0) * count, 0, count - 1).astype(int)
    return np.where(np.isnan(values)[..., None], np.uint8(128), colors[index])


if __name__ == "__main__":
    everything = []
    for name in EVEN:
        colors = table(name)
        if name != "gray":
            (HERE.parent / "src/tables" / f"{name.lower()}.rgb").write_bytes(colors.tobytes())
        everything.append(pixels(colors, plane()))
    everything.append(pixels(table("tab20", 20), plane()))
    (HERE / "numpy.rgb").write_bytes(np.stack(everything).tobytes())
