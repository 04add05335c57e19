"""A year of temperatures in a store, and parts of them read back."""

import tempfile

import numpy as np
import zarr_rust

with tempfile.TemporaryDirectory() as folder:
    url = f"{folder}/weather.zarr"
    group = zarr_rust.create_group(url, attributes={"title": "a year of temperatures"})
    array = group.create_array(
        "t2m", shape=(365, 18, 36), dtype="f4", chunks=(30, 9, 9), shards=(90, 18, 36), dimension_names=["time", "lat", "lon"]
    )
    days = np.arange(365, dtype="f4")[:, None, None]
    array[:] = 288 - 10 * np.cos(2 * np.pi * days / 365) + np.linspace(-20, 20, 18, dtype="f4")[:, None]

    array = zarr_rust.open_array(url, "t2m")
    print(group.tree())
    print(array.info)
    print("1 January and 1 July at one point:", array[[0, 181], 9, 18])
    print("mean of the year:", array[...].mean())
