"""What a user does with the wheel, in an environment that has it and numpy alone: run by ``cargo xtask python``.

With ``--published``, that the wheel has the licences of all software in it, and the list of it.
"""

import importlib.metadata
import json
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

import numpy as np
import zarr_rust

FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures"
COMMAND = Path(sysconfig.get_path("scripts")) / "zarr-rs"


def run(*arguments: str) -> str:
    return subprocess.run([COMMAND, *arguments], check=True, capture_output=True, text=True).stdout


with tempfile.TemporaryDirectory() as folder:
    assert Path(zarr_rust.__file__).is_relative_to(sys.prefix), zarr_rust.__file__
    with tarfile.open(FIXTURES / "xarray-v3.tar.gz") as archive:
        # Python has filters since 3.11.4.
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    weather = zarr_rust.dataset(f"{folder}/climate/store", "/")
    assert weather["t2m"].read().shape == weather["t2m"].shape, weather
    zarr_rust.create_array(f"{folder}/x.zarr", "t", data=np.arange(6, dtype="i2").reshape(2, 3))
    assert run("--version").startswith("zarr ")
    tree = run("tree", f"{folder}/x.zarr")
    assert "t" in tree and "int16" in tree, tree
    failed = subprocess.run([COMMAND, "tree", f"{folder}/none.zarr"], capture_output=True, text=True)
    assert failed.returncode == 3 and "none.zarr" in failed.stderr, failed
    about = importlib.metadata.distribution("zarr-rust")
    texts = {name: about.read_text(f"licenses/{name}") or "" for name in ("LICENSE-MIT", "LICENSE-APACHE", "LICENSE-OFL")}
    if sys.argv[1:] == ["--published"]:
        texts["LICENSE-THIRD-PARTY"] = about.read_text("licenses/LICENSE-THIRD-PARTY") or ""
        assert "SQLite" in texts["LICENSE-THIRD-PARTY"], texts["LICENSE-THIRD-PARTY"][:500]
        components = json.loads(about.read_text("sboms/zarr-rust.cdx.json") or "{}")["components"]
        assert any(component["name"] == "pyo3" for component in components), components
    assert all(len(text) > 500 for text in texts.values()), {name: len(text) for name, text in texts.items()}
    print(f"the wheel reads {weather!r} and brings {run('--version').strip()}")
