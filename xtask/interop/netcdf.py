"""Data sets of version 2 that this library writes, read by netCDF-C: `netcdf.py FOLDER`.

FOLDER has data sets `N.v2`. netCDF-C opens each (`#mode=zarr,file`): dimensions, stored elements and attributes are compared with the ones of
zarr-python. A line of JSON for each, with a count of what netCDF has no type for; such arrays are left out of a copy, for netCDF-C opens no
group that has one.
"""

import json
import shutil
import sys
import warnings
from pathlib import Path

import netCDF4
import numpy as np
import zarr


def unsupported(array):
    """Why netCDF-C has no such array."""
    if array.ndim == 0:
        # It leaves arrays of no dimensions out without a word.
        return "scalar"
    if array.dtype.kind not in "iufS" or array.dtype == np.float16:
        return f"type {array.dtype.kind}{array.dtype.itemsize if array.dtype.kind in 'fc' else ''}"
    return None


def unsupported_value(value):
    """Why netCDF-C has no such attribute, or another value."""
    values = value if isinstance(value, list) else [value]
    kinds = {type(item) for item in values}
    if not values or kinds - {int, float, str} or (isinstance(value, list) and str in kinds):
        return "attribute of another type"
    # The first number is the type of all.
    if type(values[0]) is int and float in kinds:
        return "attribute of integers and floats"
    return None


def reduced(path, target, skipped):
    """A copy without the arrays that netCDF-C has not; the arrays of the copy."""
    shutil.copytree(path, target)
    kept = {}
    for name, array in zarr.open_group(path, mode="r", use_consolidated=False).arrays():
        reason = unsupported(array)
        if reason is None:
            kept[name] = array
            continue
        skipped[reason] = skipped.get(reason, 0) + 1
        shutil.rmtree(target / name)
        consolidated = target / ".zmetadata"
        document = json.loads(consolidated.read_text())
        document["metadata"] = {key: value for key, value in document["metadata"].items() if not key.startswith(f"{name}/")}
        consolidated.write_text(json.dumps(document))
    return kept


def attribute_differences(owner, found, expected, skipped):
    differences = []
    names = set(found.ncattrs()) - {"_FillValue"}
    for name, value in expected.items():
        if name == "_ARRAY_DIMENSIONS":
            continue
        names.discard(name)
        reason = unsupported_value(value)
        if reason:
            skipped[reason] = skipped.get(reason, 0) + 1
            continue
        actual = found.getncattr(name) if name in found.ncattrs() else None
        same = actual == value if isinstance(value, str) else actual is not None and np.array_equal(
            np.ravel(actual), np.ravel(value), equal_nan=not isinstance(actual, str))
        if not same:
            differences.append(f"{owner}: attribute {name} is {actual!r}, expected {value!r}")
    return differences + [f"{owner}: attribute {name} more" for name in sorted(names)]


def texts(values):
    """Byte strings as netCDF-C reads them, which ends them at the first NUL."""
    return [value.split(b"\0")[0].decode() for value in np.ravel(values).tolist()]


def array_differences(name, found, array, skipped):
    differences = attribute_differences(name, found, dict(array.attrs), skipped)
    dimensions = array.attrs["_ARRAY_DIMENSIONS"]
    if list(found.dimensions) != dimensions:
        differences.append(f"{name}: dimensions {found.dimensions}, expected {dimensions}")
    found.set_auto_maskandscale(False)
    values, expected = found[...], array[...]
    if array.dtype.kind == "S":
        same = list(map(str, np.ravel(values).tolist())) == texts(expected)
    else:
        same = values.dtype == expected.dtype and np.array_equal(values, expected, equal_nan=expected.dtype.kind == "f")
    if not same:
        differences.append(f"{name}: {values.dtype} {np.ravel(values)[:6]!r}, expected {expected.dtype} {np.ravel(expected)[:6]!r}")
    return differences


def compare(path, target):
    skipped, differences = {}, []
    kept = reduced(path, target, skipped)
    group = zarr.open_group(path, mode="r", use_consolidated=False)
    try:
        with netCDF4.Dataset(f"file://{target}#mode=zarr,file", "r") as dataset:
            differences += attribute_differences("the group", dataset, dict(group.attrs), skipped)
            if set(dataset.variables) != set(kept):
                differences.append(f"variables {sorted(dataset.variables)}, expected {sorted(kept)}")
            for name in set(dataset.variables) & set(kept):
                differences += array_differences(name, dataset[name], kept[name], skipped)
    except (OSError, RuntimeError) as error:
        differences.append(f"netCDF-C: {error}")
    print(json.dumps({"id": path.name, "arrays": len(kept), "skipped": skipped, "differences": differences}), flush=True)


def main():
    folder = Path(sys.argv[1]).absolute()
    warnings.simplefilter("ignore")
    for path in sorted(folder.glob("*.v2"), key=lambda path: int(path.stem)):
        if (folder / f"{path.name}.txt").exists():
            # Not written to the end.
            continue
        target = folder / f"{path.stem}.netcdf"
        compare(path, target)
        shutil.rmtree(target)


main()
