"""Data sets that xarray writes and decodes: `datasets.py FOLDER COUNT SEED`.

Writes COUNT data sets into FOLDER, `N.zarr`, and beside each `N.json`: all that xarray decodes of it, values as hexadecimal bytes. Prints how
often each thing was written. Of 300 data sets and more it fails if a thing is written less than 20 times, or two never together that should.
"""

import itertools
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import xarray as xr

CALENDARS = ["standard", "gregorian", "proleptic_gregorian", "julian", "noleap", "365_day", "all_leap", "366_day", "360_day"]
# xarray decodes nanoseconds in these alone.
CALENDARS_OF_NUMPY = CALENDARS[:3]
UNITS = ["days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]
VARIABLES = ["integer", "float", "complex", "bool", "packed", "masked", "unsigned", "time", "masked time", "span", "counted span",
             "text", "fixed text", "bytes", "characters", "numpy time", "plain span"]
MASKS = ["none", "_FillValue", "missing_value", "several"]
PACKINGS = ["none", "scale", "offset", "both"]
LAYOUTS = ["v2", "v2 nested", "v3", "v3 sharded"]
# Each of these is written often enough.
WANTED = {
    "variable": VARIABLES,
    "type": INTEGERS + FLOATS + ["c8", "c16"],
    "calendar": CALENDARS,
    "unit": UNITS,
    "mask": MASKS,
    "packing": PACKINGS,
    "coordinate": ["index of times", "index of numbers", "listed by a variable", "listed by the group", "none"],
    "layout": LAYOUTS,
    "dialect": ["v2", "v3"],
}
# Each two of these are written together.
PAIRS = [("variable", "layout"), ("calendar", "unit"), ("mask", "packing")]
LEAST, FROM = 20, 300


class Random:
    """Choices, and counts of them."""

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)
        # What was chosen, of which some is never written; and what was written.
        self.chosen, self.written, self.current = {}, {}, []

    def pick(self, options):
        """One by chance."""
        return options[int(self.generator.integers(len(options)))]

    def choose(self, kind, options, beside=None):
        """One of those that were chosen least often; `beside` is a kind and the choice of it that this one goes with, with which those come
        first that were hardly chosen."""
        def counts(option):
            alone = self.chosen.get(f"{kind} {option}", 0)
            return (min(2, self.chosen.get(pair(kind, option, *beside), 0)), alone) if beside else alone

        least = min(map(counts, options))
        option = self.pick([option for option in options if counts(option) == least])
        self.count(f"{kind} {option}")
        if beside:
            self.count(pair(kind, option, *beside))
        return option

    def count(self, name):
        self.chosen[name] = self.chosen.get(name, 0) + 1
        self.current.append(name)

    def flip(self, kind, chance=0.5):
        is_so = bool(self.generator.random() < chance)
        self.count(f"{kind} {'yes' if is_so else 'no'}")
        return is_so

    def size(self):
        return int(self.generator.integers(1, 7))

    def end(self, is_written):
        """Ends a data set."""
        for name in self.current if is_written else []:
            self.written[name] = self.written.get(name, 0) + 1
        self.current = []

    def faults(self):
        """What was written too seldom."""
        wanted = [f"{kind} {option}" for kind, options in WANTED.items() for option in options]
        rare = [f"{name}: {self.written.get(name, 0)} times, expected {LEAST}" for name in wanted if self.written.get(name, 0) < LEAST]
        pairs = [pair(one, a, other, b) for one, other in PAIRS for a, b in itertools.product(WANTED[one], WANTED[other])
                 if b != "nanoseconds" or a in CALENDARS_OF_NUMPY]
        return rare, [name for name in pairs if name not in self.written]


def pair(one, option, other, beside):
    first, second = sorted([(one, option), (other, beside)])
    return f"{first[0]} {first[1]} with {second[0]} {second[1]}"


