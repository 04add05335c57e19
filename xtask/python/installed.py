"""What a user does with the wheel, in an environment that has it and numpy alone: run by ``cargo xtask python``."""

import importlib.metadata
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np
import zarr_rust

FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures"
COMMAND = Path(sys.executable).with_name("zarr-rs")


def run(*arguments: str) -> str:
    return subprocess.run([COMMAND, *arguments], check=True, capture_output=True, text=True).stdout


with tempfile.TemporaryDirectory() as folder:
    assert Path(zarr_rust.__file__).is_relative_to(sys.prefix), zarr_rust.__file__
    with tarfile.open(FIXTURES / "xarray-v3.tar.gz") as archive:
        archive.extractall(folder, filter="data")
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
    assert all(len(text) > 500 for text in texts.values()), {name: len(text) for name, text in texts.items()}
    print(f"the wheel reads {weather!r} and brings {run('--version').strip()}")
