"""xarray, which writes data sets as groups of Zarr v2 or v3. An array here is a variable of a data set."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import xarray
import zarr
from numcodecs import Blosc, Zlib
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

import manifest
import values
from values import pick

# Attributes that xarray takes to be its own: it makes them from other metadata, or moves them elsewhere.
OWN = ("_ARRAY_DIMENSIONS", "_FillValue", "coordinates")


def data_set(rng, number: int) -> xarray.Dataset:
    """A data set of a few variables on time, lat and lon."""
    sizes = {"time": int(rng.integers(1, 30)), "lat": int(rng.integers(1, 12)), "lon": int(rng.integers(1, 14))}
    start = np.datetime64("2001-01-01", "ns") + np.timedelta64(int(rng.integers(9000)), "D")
    coordinates = {
        "time": ("time", start + np.arange(sizes["time"]) * np.timedelta64(6, "h")),
        "lat": ("lat", np.linspace(-90, 90, sizes["lat"]), {"units": "degrees_north"}),
        "lon": ("lon", np.linspace(0, 357.5, sizes["lon"]).astype("f4"), {"units": "degrees_east"}),
        "height": ((), 2.0, {"units": "m"}),
    }
    if rng.random() < 0.5:
        coordinates["station"] = ("lat", np.array([f"{pick(rng, values.WORDS)}{n}" for n in range(sizes["lat"])]))
    names = ["time", "lat", "lon"]
    variables = {}
    for name in range(int(rng.integers(1, 4))):
        dimensions = [dimension for dimension in names if rng.random() < 0.8]
        lengths = tuple(sizes[dimension] for dimension in dimensions)
        dtype = pick(rng, ["f4", "f8", "i2", "i4", "u1", "b1", "packed", "masked"])
        if dtype in ("packed", "masked"):
            elements = rng.normal(280, 10, lengths)
            elements = np.where(rng.random(lengths) < 0.1, np.nan, elements)
        else:
            elements = values.elements(rng, np.dtype(dtype), lengths)
        variable = xarray.Variable(dimensions, elements, {"long_name": pick(rng, values.WORDS), "number": number})
        if dtype == "packed":
            variable.encoding = {"dtype": "int16", "scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -32768}
        elif dtype == "masked":
            variable.encoding = {"dtype": "float32", "_FillValue": pick(rng, [-999.0, float("nan")])}
        variables[f"v{name}"] = variable
    return xarray.Dataset(variables, coordinates, {"title": pick(rng, values.WORDS), "number": number})


def compressors(rng, zarr_format: int):
    if zarr_format == 2:
        return pick(rng, [None, (Blosc("zstd", 5, Blosc.SHUFFLE),), (Blosc("lz4", 5, Blosc.BITSHUFFLE),), (Zlib(5),)])
    return pick(rng, [None, (ZstdCodec(level=3),), (GzipCodec(level=5),), (BloscCodec(cname="lz4"),)])


def write(writer: manifest.Writer, count: int, rng) -> None:
    written, number = 0, 0
    while written < count:
        dataset, zarr_format = data_set(rng, number), pick(rng, [2, 3])
        store = f"xarray-{number}"
        encoding = {}
        for name, variable in dataset.variables.items():
            encoding[name] = {"compressors": compressors(rng, zarr_format)}
            if variable.ndim and rng.random() < 0.7:
                encoding[name]["chunks"] = values.chunks(rng, variable.shape)
                # xarray takes no chunks larger than the dimension.
                encoding[name]["chunks"] = tuple(map(min, encoding[name]["chunks"], variable.shape))
        consolidated = bool(rng.integers(2))
        dataset.to_zarr(writer.folder / store, zarr_format=zarr_format, consolidated=consolidated, encoding=encoding)
        # The stored elements, before scale, offset and mask are applied.
        with xarray.open_zarr(writer.folder / store, consolidated=consolidated, decode_cf=False) as raw:
            for name, variable in raw.variables.items():
                if written == count:
                    break
                elements = np.asarray(variable.values)
                array = zarr.open_array(writer.folder / store, path=name, mode="r")
                facts = {
                    "fill": manifest.fill_hex(array.metadata.fill_value, np.empty(0, array.dtype)),
                    "attributes": {key: value for key, value in array.attrs.items() if key != "_ARRAY_DIMENSIONS"},
                    # zarr-python stores no list of no names in v3; in v2 the list is an attribute.
                    "dimension_names": list(variable.dims) or (None if zarr_format == 3 else []),
                }
                about = f"v{zarr_format}, {encoding[name]}"
                if array.dtype.kind in "OT":
                    elements = elements.astype("T")
                writer.add(f"{store}-{name}", store, f"/{name}", elements, about=about, **facts)
                written += 1
        number += 1


def without_own(attributes: dict) -> dict:
    """The attributes that xarray leaves as they are."""
    return {key: value for key, value in attributes.items() if key not in OWN}


@lru_cache(maxsize=4)
def opened(path: Path) -> xarray.Dataset:
    """A data set as it is stored; its variables are asked for one after another."""
    return xarray.open_zarr(path, consolidated=False, decode_cf=False)


def read(folder: Path, line: dict) -> list[str]:
    raw = opened(folder / line["store"]).variables[line["path"].strip("/")]
    elements = np.asarray(raw.values)
    if line["dtype"] == "string":
        elements = elements.astype("T")
    line["attributes"] = without_own(line["attributes"])
    line["dimension_names"] = line["dimension_names"] or None
    facts = {"attributes": without_own(raw.attrs), "dimension_names": list(raw.dims) or None}
    found = manifest.differences(line, folder, elements, **facts)
    if "scale_factor" in raw.attrs:
        found += decoded_differences(folder, line, elements, raw.attrs)
    return found


def decoded_differences(folder: Path, line: dict, raw: np.ndarray, attributes: dict) -> list[str]:
    """Whether xarray unpacks a variable as its attributes say."""
    name = line["path"].strip("/")
    with xarray.open_zarr(folder / line["store"], consolidated=False, decode_times=False) as dataset:
        decoded = dataset[name].values
    expected = raw * attributes["scale_factor"] + attributes["add_offset"]
    if "_FillValue" in attributes:
        expected = np.where(raw == attributes["_FillValue"], np.nan, expected)
    same = np.allclose(decoded, expected, rtol=1e-5, equal_nan=True)
    return [] if same else ["values unpacked by scale_factor and add_offset differ"]
