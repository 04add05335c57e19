"""Makes climate.zarr, pyramid.zarr, tissue.zarr, plate.zarr and the files in netcdf and tiff anew; the same bytes each time.

    python3 -m venv ENV && ENV/bin/pip install -r requirements.txt && ENV/bin/python make.py [FOLDER]

README.md has where the data comes from.
"""

import importlib.util
import shutil
import sys
from pathlib import Path

import numpy as np
import skimage.color
import skimage.data
import skimage.filters
import skimage.measure
import skimage.morphology
import tifffile
import xarray
import zarr
from numcodecs import Blosc
from zarr.codecs import BytesCodec, ShardingCodec, ZstdCodec

MONTHS = 12


def tropics() -> xarray.Dataset:
    """Twelve months of tropical sea surface temperature."""
    package = Path(importlib.util.find_spec("iris_sample_data").origin).parent
    source = xarray.open_dataset(package / "sample_data" / "ostia_monthly.nc")
    temperature = source["surface_temperature"]
    # Land has no temperature: NaN. The mean is that of all 54 months in the source.
    anomaly = temperature - temperature.mean("time", dtype="float64")
    coordinates = {
        "time": ("time", source["time"].values[:MONTHS], {"standard_name": "time", "axis": "T"}),
        "lat": ("lat", source["latitude"].values, {"standard_name": "latitude", "units": "degrees_north", "axis": "Y"}),
        "lon": ("lon", source["longitude"].values, {"standard_name": "longitude", "units": "degrees_east", "axis": "X"}),
    }
    dimensions = ("time", "lat", "lon")
    return xarray.Dataset(
        {
            "sst": (
                dimensions,
                temperature.values[:MONTHS].astype("float32"),
                {"standard_name": "sea_surface_temperature", "units": "K", "cell_methods": "time: mean"},
            ),
            "anomaly": (
                dimensions,
                anomaly.values[:MONTHS],
                {"long_name": "sea surface temperature less its mean of 54 months", "units": "K"},
            ),
        },
        coords=coordinates,
        attrs={
            "Conventions": "CF-1.8",
            "title": "Monthly sea surface temperature of the tropics, OSTIA",
            "institution": "Met Office",
            "license": "Open Government Licence; British Crown copyright, 2018",
        },
    )


PACKED = {"dtype": "int16", "scale_factor": 0.001, "add_offset": 0.0, "_FillValue": -32768}
TIME = {"units": "hours since 1970-01-01", "calendar": "standard", "dtype": "int64"}


def climate(target: Path) -> None:
    """Writes the twelve months as xarray writes Zarr v2."""
    compressor = Blosc(cname="zstd", clevel=9, shuffle=Blosc.SHUFFLE)
    chunks = (3, 18, 144)
    encoding = {
        "sst": {"chunks": chunks, "compressors": [compressor], "_FillValue": np.float32("nan")},
        "anomaly": {"chunks": chunks, "compressors": [compressor], **PACKED},
        "time": {**TIME, "compressors": None},
        "lat": {"compressors": None, "_FillValue": None},
        "lon": {"compressors": None, "_FillValue": None},
    }
    tropics().to_zarr(target, mode="w", zarr_format=2, consolidated=True, encoding=encoding)


def quarters(target: Path) -> None:
    """Writes the twelve months as four files of netCDF-4, with three months in each."""
    target.mkdir(parents=True)
    dataset = tropics()
    layout = {"zlib": True, "complevel": 9, "shuffle": True, "chunksizes": (1, 18, 144)}
    encoding = {
        "sst": {**layout, "_FillValue": np.float32("nan")},
        "anomaly": {**layout, **PACKED},
        "time": {**TIME, "_FillValue": None},
        "lat": {"_FillValue": None},
        "lon": {"_FillValue": None},
    }
    for first in range(0, MONTHS, 3):
        part = dataset.isel(time=slice(first, first + 3))
        month = str(part["time"].values[0])[:7]
        part.to_netcdf(target / f"sst-{month}.nc", engine="netcdf4", encoding=encoding, unlimited_dims=["time"])


