"""Numbers of mantissa bits that are information, beside those of xbitinfo."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

xbitinfo = pytest.importorskip("xbitinfo")
xr = pytest.importorskip("xarray")

COMMAND = "import sys; from zarr_rust._command import main; sys.argv[0] = 'zarr-rs'; sys.exit(main())"

#: Data types, numbers of mantissa bits that are not noise, and lengths of waves in elements.
FIELDS = [(dtype, bits, wave) for dtype in ("f4", "f8") for bits in (5, 6, 8, 11, 14) for wave in (40.0, 400.0)]


def field(dtype: str, bits: int, wave: float) -> np.ndarray[Any, Any]:
    """Waves between 270 and 330, with noise behind so many mantissa bits."""
    random = np.random.default_rng(bits * 1000 + int(wave))
    y, x = np.mgrid[0:300, 0:300]
    smooth = 300 + 20 * np.sin(y / wave) + 10 * np.cos(x / wave / 1.7)
    noise = random.uniform(-1, 1, smooth.shape) * 256 * 2.0**-bits
    return (smooth + noise).astype(dtype)


def kept(values: np.ndarray[Any, Any], share: float) -> int:
    """The bits that xbitinfo keeps, along the dimension with the most information."""
    dataset = xr.Dataset({"a": (("y", "x"), values)})
    found = [
        xbitinfo.get_bitinformation(dataset, dim=dim, implementation="python").squeeze(drop=True) for dim in ("y", "x")
    ]
    most = max(found, key=lambda information: float(information["a"].sum()))
    return int(xbitinfo.get_keepbits(most, inflevel=[share])["a"].squeeze())


@pytest.mark.parametrize(("dtype", "bits", "wave"), FIELDS)
def test_the_bits_are_those_of_xbitinfo(tmp_path: Path, dtype: str, bits: int, wave: float) -> None:
    values = field(dtype, bits, wave)
    zarr.create_array(tmp_path / "s.zarr", data=values, chunks=(100, 300))
    options = ["--keep-information", "0.99", "--codecs", "none", "--time", "0", "--json"]
    args = ["bench-codecs", str(tmp_path / "s.zarr"), *options]
    ran = subprocess.run([sys.executable, "-c", COMMAND, *args], capture_output=True, text=True, check=True)
    information = json.loads(ran.stdout)["information"]
    assert abs(information["keepbits"] - max(1, kept(values, 0.99))) <= 1
