"""Data sets that xarray wrote, through any two conversions: the values, dimensions and attributes that xarray then finds are the same.

``ZARR_RUST_CHAINS`` is how many data sets there are, each with a chain of its own: ``ZARR_RUST_CHAINS=500 cargo xtask python
tests/test_chains.py``. A data set that fails is made again by its number.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cftime
import numpy as np
import pytest
import xarray
import zarr_rust
from zarr_rust.xarray import ZarrRustBackend

CHAINS = int(os.environ.get("ZARR_RUST_CHAINS", "30"))
#: The dialects that have groups.
DIALECTS = ["v2", "p2019", "p2020", "d2022", "v3"]
CALENDARS = ["standard", "proleptic_gregorian", "noleap", "all_leap", "360_day", "julian"]
UNITS = ["days", "hours", "minutes", "seconds", "milliseconds", "nanoseconds"]

Random = np.random.Generator
#: Elements, attributes, and how xarray is to store them.
Made = tuple[Any, dict[str, Any], dict[str, Any]]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        # Of zarr-python, about types that version 3 does not specify, and of xarray, about missing consolidated metadata, and units
        # that do not hold all times.
        for category in (UserWarning, FutureWarning, RuntimeWarning, xarray.SerializationWarning):
            warnings.filterwarnings("ignore", category=category)
        yield


def one_of(random: Random, choices: list[Any]) -> Any:
    return choices[int(random.integers(len(choices)))]


def some(random: Random) -> bool:
    return bool(random.random() < 0.5)


def but_one(random: Random, values: Any, missing: Any) -> Any:
    """Values some of which are missing; xarray does not encode times all of which are."""
    lost = np.asarray(random.random(values.shape) < 0.3)
    lost.flat[:1] = False
    return np.where(lost, missing, values)


def integers(random: Random, shape: tuple[int, ...]) -> Made:
    dtype = np.dtype(one_of(random, ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]))
    limits = np.iinfo(dtype)
    values = random.integers(max(limits.min, -3), 5, shape).astype(dtype)
    extreme = random.random(shape)
    values = np.where(extreme < 0.1, limits.min, np.where(extreme > 0.9, limits.max, values)).astype(dtype)
    marks: list[dict[str, Any]] = [{}, {}, {"_FillValue": dtype.type(3)}, {"_FillValue": dtype.type(0)}, {"missing_value": dtype.type(2)}]
    return values, {}, one_of(random, marks)


def floats(random: Random, shape: tuple[int, ...]) -> Made:
    dtype = one_of(random, ["f4", "f8"])
    values = random.integers(-9, 9, shape).astype(dtype) / 4
    values = np.where(random.random(shape) < 0.2, np.nan, np.where(random.random(shape) < 0.1, np.inf, values)).astype(dtype)
    marks: list[dict[str, Any]] = [{}, {"_FillValue": None}, {"_FillValue": -9.0}, {"_FillValue": 0.0}, {"missing_value": -99.0}]
    mark = {name: value if value is None else np.dtype(dtype).type(value) for name, value in one_of(random, marks).items()}
    return values, {"units": "K"}, mark


def packed(random: Random, shape: tuple[int, ...]) -> Made:
    dtype = np.dtype(one_of(random, ["i1", "u1", "i2", "i4", "f4"]))
    values = random.integers(0, 60, shape) * 0.5 + 3
    if missing := some(random):
        values = np.where(random.random(shape) < 0.2, np.nan, values)
    encoding: dict[str, Any] = {"dtype": dtype, "scale_factor": 0.5, "add_offset": one_of(random, [0.0, 3.0])}
    if missing or some(random):
        encoding[one_of(random, ["_FillValue", "missing_value"])] = dtype.type(one_of(random, [100, 0, 7]))
    return values.astype(one_of(random, ["f4", "f8"])), {}, encoding


def unsigned(random: Random, shape: tuple[int, ...]) -> Made:
    values = random.integers(0, 255, shape).astype("f8")
    values = np.where(random.random(shape) < 0.2, np.nan, values)
    return values, {}, {"dtype": "i1", "_Unsigned": "true", "_FillValue": np.int8(-1)}


def flags(random: Random, shape: tuple[int, ...]) -> Made:
    marks: list[dict[str, Any]] = [{}, {}, {"_FillValue": False}, {"_FillValue": True}]
    return random.random(shape) < 0.5, {}, one_of(random, marks)


def texts(random: Random, shape: tuple[int, ...]) -> Made:
    values = random.choice(np.array(["", "a", "é", "𝄞 x", "longer text"], dtype=object), shape)
    return np.asarray(values, dtype=object), {}, {}


def texts_of_a_length(random: Random, shape: tuple[int, ...]) -> Made:
    values = texts(random, shape)[0].astype("U11")
    return values if some(random) else np.char.encode(values, "utf-8"), {}, {}


def complexes(random: Random, shape: tuple[int, ...]) -> Made:
    values = random.integers(-3, 3, shape) + 0.5j * random.integers(-3, 3, shape)
    return np.asarray(values, dtype=one_of(random, ["c8", "c16"])), {}, {}


def times(random: Random, shape: tuple[int, ...]) -> Made:
    resolution = one_of(random, ["s", "ms", "us", "ns"])
    steps = random.integers(-36500, 36500, shape).astype(one_of(random, ["m8[D]", "m8[s]"]))
    values = np.asarray(np.datetime64("2000-01-01", resolution) + steps).astype(f"M8[{resolution}]")
    origin = one_of(random, ["1970-01-01", "2000-02-29 06:00:00", "1990-01-01T00:00:00+01:00"])
    missing = some(random)
    # xarray does not decode nanoseconds that it stored as floats, as it stores times some of which are missing.
    unit = one_of(random, UNITS[:4] if missing else UNITS)
    encoding: dict[str, Any] = {"units": f"{unit} since {origin}"}
    if some(random):
        encoding["calendar"] = one_of(random, ["standard", "proleptic_gregorian"])
    if missing:
        values = but_one(random, values, np.datetime64("NaT", resolution))
    elif some(random):
        encoding["dtype"] = one_of(random, ["i8"] if unit == "nanoseconds" else ["i8", "f8"])
    return values, {}, encoding if some(random) else {}


def other_times(random: Random, shape: tuple[int, ...]) -> Made:
    if 0 in shape:
        # No dates are objects of any type.
        return times(random, shape)
    calendar = one_of(random, CALENDARS)
    days = random.integers(0, 400, shape)
    values = cftime.num2date(days, "days since 1850-02-01", calendar=calendar, only_use_cftime_datetimes=True)
    encoding = {"units": f"{one_of(random, UNITS[:4])} since 1850-01-01", "calendar": calendar}
    return np.asarray(values, dtype=object), {}, encoding if some(random) else {}


def spans(random: Random, shape: tuple[int, ...]) -> Made:
    resolution = one_of(random, ["s", "ms", "ns"])
    values = random.integers(-99, 99, shape).astype("m8[s]").astype(f"m8[{resolution}]")
    if some(random):
        values = but_one(random, values, np.timedelta64("NaT", resolution))
    return values, {}, one_of(random, [{}, {"units": "seconds"}, {"dtype": "i8"}])


#: What version 1 can hold, which has no texts of any length.
OF_A_SIZE: list[Callable[[Random, tuple[int, ...]], Made]] = [
    integers, floats, packed, unsigned, flags, texts_of_a_length, complexes, times, other_times, spans,
]
KINDS = [*OF_A_SIZE, texts]


def attributes(random: Random) -> dict[str, Any]:
    known = {
        "title": "é 𝄞 \"quoted\"\n", "empty": "", "count": 3, "big": 2**60, "scale": 1.5, "tiny": 1e-300, "whole": 2.0,
        "list": [1, 2, 3], "mixed": [1, "a", 2.5], "nothing": [], "flag": True, "none": None, "nested": {"a": {"b": [1, {"c": None}]}},
        "nan": float("nan"), "infinite": [float("inf"), 1.0], "text": "NaN", "numpy": np.arange(3), "scalar": np.float32(0.5),
    }
    return {name: value for name, value in known.items() if random.random() < 0.25}


def dataset(random: Random, prefix: str, version: int) -> tuple[xarray.Dataset, dict[str, Any]]:
    """A data set, and the encodings of its variables; names of dimensions begin with the prefix, for groups below others."""
    sizes = {f"{prefix}{name}": int(random.integers(1, 9)) for name in "xyz"}
    if random.random() < 0.1:
        sizes[f"{prefix}z"] = 0
    variables: dict[str, xarray.Variable] = {}
    encodings: dict[str, Any] = {}

    def add(name: str, dims: tuple[str, ...], make: Callable[[Random, tuple[int, ...]], Made], **more: Any) -> None:
        values, said, encoding = make(random, tuple(sizes[dim] for dim in dims))
        if random.random() < 0.3 and dims and all(sizes[dim] for dim in dims):
            chunks = tuple(int(random.integers(1, sizes[dim] + 1)) for dim in dims)
            encoding = {**encoding, "chunks": chunks}
            if version == 3 and some(random):
                encoding["shards"] = tuple(length * int(random.integers(1, 3)) for length in chunks)
        if version == 3 and make is integers and some(random):
            encoding["fill_value"] = 1
        variables[name] = xarray.Variable(dims, values, {**said, **attributes(random), **more})
        encodings[name] = encoding

    for at in range(int(random.integers(2, 6))):
        count = int(random.integers(0, 4))
        dims = tuple(random.permutation(list(sizes))[:count].tolist())
        add(f"{prefix}v{at}", dims, one_of(random, KINDS))
    coords: list[str] = []
    if some(random):
        dim = f"{prefix}x"
        add(dim, (dim,), lambda random, shape: (np.arange(shape[0]) * 0.5, {}, {}))
        coords.append(dim)
    if some(random):
        # A coordinate of times, with the bounds of its cells.
        dim = f"{prefix}y"
        start = np.datetime64("2001-01-01", "ns") + np.arange(sizes[dim]) * np.timedelta64(1, "D")
        units = {"units": "hours since 2000-01-01", "dtype": "i8"}
        sizes["two"] = 2
        add(dim, (dim,), lambda random, shape: (start, {}, units), bounds=f"{dim}_bounds")
        add(f"{dim}_bounds", (dim, "two"), lambda random, shape: (np.stack([start, start + np.timedelta64(1, "D")], 1), {}, {}))
        coords += [dim, f"{dim}_bounds"] if some(random) else [dim]
    if some(random):
        add(f"{prefix}crs", (), lambda random, shape: (np.int32(0), {"grid_mapping_name": "latitude_longitude"}, {}))
        variables[f"{prefix}v0"].attrs["grid_mapping"] = f"{prefix}crs"
    if some(random):
        add(f"{prefix}label", (f"{prefix}x",), texts)
        coords.append(f"{prefix}label")
    if some(random):
        add(f"{prefix}reference", (), one_of(random, [times, integers, texts]))
        coords.append(f"{prefix}reference")
    made = xarray.Dataset(variables, attrs=attributes(random)).set_coords(coords)
    return made, encodings


def write(random: Random, url: Path) -> tuple[int, list[str]]:
    """Writes a data set, now and then with others below it: its version of Zarr, and the names of all dimensions."""
    below = one_of(random, [{}, {}, {"/below": "b"}, {"/a/b": "c"}, {"/p": "p", "/p/q": "q"}])
    version = one_of(random, [2, 3])
    made = {path: dataset(random, prefix, version) for path, prefix in {"/": "", **below}.items()}
    xarray.DataTree.from_dict({path: part for path, (part, _) in made.items()}).to_zarr(
        url, zarr_format=version, consolidated=some(random), encoding={path: encoding for path, (_, encoding) in made.items()}
    )
    return version, sorted({str(name) for part, _ in made.values() for name in part.dims})


def options(random: Random, dialect: str, dimensions: list[str]) -> dict[str, Any]:
    """Another dialect, and now and then other chunks, shards or codecs."""
    found: dict[str, Any] = {"dialect": dialect}
    if dimensions and random.random() < 0.3:
        found["chunks"] = {one_of(random, dimensions): int(random.integers(1, 5))}
    if dialect not in ("v2", "p2019") and random.random() < 0.3:
        found["shards"] = "auto"
    elif random.random() < 0.2:
        found["codecs"] = "gzip(1)"
    return found


def opened(url: Path, engine: Any) -> tuple[xarray.DataTree, dict[tuple[str, str], Any]]:
    """A data set, and the type of each variable and whether it is a coordinate."""
    data = xarray.open_datatree(url, engine=engine)
    # Before elements are read: of the type of texts without dimensions zarr-python drops the length when it reads one.
    parts = [(node.path, node.dataset) for node in data.subtree]
    return data, {
        (path, str(name)): (variable.dtype, name in part.coords) for path, part in parts for name, variable in part.variables.items()
    }


@pytest.mark.parametrize("number", range(CHAINS))
def test_values_stay_through_two_conversions(tmp_path: Path, number: int) -> None:
    random = np.random.default_rng(number)
    version, dimensions = write(random, tmp_path / "0.zarr")
    expected, types = opened(tmp_path / "0.zarr", "zarr")
    engines: list[Any] = [ZarrRustBackend]
    steps = [options(random, one_of(random, DIALECTS), dimensions) for _ in range(2)]
    print(f"v{version}", *steps)
    for at, step in enumerate(steps, 1):
        zarr_rust.convert(tmp_path / f"{at - 1}.zarr", tmp_path / f"{at}.zarr", **step)
        # The drafts have no other reader than ours.
        for engine in [*engines, "zarr"] if step["dialect"] in ("v2", "v3") else engines:
            found, found_types = opened(tmp_path / f"{at}.zarr", engine)
            xarray.testing.assert_identical(found, expected)
            assert found_types == types


@pytest.mark.parametrize("number", range(CHAINS))
def test_values_stay_through_version_1(tmp_path: Path, number: int) -> None:
    """There a variable is alone, and has no group."""
    random = np.random.default_rng(number)
    values, said, encoding = one_of(random, OF_A_SIZE)(random, tuple(random.integers(1, 6, int(random.integers(0, 4))).tolist()))
    made = xarray.Dataset({"a": (tuple("xyz"[: values.ndim]), values, {**said, **attributes(random)})})
    made.to_zarr(tmp_path / "0.zarr", zarr_format=one_of(random, [2, 3]), encoding={"a": encoding})
    expected, types = opened(tmp_path / "0.zarr", "zarr")
    zarr_rust.convert(tmp_path / "0.zarr", tmp_path / "1.zarr", path="a", to="/", dialect="v1", codecs=one_of(random, ["bytes", "zlib(1)"]))
    assert zarr_rust.open(tmp_path / "1.zarr").dialect == "v1"
    last = one_of(random, DIALECTS)
    print(last)
    zarr_rust.create_group(tmp_path / "2.zarr", dialect=last)
    zarr_rust.convert(tmp_path / "1.zarr", tmp_path / "2.zarr", to="a", dialect=last)
    for engine in [ZarrRustBackend, "zarr"] if last in ("v2", "v3") else [ZarrRustBackend]:
        found, found_types = opened(tmp_path / "2.zarr", engine)
        xarray.testing.assert_identical(found, expected)
        assert found_types == types