def pyramid(target: Path) -> None:
    """A cell under the microscope in four resolutions, as zarr-python writes sharded OME-Zarr 0.5."""
    # 8 bits are spread over 16, so that the means of the coarser levels keep their fractions.
    level = skimage.data.cell().astype("uint16") * 257
    spacing, unit, levels = 0.107, "micrometer", 4
    group = zarr.open_group(target, mode="w", zarr_format=3)
    datasets = []
    for number in range(levels):
        shards = tuple(-(-length // 128) * 128 if length < 256 else 256 for length in level.shape)
        inner = (64, 64)
        array = group.create_array(
            str(number),
            shape=level.shape,
            dtype=level.dtype,
            chunks=shards,
            filters=None,
            serializer=ShardingCodec(chunk_shape=inner, codecs=[BytesCodec(), ZstdCodec(level=9)]),
            compressors=None,
            fill_value=0,
            dimension_names=("y", "x"),
        )
        array[...] = level
        scale = [spacing * 2**number] * 2
        # Pixels are squares with the value of their middle, which moves as they grow.
        shift = [spacing * (2**number - 1) / 2] * 2
        transformations = [{"type": "scale", "scale": scale}, {"type": "translation", "translation": shift}]
        datasets.append({"path": str(number), "coordinateTransformations": transformations})
        even = level[: level.shape[0] // 2 * 2, : level.shape[1] // 2 * 2].astype("uint32")
        blocks = even.reshape(even.shape[0] // 2, 2, even.shape[1] // 2, 2)
        level = ((blocks.sum(axis=(1, 3)) + 2) // 4).astype("uint16")
    axes = [{"name": name, "type": "space", "unit": unit} for name in "yx"]
    group.attrs["ome"] = {
        "version": "0.5",
        "multiscales": [{"name": "cell", "axes": axes, "datasets": datasets, "type": "mean"}],
    }


STAINS = [("hematoxylin", "4060FF"), ("DAB", "FFA000")]


def stains() -> np.ndarray:
    """How much of two stains is at each pixel of a tissue: channels, rows and columns of bytes."""
    amounts = skimage.color.rgb2hed(skimage.data.immunohistochemistry())[..., [0, 2]].transpose(2, 0, 1)
    low, high = (np.percentile(amounts, percent, axis=(1, 2), keepdims=True) for percent in [5, 99.8])
    return np.round(np.clip((amounts - low) / (high - low), 0, 1) * 255).astype("uint8")


def write_image(group: zarr.Group, levels: list[np.ndarray], names: str, micrometers: float, ome: dict) -> None:
    """Writes an image of OME-Zarr 0.5 with its levels, each of half the size of the one before."""
    kinds = {"c": {"type": "channel"}, "y": {"type": "space", "unit": "micrometer"}, "x": {"type": "space", "unit": "micrometer"}}
    datasets = []
    for number, level in enumerate(levels):
        chunks = (1,) * (level.ndim - 2) + level.shape[-2:]
        array = group.create_array(
            str(number), shape=level.shape, dtype=level.dtype, chunks=chunks, compressors=ZstdCodec(level=19), fill_value=0,
            dimension_names=tuple(names),
        )
        array[...] = level
        scale = [1.0 if name == "c" else micrometers * 2**number for name in names]
        datasets.append({"path": str(number), "coordinateTransformations": [{"type": "scale", "scale": scale}]})
    axes = [{"name": name, **kinds[name]} for name in names]
    group.attrs["ome"] = {"version": "0.5", "multiscales": [{"name": "tissue", "axes": axes, "datasets": datasets}], **ome}


def omero() -> dict:
    window = {"start": 0, "end": 255, "min": 0, "max": 255}
    return {"channels": [{"label": label, "color": color, "window": window, "active": True} for label, color in STAINS]}


def tissue(target: Path) -> None:
    """Stains of a tissue as channels, with labels of the nuclei."""
    channels = stains()[:, 64:256, 96:288]
    half = channels.reshape(2, 96, 2, 96, 2).mean((2, 4)).round().astype("uint8")
    group = zarr.open_group(target, mode="w", zarr_format=3)
    write_image(group, [channels, half], "cyx", 0.5, {"omero": omero()})
    # Nuclei are brighter than what is around them, and than most of the tissue.
    amount = skimage.filters.gaussian(channels[0], 2)
    bright = (amount > skimage.filters.threshold_local(amount, 41)) & (amount > np.median(amount))
    mask = skimage.morphology.remove_small_objects(skimage.morphology.opening(bright, skimage.morphology.disk(3)), max_size=60)
    nuclei = skimage.measure.label(mask).astype("uint8")
    labels = group.create_group("labels")
    labels.attrs["ome"] = {"version": "0.5", "labels": ["nuclei"]}
    write_image(labels.create_group("nuclei"), [nuclei], "yx", 0.5, {"image-label": {"source": {"image": "../../"}}})


def plate(target: Path) -> None:
    """Parts of the tissue as the wells of a plate, one of which is empty."""
    channels = stains()
    rows, columns = "AB", "123"
    group = zarr.open_group(target, mode="w", zarr_format=3)
    places = [(row, column) for row in rows for column in columns if (row, column) != ("B", "2")]
    for row, column in places:
        top, left = 128 * (1 + rows.index(row)), 128 * (columns.index(column))
        well = group.create_group(f"{row}/{column}")
        well.attrs["ome"] = {"version": "0.5", "well": {"images": [{"path": "0"}]}}
        part = channels[:, top : top + 64, left : left + 64]
        write_image(well.create_group("0"), [part], "cyx", 0.5, {"omero": omero()})
    wells = [{"path": f"{row}/{column}", "rowIndex": rows.index(row), "columnIndex": columns.index(column)} for row, column in places]
    named = {"rows": [{"name": name} for name in rows], "columns": [{"name": name} for name in columns]}
    group.attrs["ome"] = {"version": "0.5", "plate": {"name": "plate", **named, "wells": wells}}


def pictures(target: Path) -> None:
    """Writes three levels of pyramid.zarr as OME-TIFF, and a month of climate.zarr as GeoTIFF."""
    target.mkdir(parents=True)
    levels = [zarr.open_array(target.parent / "pyramid.zarr", path=str(number), mode="r")[...] for number in [1, 2, 3]]
    tiles = {"tile": (64, 64), "compression": "zlib", "compressionargs": {"level": 9}, "photometric": "minisblack"}
    size = {f"PhysicalSize{axis}": 0.214 for axis in "XY"} | {f"PhysicalSize{axis}Unit": "µm" for axis in "XY"}
    metadata = {"axes": "YX", "Name": "cell", "Channel": {"Name": "phase"}, "UUID": "urn:uuid:0c8f6a3e-0000-4000-8000-7a61727231", **size}
    with tifffile.TiffWriter(target / "cell.ome.tif", ome=True) as writer:
        writer.write(levels[0], subifds=2, metadata=metadata, **tiles)
        for level in levels[1:]:
            writer.write(level, subfiletype=1, metadata=None, **tiles)
    climate = target.parent / "climate.zarr"
    sst, lat, lon = (zarr.open_array(climate, path=name, mode="r") for name in ["sst", "lat", "lon"])
    # A map has north at its top, and the corner of its first pixel is a place.
    step = [float(lon[1] - lon[0]), float(lat[1] - lat[0])]
    corner = [float(lon[0]) - step[0] / 2, float(lat[-1]) + step[1] / 2]
    keys = (1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326)
    tags = [(33550, "d", 3, (*step, 0.0), True), (33922, "d", 6, (0.0, 0.0, 0.0, *corner, 0.0), True)]
    tags += [(34735, "H", len(keys), keys, True), (42113, "s", 0, "nan", True)]
    form = {"extratags": tags, "compression": "zlib", "predictor": 3, "rowsperstrip": 8, "metadata": None, "software": "tifffile"}
    for name, month in {"sst.tif": 0, "sst-may.tif": 1}.items():
        tifffile.imwrite(target / name, sst[month, ::-1], **form)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    makers = {
        "climate.zarr": climate, "pyramid.zarr": pyramid, "tissue.zarr": tissue, "plate.zarr": plate, "netcdf": quarters, "tiff": pictures,
    }
    for name, make in makers.items():
        target = folder / name
        shutil.rmtree(target, ignore_errors=True)
        make(target)
        size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
        print(f"{target}: {size} bytes")


if __name__ == "__main__":
    main()
