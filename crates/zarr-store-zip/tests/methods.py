"""Writes methods.zip: values compressed by each method that Python's zipfile, and so zarr-python's ZipStore, offers."""

import pathlib
import zipfile

VALUES = {"zarr.json": b'{"zarr_format":3}', "empty": b"", "c/0": bytes([7]) * 5000, "c/1": bytes(range(256)) * 20}
METHODS = {"bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}

with zipfile.ZipFile(pathlib.Path(__file__).with_suffix(".zip"), "w") as archive:
    for name, method in METHODS.items():
        for key, value in VALUES.items():
            info = zipfile.ZipInfo(f"{name}/{key}")
            archive.writestr(info, value, method)
