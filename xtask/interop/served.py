"""Reads a store that ours serves over HTTP by zarr-python (fsspec and obstore) and tensorstore, and compares all elements.

    python served.py URL FILE

FILE has a line of JSON for each array: its path, its format (2 or 3), and its elements in C order, little-endian, as hexadecimal digits.
Prints a line for each client; each difference is a line that begins with `differs`.
"""

import json
import sys

import numpy as np


def by_zarr_python(store):
    import zarr

    # Found by way of the group that it lies in, in the format that is there.
    def read(array):
        group, name = array["path"].strip("/").rsplit("/", 1)
        found = zarr.open_group(store, path=group, mode="r")[name]
        assert found.metadata.zarr_format == array["format"]
        return found[...]

    return read


def by_fsspec(url: str):
    from zarr.storage import FsspecStore

    return by_zarr_python(FsspecStore.from_url(url.rstrip("/"), read_only=True))


def by_obstore(url: str):
    from obstore.store import HTTPStore
    from zarr.storage import ObjectStore

    return by_zarr_python(ObjectStore(HTTPStore(url.rstrip("/"), client_options={"allow_http": True}), read_only=True))


def by_tensorstore(url: str):
    import tensorstore

    scheme, rest = url.split("://", 1)
    host, path = rest.split("/", 1)

    def read(array):
        kvstore = {"driver": "http", "base_url": f"{scheme}://{host}", "path": f"/{path}{array['path'].strip('/')}/"}
        driver = "zarr3" if array["format"] == 3 else "zarr"
        return tensorstore.open({"driver": driver, "kvstore": kvstore}, read=True).result().read().result()

    return read


def main(url: str, file: str) -> None:
    with open(file, encoding="utf-8") as lines:
        arrays = [json.loads(line) for line in lines]
    for name, client in [("zarr-python, fsspec", by_fsspec), ("zarr-python, obstore", by_obstore), ("tensorstore", by_tensorstore)]:
        read, values = client(url), 0
        for array in arrays:
            found = np.asarray(read(array))
            values += found.size
            if found.astype(found.dtype.newbyteorder("<")).tobytes().hex() != array["elements"]:
                print(f"differs {name}: {array['path']}: {found.dtype} {found.shape}")
        print(f"{name}: {len(arrays)} arrays, {values} values")


if __name__ == "__main__":
    main(*sys.argv[1:])