def numbers(random, dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return random.generator.integers(max(info.min, -1000), min(info.max, 1000), shape).astype(dtype)
    values = random.generator.normal(0, 100, shape).astype(dtype)
    if dtype.kind == "c":
        values = values + 1j * random.generator.normal(0, 1, shape).astype(dtype)
    return np.asarray(values, dtype)


def times(random, shape):
    """Stored numbers with units and calendar."""
    calendar = random.choose("calendar", CALENDARS)
    # Nanoseconds are there too seldom for data sets that xarray refuses to be many.
    units = UNITS if calendar in CALENDARS_OF_NUMPY or random.flip("unit refused", 0.02) else UNITS[:-1]
    unit = random.choose("unit", units, beside=("calendar", calendar))
    years = [1, 1500, 1582, 1678, 1900, 1970, 2000, 2261] if unit in ("days", "hours") else [1970, 2000]
    year = random.choose("year", years)
    spelling = random.choose("reference", ["{:04}-01-01", "{:04}-01-01 00:00:00", "{:04}-1-1T06:30:00", "{:04}-03-01 12:00:00.5"])
    dtype = random.choose("type", ["i2", "i4", "i8", "f4", "f8"])
    count = int(np.prod(shape, dtype=int))
    limit = 30000 if dtype == "i2" else {"days": 60000, "hours": 1_000_000}.get(unit, 10_000_000)
    values = np.sort(random.generator.integers(0, limit, count)).astype(dtype)
    if dtype in ("f4", "f8") and random.flip("fractions of times"):
        values = values + np.asarray(random.generator.random(count), dtype).round(2)
    attributes = {"units": f"{unit} since " + spelling.format(year)}
    if random.flip("calendar named", 0.9) or calendar not in ("standard", "gregorian"):
        attributes["calendar"] = calendar
    return np.asarray(values, dtype).reshape(shape), attributes


def variable(random, dims, sizes, layout):
    """A variable of stored elements with CF attributes."""
    shape = [sizes[dim] for dim in dims]
    kind = random.choose("variable", VARIABLES, beside=("layout", layout))
    attributes, encoding = {}, {}
    if kind == "integer":
        data = numbers(random, random.choose("type", INTEGERS), shape)
    elif kind == "float":
        data = numbers(random, random.choose("type", FLOATS), shape)
        data[random.generator.random(shape) < 0.2] = np.nan
    elif kind == "complex":
        data = numbers(random, random.choose("type", ["c8", "c16"]), shape)
        if random.flip("complex masked"):
            encoding["_FillValue"] = data.dtype.type(data.flat[0])
    elif kind == "bool":
        data = random.generator.random(shape) < 0.5
    elif kind in ("packed", "masked", "unsigned"):
        signed = [dtype for dtype in INTEGERS if dtype[0] == "i"]
        choices = signed if kind == "unsigned" else INTEGERS + (FLOATS if kind == "masked" else ["f4", "f8"])
        data = numbers(random, random.choose("type", choices), shape)
        if kind == "unsigned":
            attributes["_Unsigned"] = "true"
        packings = {"packed": PACKINGS[1:], "masked": ["none"], "unsigned": PACKINGS}[kind]
        packing = random.choose("packing", packings, beside=("variable", kind))
        if packing in ("scale", "both"):
            attributes["scale_factor"] = float(random.choose("scale", [0.1, 0.5, 2.0, 1e-5]))
        if packing in ("offset", "both"):
            attributes["add_offset"] = random.choose("offset", [273.15, -4.0, 10])
        mask = random.choose("mask", MASKS[1:] if kind == "masked" else MASKS, beside=("packing", packing))
        value = data.flat[0]
        if mask == "_FillValue":
            encoding["_FillValue"] = value
        elif mask == "missing_value":
            attributes["missing_value"] = value.item()
        elif mask == "several":
            attributes["missing_value"] = [value.item(), data.flat[-1].item()]
    elif kind in ("time", "masked time"):
        data, attributes = times(random, shape)
        if kind == "masked time":
            # xarray decides by the first and the last time how it decodes, and refuses some that are missing.
            if random.flip("first time masked", 0.1):
                encoding["_FillValue"] = data.dtype.type(data.flat[0])
            else:
                encoding["_FillValue"] = data.dtype.type(data.flat[data.size // 2] if data.size > 2 else -1)
    elif kind in ("span", "counted span"):
        data = numbers(random, random.choose("type", ["i4", "i8", "f8"]), shape)
        attributes["units"] = random.choose("unit of spans", UNITS)
        if kind == "span":
            # xarray writes no units that are finer than the type.
            units = ["s", "ms", "us", "ns"]
            coarsest = max(0, UNITS.index(attributes["units"]) - 3)
            attributes["dtype"] = "timedelta64[" + random.choose("numpy unit", units[coarsest:]) + "]"
            if attributes["dtype"] != "timedelta64[ns]":
                data = np.round(data)
        if random.flip("span masked"):
            encoding["_FillValue"] = data.dtype.type(data.flat[0])
    elif kind in ("text", "fixed text"):
        words = ["", "a", "über", "東京", "long enough to be compressed"]
        data = np.array([random.pick(words) for _ in range(int(np.prod(shape, dtype=int)))], dtype=object).reshape(shape)
        if kind == "fixed text":
            data = data.astype(str)
    elif kind == "bytes":
        words = [b"", b"a", b"bc", b"long enough"]
        data = np.array([random.pick(words) for _ in range(int(np.prod(shape, dtype=int)))]).reshape(shape)
        data = data.astype("S11") if data.dtype.itemsize == 0 else data
    elif kind == "characters":
        words = [b"abc", b"de", b"", b"fgh"]
        data = np.array([random.pick(words) for _ in range(int(np.prod(shape, dtype=int)))]).reshape(shape).astype("S3")
        data = data.reshape([*shape, 1]).view("S1")
        dims = [*dims, f"string{data.shape[-1]}"]
        if random.flip("characters encoded"):
            attributes["_Encoding"] = "utf-8"
    elif kind == "numpy time":
        data = numbers(random, "i8", shape).astype("datetime64[s]").astype("datetime64[ns]")
    else:
        data = numbers(random, "i8", shape).astype("timedelta64[s]").astype("timedelta64[ns]")
    if random.flip("attributes"):
        attributes["long_name"] = random.choose("name", ["a name", "ein Name mit Ümlaut"])
        attributes["valid_range"] = [0.5, 7]
    return kind, xr.Variable(dims, data, attributes, encoding)


def made(random, layout):
    sizes = {name: random.size() for name in ("time", "lat", "lon")[: int(random.generator.integers(1, 4))]}
    names = list(sizes)
    variables = {}
    for number in range(int(random.generator.integers(2, 6))):
        rank = int(random.generator.integers(0, len(names) + 1))
        dims = names[:rank]
        kind, found = variable(random, dims, sizes, layout)
        variables[f"v{number}_{kind.replace(' ', '_')}"] = found
    for name in names:
        options = ["index of times", "none"] if name == "time" else ["index of numbers", "none"]
        coordinate = random.choose("coordinate", options)
        if coordinate == "index of times":
            data, attributes = times(random, [sizes["time"]])
            variables["time"] = xr.Variable(["time"], np.unique(data) if len(np.unique(data)) == sizes["time"] else data, attributes)
        elif coordinate == "index of numbers":
            data = np.linspace(-90, 90, sizes[name], dtype=random.choose("type", ["f4", "f8"]))
            variables[name] = xr.Variable([name], data, {"units": "degrees"})
    attributes = {"title": "made"}
    listed = [name for name in variables if name not in names]
    owner = listed[0]
    others = [name for name in listed[1:] if set(variables[name].dims) <= set(variables[owner].dims)]
    if others:
        coordinate = random.choose("coordinate", ["listed by a variable", "listed by the group", "none"])
        if coordinate == "listed by the group":
            attributes["coordinates"] = " ".join(others)
        elif coordinate == "listed by a variable":
            variables[owner].attrs["coordinates"] = " ".join([*others, "not_there"])
    if len(listed) > 1 and random.flip("related attribute"):
        others = [*listed[1:3], "not_there"][: int(random.generator.integers(1, 4))]
        attribute = random.choose("related", ["bounds", "climatology", "grid_mapping", "cell_measures", "formula_terms", "geometry"])
        if attribute == "bounds" and others[0] in variables and variables[others[0]].dtype == bool:
            # Bounds get the units of times, by which xarray makes dates of bools.
            attribute = "climatology"
        if attribute in ("cell_measures", "formula_terms"):
            text = " ".join(f"{key}: {name}" for key, name in zip("abc", others))
        elif attribute == "grid_mapping" and random.flip("mapping of coordinates"):
            text = f"{others[0]}: {names[0]}" + "".join(f" {name}: {names[-1]}" for name in others[1:])
        else:
            text = others[0]
        variables[listed[0]].attrs[attribute] = text
    return variables, attributes


def write(random, path):
    """Writes stored elements as they are, without xarray's encoding of them, but for fill values and names."""
    layout = random.choose("layout", LAYOUTS)
    random.count(f"dialect {layout[:2]}")
    variables, attributes = made(random, layout)
    encoding = {}
    for name, found in variables.items():
        own = dict(found.encoding)
        found.encoding = {}
        if found.ndim and random.flip("chunked"):
            chunks = [max(1, (size + 1) // 2) for size in found.shape]
            if layout == "v3 sharded" and found.dtype.kind not in "OU":
                own["shards"] = tuple(2 * chunk for chunk in chunks)
            own["chunks"] = tuple(chunks)
        if layout == "v2 nested":
            own["chunk_key_encoding"] = {"name": "v2", "separator": "/"}
        encoding[name] = own
    dataset = xr.Dataset()
    for name, found in variables.items():
        dataset[name] = found
    dataset = dataset.reset_coords()
    dataset.attrs = attributes
    consolidated = random.flip("consolidated")
    dataset.to_zarr(path, zarr_format=int(layout[1]), consolidated=consolidated, encoding=encoding, mode="w")


def of_values(variable):
    """dtype, dimensions, and values as text."""
    values = variable.values
    kind = values.dtype.kind
    if kind == "O":
        texts = []
        for value in values.ravel():
            if isinstance(value, str):
                texts.append("s" + value)
            elif isinstance(value, bytes):
                texts.append("b" + value.hex())
            elif isinstance(value, (bool, np.bool_)):
                texts.append("t" if value else "f")
            elif isinstance(value, float) or value is None:
                texts.append("nan")
            else:
                texts.append(f"c{value.calendar}|{value.isoformat(timespec='microseconds')}")
        return {"dtype": "O", "texts": texts}
    if kind in "UT":
        return {"dtype": kind, "texts": ["s" + value for value in values.ravel().tolist()]}
    if kind == "S":
        return {"dtype": "S", "texts": ["b" + value.hex() for value in values.ravel().tolist()]}
    values = np.ascontiguousarray(values)
    if kind == "f":
        # All NaN are one.
        values = np.where(np.isnan(values), np.asarray(np.nan, values.dtype), values).astype(values.dtype)
    return {"dtype": values.dtype.newbyteorder("<").str, "values": values.astype(values.dtype.newbyteorder("<")).tobytes().hex()}


def plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def of_variables(dataset, undecoded):
    """Dimensions and values of all variables, and whether they are coordinates. `undecoded` has the numbers of times."""
    variables = {}
    for name, variable in dataset.variables.items():
        try:
            found = of_values(variable)
            numbers = undecoded.variables[name].values
            if found["dtype"] == "O" and numbers.dtype.kind == "f":
                # cftime masks missing dates. xarray shows whatever lies beneath: nothing, or the reference date.
                masked = np.isnan(numbers).ravel().tolist()
                found["texts"] = ["nan" if missing else text for missing, text in zip(masked, found["texts"])]
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        variables[name] = {"dims": list(variable.dims), "shape": list(variable.shape), "coordinate": name in dataset.coords, **found}
    return variables


def points(random, dataset, undecoded):
    """Points along some dimensions, and the variables there."""
    dims = [dim for dim in dataset.sizes if random.flip("dimension of points")]
    if not dims:
        return None
    count = random.size()
    indices = {dim: random.generator.integers(0, dataset.sizes[dim], count) for dim in dims}
    indexers = {dim: xr.DataArray(index, dims="points") for dim, index in indices.items()}
    selected, numbers = dataset.isel(indexers), undecoded.isel(indexers)
    return {"indices": {dim: index.tolist() for dim, index in indices.items()}, "variables": of_variables(selected, numbers)}


def expected(random, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = xr.open_dataset(path, engine="zarr", chunks=None)
        numbers = xr.open_dataset(path, engine="zarr", chunks=None, decode_times=False)
        variables = of_variables(dataset, numbers)
        for name, variable in dataset.variables.items():
            variables[name]["attrs"] = {key: plain(value) for key, value in variable.attrs.items()}
        coordinates = {}
        for mode, decode in [("all", "all"), ("none", False)]:
            coordinates[mode] = sorted(xr.open_dataset(path, engine="zarr", chunks=None, decode_coords=decode).coords)
        return {"sizes": dict(dataset.sizes), "attrs": {key: plain(value) for key, value in dataset.attrs.items()},
                "variables": variables, "coordinates": coordinates, "points": points(random, dataset, numbers)}


def main():
    folder, count, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")
    random = Random(seed)
    failed = 0
    for number in range(count):
        path = folder / f"{number}.zarr"
        try:
            write(random, path)
        except Exception as error:
            # xarray refuses some that it would have to change.
            print(f"{number} not written: {type(error).__name__}: {error}", file=sys.stderr)
            random.end(False)
            continue
        try:
            found = expected(random, path)
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        failed += "error" in found
        random.end("error" not in found)
        (folder / f"{number}.json").write_text(json.dumps(found))
    for name, number in sorted(random.written.items()):
        if " with " not in name:
            print(f"{name}: {number}")
    rare, missing = random.faults()
    print(f"xarray cannot open: {failed}")
    print(f"pairs missing: {len(missing)}{''.join(f'; {name}' for name in missing)}")
    if count >= FROM and rare + missing:
        sys.exit("\n".join([*rare, *(f"{name}: never" for name in missing)]))


main()
