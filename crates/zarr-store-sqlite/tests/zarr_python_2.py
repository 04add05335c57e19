"""Makes zarr_python_2.sqlite: a store as SQLiteStore of zarr-python 2.18.3 writes it, by its statements."""

import os
import sqlite3
import struct

path = os.path.join(os.path.dirname(__file__), "zarr_python_2.sqlite")
if os.path.exists(path):
    os.remove(path)
db = sqlite3.connect(path, detect_types=0, isolation_level=None, check_same_thread=False)
db.text_factory = str
cursor = db.cursor()
cursor.execute("CREATE TABLE IF NOT EXISTS zarr(k TEXT PRIMARY KEY, v BLOB)")
values = {
    ".zgroup": b'{\n    "zarr_format": 2\n}',
    "a/.zarray": b'{"chunks": [3], "compressor": null, "dtype": "<i4", "fill_value": 7, "filters": null, '
    b'"order": "C", "shape": [8], "zarr_format": 2}',
    "a/.zattrs": '{"unit": "\u00b5m"}'.encode(),
    "a/0": struct.pack("<3i", 0, 1, 2),
    "a/2": struct.pack("<3i", 6, 7, 7),
    "b_c/.zgroup": b'{"zarr_format": 2}',
    "b\u00e4/x y/.zgroup": b'{"zarr_format": 2}',
    "large": bytes(range(256)) * 64,
    "empty": b"",
}
cursor.executemany("REPLACE INTO zarr VALUES (?, ?)", [(k, memoryview(v)) for k, v in values.items()])
# Set again, as zarr-python does.
cursor.executemany("REPLACE INTO zarr VALUES (?, ?)", [(".zgroup", memoryview(b'{"zarr_format": 2}'))])
db.close()
