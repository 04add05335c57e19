"""Files of netCDF-4 and netCDF-3 as data sets, beside xarray's engines ``netcdf4`` and ``h5netcdf``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from zarr_rust.xarray import ZarrRustBackend

# Plugins of filters take the library that was loaded first, which must be that of h5py.
pytest.importorskip("h5py")
import hdf5_files  # noqa: E402, F401

netCDF4 = pytest.importorskip("netCDF4")
h5netcdf = pytest.importorskip("h5netcdf")

FORMATS = ["NETCDF4", "NETCDF4", "NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
CALENDARS = ["standard", "proleptic_gregorian", "noleap", "360_day"]


def numbers(random: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return random.standard_normal(shape).astype(kind)
    return random.integers(0 if kind.kind == "u" else -100, 100, shape).astype(kind)


def variables(group: Any, random: np.random.Generator, is_new: bool) -> None:
    """Variables over the dimensions that a group sees: each has its own type, filters, fill value and attributes."""
    dimensions = [("t", "y", "x"), ("y", "x"), ("x",), (), ("t",), ("bare", "x")]
    types = ["i1", "i2", "i4", "f4", "f8", *(["u1", "u2", "u4", "i8", "u8"] if is_new else [])]
    for number in range(8):
        names = dimensions[random.integers(len(dimensions))]
        dtype = types[random.integers(len(types))]
        options: dict[str, Any] = {}
        if is_new and names and random.integers(2):
            options = {"zlib": True, "shuffle": bool(random.integers(2)), "fletcher32": bool(random.integers(2))}
        if is_new and random.integers(4) == 0:
            options["endian"] = "big"
        fill = [None, 7, np.nan if dtype[0] == "f" else 9][random.integers(3)]
        if fill is not None:
            fill = np.array(fill).astype(dtype)[()]
        made = group.createVariable(f"v{number}", dtype, names, fill_value=fill, **options)
        made.set_auto_maskandscale(False)
        shape = tuple(4 if name == "t" else len(group_dimension(group, name)) for name in names)
        elements = numbers(random, dtype, shape)
        if fill is not None and shape:
            elements.flat[0] = fill
        how = random.integers(4)
        if how == 0 and names and names[0] == "t":
            # Less than the longest variable of this dimension has.
            made[:2] = elements[:2]
        elif how:
            made[...] = elements
        if random.integers(3) == 0:
            made.scale_factor, made.add_offset = (0.5, 20.0) if random.integers(2) else (np.float32(0.1), np.float32(1))
        if random.integers(3) == 0 and fill is None:
            made.missing_value = np.array(5).astype(dtype)[()]
        if dtype in ("i1", "i2") and random.integers(4) == 0:
            made.setncattr("_Unsigned", "true")
        made.long_name = f"variable {number}"
        if random.integers(2):
            made.valid_range = np.array([-50, 50]).astype(dtype)
            made.one = np.array([1.5])
            made.empty = ""
    time = group.createVariable("when", random.choice(["f8", "i4"]), ("t",))
    time.units, time.calendar = "hours since 2001-02-03 04:05:06", str(random.choice(CALENDARS))
    time[:] = np.arange(4) * 7
    letters = group.createVariable("letters", "S1", ("y", "letter"))
    texts = np.array([b"ab", b"abcde", b""], "S5")
    letters[:] = netCDF4.stringtochar(texts)
    if random.integers(2):
        letters.setncattr("_Encoding", "utf-8")


def group_dimension(group: Any, name: str) -> Any:
    while name not in group.dimensions:
        group = group.parent
    return group.dimensions[name]


def own_types(group: Any, random: np.random.Generator) -> None:
    """Texts and enumerations, which netCDF-4 alone has."""
    texts = group.createVariable("texts", str, ("y",))
    texts[:] = np.array(["a", "bü", ""], object)
    if random.integers(2):
        texts.note = "texts of any length"
    group.setncattr_string("list of texts", ["a", "ü"])
    kind = group.createEnumType(np.uint8, "sky_kind", {"clear": 0, "cloudy": 1, "missing": 255})
    sky = group.createVariable("sky", kind, ("y",), fill_value=255)
    sky[:] = [0, 1, 255]


def write(path: Path, number: int) -> bool:
    """Writes a file of a number; whether it is one of netCDF-4."""
    random = np.random.default_rng(number)
    form = FORMATS[number % len(FORMATS)]
    is_new = form == "NETCDF4"
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.Conventions, file.title, file.number = "CF-1.8", "a title", np.int32(number)
        file.numbers = np.array([1.5, 2.5], "f4")
        is_unlimited = random.integers(3) > 0
        for name, size in (("t", None if is_unlimited else 4), ("y", 3), ("x", 5), ("letter", 5), ("bare", 2)):
            file.createDimension(name, size)
        x = file.createVariable("x", "f4", ("x",))
        x[:], x.units = np.arange(5), "degrees_east"
        if random.integers(2):
            # A coordinate of two dimensions with the name of one.
            file.createVariable("y", "f8", ("y", "x") if form.startswith("NETCDF4") and random.integers(2) else ("y",))[:] = 1.5
        variables(file, random, is_new)
        if is_new:
            own_types(file, random)
            group = file.createGroup("below")
            group.comment = "a group"
            group.createDimension("z", 2)
            variables(group, random, is_new)
            deep = file.createGroup("below/deep")
            deep.createDimension("x", 4)
            deep.createVariable("x", "i8", ("x",))[:] = np.arange(4)
            deep.createVariable("w", "f4", ("z", "x"), zlib=True)[:] = numbers(random, "f4", (2, 4))
    return form.startswith("NETCDF4")


def alike(ours: xarray.Dataset, theirs: xarray.Dataset) -> xarray.Dataset:
    """Ours without what the documents of Zarr have otherwise: names of enumerations are attributes, and attributes that are numbers have one
    type, so that values are unpacked to float64."""
    for name, variable in theirs.variables.items():
        if name not in ours.variables:
            continue
        if "flag_values" not in variable.attrs:
            ours.variables[name].attrs.pop("flag_values", None)
            ours.variables[name].attrs.pop("flag_meanings", None)
        factor = variable.encoding.get("scale_factor", 1.0)
        if np.asarray(factor).dtype == np.float32:
            np.testing.assert_allclose(ours.variables[name].values, variable.values, rtol=1e-5, atol=1e-6)
            ours = ours.assign({name: ours[name].copy(data=variable.values)})
    return ours


def compare(ours: xarray.Dataset, theirs: xarray.Dataset) -> None:
    ours = alike(ours, theirs)
    xarray.testing.assert_identical(ours, theirs)
    assert set(ours.dims) == set(theirs.dims)
    for name, variable in theirs.variables.items():
        # Texts of any length are `StringDType`, or fixed texts when all are known.
        assert ours.variables[name].dtype == variable.dtype or variable.dtype.kind in "UO", name
        for key in ("units", "calendar", "_FillValue"):
            np.testing.assert_equal(ours.variables[name].encoding.get(key), variable.encoding.get(key), err_msg=f"{name} {key}")


@pytest.mark.parametrize("part", range(4))
def test_data_sets_of_netcdf(tmp_path: Path, part: int) -> None:
    faults = []
    for number in range(part, 56, 4):
        path = tmp_path / f"{number}.nc"
        is_hdf5 = write(path, number)
        engines = ["netcdf4", "h5netcdf"] if is_hdf5 else ["netcdf4"]
        for engine, decode in ((engine, decode) for engine in engines for decode in (True, False)):
            arguments: dict[str, Any] = {} if decode else {"decode_times": False, "mask_and_scale": False, "decode_coords": False}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = xarray.open_groups(path, engine=engine, **arguments)
                ours = xarray.open_groups(path, engine=ZarrRustBackend, **arguments)
                try:
                    assert list(ours) == list(theirs)
                    for group, data in theirs.items():
                        compare(ours[group], data)
                except Exception as error:  # noqa: BLE001
                    faults.append(f"{number} {FORMATS[number % len(FORMATS)]} {engine} decode={decode}: {error}")
                finally:
                    for data in theirs.values():
                        data.close()
    assert not faults, "\n".join(faults)
