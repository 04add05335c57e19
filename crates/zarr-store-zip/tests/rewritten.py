"""Writes rewritten.zip: a ZipStore of zarr-python 3.4 in which a chunk and a document were set twice.

python rewritten.py rewritten.zip
"""

import sys

import zarr

store = zarr.storage.ZipStore(sys.argv[1], mode="w")
array = zarr.create_array(store, name="q", shape=(4,), chunks=(2,), dtype="u1", compressors=None, fill_value=0)
array[...] = [1, 2, 3, 4]
array[:1] = 7
array.attrs["note"] = "set"
store.close()
