"""Data sets that this library writes, beside the ones that xarray writes: `written.py FOLDER`.

FOLDER has data sets `N.zarr`, which xarray wrote, and `N.v2` and `N.v3`, which this library made of their values. xarray opens both, and
writes the same values itself, `N.x2` and `N.x3`: stored elements, attributes and fill values are compared with these. A line of JSON for
each data set that this library wrote.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import xarray as xr
import zarr

from meaning import differences

# Parts of the encoding of xarray that say how elements are laid out.
LAYOUT = ["chunks", "preferred_chunks", "shards", "compressors", "filters", "serializer", "fill_value"]


def opened(path):
    options = {"consolidated": None, "chunks": None}
    with xr.open_zarr(path, **options) as dataset, xr.open_zarr(path, decode_times=False, **options) as numbers:
        dataset.load()
        for name, variable in dataset.variables.items():
            stored = numbers.variables[name].values
            if variable.dtype == object and stored.dtype.kind == "f" and np.isnan(stored).any():
                # cftime masks missing dates. xarray shows whatever lies beneath: nothing, or the reference date.
                variable.values[np.isnan(stored)] = None
        return dataset


def without_layout(dataset):
    """The data set, with the encoding of values alone."""
    found = dataset.copy()
    for variable in found.variables.values():
        for name in LAYOUT:
            variable.encoding.pop(name, None)
        # Several values for missing data cannot be written.
        missing, fill = (variable.encoding.get(name) for name in ("missing_value", "_FillValue"))
        if missing is not None and fill is not None:
            del variable.encoding["_FillValue" if fill != fill else "missing_value"]
            missing = variable.encoding.get("missing_value")
        if missing is not None and np.ndim(missing):
            variable.encoding["missing_value"] = np.ravel(missing)[0]
    return found


def same(one, other):
    return one == other or (one != one and other != other)


def of_attributes(array):
    attributes = dict(array.attrs)
    for name in ("coordinates",):
        if name in attributes:
            attributes[name] = sorted(attributes[name].split())
    return json.loads(json.dumps(attributes))


def stored_differences(ours, theirs):
    """How the stored arrays of two groups differ."""
    found = []
    ours, theirs = (zarr.open_group(path, mode="r", use_consolidated=False) for path in (ours, theirs))
    if of_attributes(ours) != of_attributes(theirs):
        found.append(f"attributes {dict(ours.attrs)}, xarray has {dict(theirs.attrs)}")
    one, other = dict(ours.arrays()), dict(theirs.arrays())
    if set(one) != set(other):
        return [*found, f"arrays {sorted(one)}, xarray has {sorted(other)}"]
    for name, array in one.items():
        expected = other[name]
        if array.dtype.kind in "UTO" and expected.dtype.kind in "UTO":
            # Of strings that it read of version 3, xarray writes strings of one length in version 2.
            if np.asarray(array[...], object).tolist() != np.asarray(expected[...], object).tolist():
                found.append(f"{name}: stored {array[...]!r}, xarray has {expected[...]!r}")
            continue
        if array.dtype != expected.dtype:
            found.append(f"{name}: dtype {array.dtype}, xarray has {expected.dtype}")
            continue
        if not same(array.fill_value, expected.fill_value):
            found.append(f"{name}: fill value {array.fill_value!r}, xarray has {expected.fill_value!r}")
        before, after = of_attributes(array), of_attributes(expected)
        if "_Unsigned" not in after:
            # xarray loses it where no value marks missing data.
            before.pop("_Unsigned", None)
        if str(before) != str(after):
            if {k: str(v) for k, v in before.items()} != {k: str(v) for k, v in after.items()}:
                found.append(f"{name}: attributes {before}, xarray has {after}")
        values, others = np.asarray(array[...]), np.asarray(expected[...])
        if values.dtype.kind in "fc":
            equal = np.array_equal(values, others, equal_nan=True)
        else:
            equal = np.array_equal(values, others)
        if not equal:
            found.append(f"{name}: stored {values.ravel()[:6]!r}, xarray has {others.ravel()[:6]!r}")
    return found


def compare(original, number, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            before = opened(original)
        except Exception:
            return
    for version in (2, 3):
        path, theirs = folder / f"{number}.v{version}", folder / f"{number}.x{version}"
        refused = folder / f"{number}.v{version}.txt"
        found, by_xarray = [], None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                without_layout(before).to_zarr(theirs, zarr_format=version, mode="w")
                by_xarray = opened(theirs)
            except Exception as error:
                refusal = f"{type(error).__name__}: {error}"
        if refused.exists():
            # What xarray refuses as well, or changes, need not be written.
            is_kept = by_xarray is not None and not differences(before, by_xarray)
            found = [f"refused: {refused.read_text()}"] if is_kept else []
            print(json.dumps({"id": path.name, "refused": True, "differences": found}), flush=True)
            continue
        try:
            with warnings.catch_warnings():
                # xarray warns of data types that zarr-python has before the specification; and of data, not of metadata.
                warnings.simplefilter("error", RuntimeWarning)
                # Of times in floats of 16 bits, which have no limits of int64.
                warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)
                # Of dates that numpy does not have.
                warnings.simplefilter("ignore", xr.SerializationWarning)
                warnings.simplefilter("ignore", zarr.errors.ZarrUserWarning)
                after = opened(path)
        except Exception as error:
            if by_xarray is not None:
                found.append(f"{type(error).__name__}: {error}")
        else:
            is_kept = not differences(before, after)
            if by_xarray is not None and not (is_kept and differences(before, by_xarray)):
                found += differences(by_xarray, after)
                found += stored_differences(path, theirs)
            elif not is_kept:
                found += differences(before, after)
        print(json.dumps({"id": path.name, "refused": by_xarray is None, "differences": found}), flush=True)


def main():
    folder = Path(sys.argv[1])
    for path in sorted(folder.glob("*.zarr"), key=lambda path: int(path.stem)):
        compare(path, path.stem, folder)


main()
