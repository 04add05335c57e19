"""Reads a store that ours serves over HTTP by zarr-python (fsspec and obstore) and tensorstore, and compares all elements.

    python served.py URL FILE

FILE has a line of JSON for each array: its path, its format (2 or 3), and its elements in C order, little-endian, as hexadecimal digits.
Prints a line for each client; each difference is a line that begins with `differs`.
"""

import json
import sys

import numpy as np


def by_fsspec(url: str):
    import zarr
    from zarr.storage import FsspecStore

    root = zarr.open_group(FsspecStore.from_url(url.rstrip("/"), read_only=True), mode="r")
    return lambda array: root[array["path"].strip("/")][...]


def by_obstore(url: str):
    import zarr
    from obstore.store import HTTPStore
    from zarr.storage import ObjectStore

    store = ObjectStore(HTTPStore(url.rstrip("/"), client_options={"allow_http": True}), read_only=True)
    return lambda array: zarr.open_array(store, path=array["path"].strip("/"), mode="r")[...]


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
