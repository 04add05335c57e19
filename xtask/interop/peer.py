"""Writes random arrays with other software, or reads arrays and compares them.

    peer.py write PEER FOLDER COUNT SEED    stores, files of values and manifest.jsonl into FOLDER
    peer.py read PEER FOLDER                reads the arrays that FOLDER/manifest.jsonl names; a line of JSON for each array
"""

import importlib
import json
import sys
import warnings
from pathlib import Path

import numpy as np

import manifest

MODULES = {"zarr": "peer_zarr", "tensorstore": "peer_tensorstore", "xarray": "peer_xarray"}


def write(module, folder: Path, count: int, seed: int) -> None:
    writer = manifest.Writer(folder)
    module.write(writer, count, np.random.default_rng(seed))
    writer.close()


def read(module, folder: Path) -> None:
    for line in manifest.read(folder):
        try:
            found = module.read(folder, line)
        except Exception as error:
            # The failure of one array is a result like any other.
            found = [f"{type(error).__name__}: {error}"]
        print(json.dumps({"id": line["id"], "differences": found}), flush=True)


def main() -> None:
    # The tests try types and codecs outside of the specification.
    warnings.simplefilter("ignore")
    task, peer, folder, *rest = sys.argv[1:]
    module = importlib.import_module(MODULES[peer])
    if task == "write":
        write(module, Path(folder), int(rest[0]), int(rest[1]))
    else:
        read(module, Path(folder))


if __name__ == "__main__":
    main()
