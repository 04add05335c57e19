"""Writes random data sets with xarray, and compares them with what xarray finds in them after conversions.

    meaning.py write FOLDER COUNT SEED    data sets `set-N` into FOLDER, some in Zarr v2 and some in v3
    meaning.py compare FOLDER             each `set-N` with `set-N.there` and `set-N.back`; a line of JSON for each
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import xarray
import zarr

import values
from values import pick

KINDS = [
    "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "b1",
    "S", "U", "str", "datetime", "timedelta", "packed", "masked",
]  # fmt: skip


def elements(rng, kind: str, shape: tuple):
    """The elements of a variable, and the ones that an encoding may take for missing."""
    if kind in ("datetime", "timedelta"):
        days = rng.integers(0, 400, shape).astype("m8[D]").astype("m8[ns]")
        found = np.datetime64("2001-01-01", "ns") + days if kind == "datetime" else days
        found = np.asarray(found)
        if rng.random() < 0.3:
            found = np.where(rng.random(shape) < 0.2, np.array("NaT", found.dtype), found)
        return found
    if kind in ("packed", "masked"):
        return np.where(rng.random(shape) < 0.2, np.nan, rng.normal(280, 10, shape))
    if kind in ("S", "U", "str"):
        words = np.array([pick(rng, ["", "a", "bc", "d\u00e9f" if kind != "S" else "def"]) for _ in range(int(np.prod(shape)))])
        words = words.reshape(shape)
        if kind == "S":
            return np.char.encode(words, "ascii").astype("S3") if words.size else np.zeros(shape, "S3")
        return words.astype("U3") if kind == "U" else words.astype(object)
    if kind == "b1":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in ("c8", "c16"):
        return (rng.integers(-3, 3, shape) + 1j * rng.integers(-3, 3, shape)).astype(kind)
    if kind[0] == "f":
        return np.where(rng.random(shape) < 0.1, np.nan, rng.integers(-3, 4, shape)).astype(kind)
    return rng.integers(0, 5, shape).astype(kind)


def fill(rng, kind: str, zarr_format: int):
    """An encoding that marks missing data, or nothing."""
    if kind == "packed":
        encoding = {"dtype": pick(rng, ["i2", "u2", "i4"]), "scale_factor": 0.01, "add_offset": 200.0, "_FillValue": 9999}
        if rng.random() < 0.3:
            encoding["missing_value"] = 9999
        return encoding
    if kind == "masked":
        return {"dtype": pick(rng, ["f4", "f8"]), "_FillValue": pick(rng, [-999.0, 0.1, 1e20, float("inf"), float("nan")])}
    if kind == "datetime":
        return pick(rng, [{}, {"dtype": "f8"}, {"dtype": "i8", "_FillValue": -1}, {"units": "hours since 2000-01-01"}])
    if kind == "timedelta":
        return pick(rng, [{}, {"dtype": "i8", "_FillValue": -1}])
    if rng.random() < 0.4:
        return {}
    if kind in ("U", "str", "S"):
        # Of version 3 xarray (2026.9) cannot read what it writes itself. Of bytes of version 2, nothing says the same in version 3.
        if kind == "S" or zarr_format == 3:
            return {}
        return {"_FillValue": pick(rng, ["", "a", "zz"])}
    if kind == "b1":
        return {"_FillValue": bool(rng.integers(2))}
    if kind[0] == "c":
        return {"_FillValue": pick(rng, [0j, 1 + 2j])}
    if kind[0] == "f":
        return {"_FillValue": pick(rng, [None, 0.0, 2.0, -1.5, float("nan"), float("-inf")])}
    return {"_FillValue": pick(rng, [None, 0, 1, 3, 100])}


def attributes(rng) -> dict:
    found = {"long_name": pick(rng, values.WORDS), "number": int(rng.integers(100))}
    if rng.random() < 0.2:
        found["odd"] = pick(rng, [float("nan"), [float("inf"), 1.5], float("-inf")])
    return found


def data_set(rng, zarr_format: int) -> tuple[xarray.Dataset, dict]:
    sizes = {name: int(rng.integers(1, 9)) for name in ("x", "y", "z")}
    variables, encoding = {}, {}
    scalars_only = rng.random() < 0.1
    for number in range(int(rng.integers(1, 6))):
        kind = pick(rng, KINDS)
        dims = [] if scalars_only else [name for name in sizes if rng.random() < 0.6]
        shape = tuple(sizes[name] for name in dims)
        name = f"v{number}"
        variables[name] = xarray.Variable(dims, elements(rng, kind, shape), attributes(rng))
        encoding[name] = fill(rng, kind, zarr_format)
        if dims and rng.random() < 0.7:
            encoding[name]["chunks"] = tuple(int(rng.integers(1, size + 1)) for size in shape)
        # Chunks of nothing but the fill value of Zarr are not stored.
        encoding[name]["write_empty_chunks"] = bool(rng.integers(2))
        if zarr_format == 3 and kind in ("f4", "f8", "i4", "i8") and rng.random() < 0.3:
            encoding[name]["fill_value"] = np.dtype(kind).type(2)
    coordinates = {}
    if not scalars_only and rng.random() < 0.6:
        coordinates["x"] = ("x", np.arange(sizes["x"]) * pick(rng, [1, 0.5]), {"units": "m"})
    if rng.random() < 0.4:
        coordinates["height"] = ((), 2.0)
    return xarray.Dataset(variables, coordinates, attributes(rng)), encoding


def write(folder: Path, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number in range(count):
        zarr_format = pick(rng, [2, 3])
        dataset, encoding = data_set(rng, zarr_format)
        consolidated = bool(rng.integers(2))
        dataset.to_zarr(folder / f"set-{number}", zarr_format=zarr_format, consolidated=consolidated, encoding=encoding)


def opened(path: Path, consolidated) -> xarray.Dataset:
    with xarray.open_zarr(path, consolidated=consolidated, chunks=None) as dataset:
        return dataset.load()


def compare(folder: Path) -> None:
    for path in sorted(folder.glob("set-*[0-9]"), key=lambda path: int(path.name[4:])):
        found, before = [], opened(path, False)
        formats = [zarr.open_group(path, mode="r").metadata.zarr_format]
        for step in ("there", "back"):
            converted = path.with_name(f"{path.name}.{step}")
            try:
                formats.append(zarr.open_group(converted, mode="r", use_consolidated=False).metadata.zarr_format)
                for consolidated in (False, None):
                    after = opened(converted, consolidated)
                    found += [f"{step}: {line}" for line in differences(before, after)]
            except Exception as error:
                found.append(f"{step}: {type(error).__name__}: {error}")
        if formats != [formats[0], 5 - formats[0], formats[0]]:
            found.append(f"formats {formats}")
        print(json.dumps({"id": path.name, "differences": found}), flush=True)


def differences(before: xarray.Dataset, after: xarray.Dataset) -> list[str]:
    if before.identical(after):
        return []
    found = []
    for name in {**before.variables, **after.variables}:
        if name not in before.variables or name not in after.variables:
            found.append(f"{name} is only in one of both")
        elif not before[name].variable.identical(after[name].variable):
            one, other = before[name].variable, after[name].variable
            found.append(f"{name}: {one.dtype} {one.attrs} {one.values!r} is {other.dtype} {other.attrs} {other.values!r}")
        elif before[name].dtype != after[name].dtype:
            found.append(f"{name}: {before[name].dtype} is {after[name].dtype}")
        elif (name in before.coords) != (name in after.coords):
            found.append(f"{name} is a coordinate in one of both")
    return found or [f"{before.attrs} is {after.attrs}"]


def main() -> None:
    warnings.simplefilter("ignore")
    task, folder, *rest = sys.argv[1:]
    if task == "write":
        write(Path(folder), int(rest[0]), int(rest[1]))
    else:
        compare(Path(folder))


if __name__ == "__main__":
    main()
