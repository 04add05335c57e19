"""What the tests have in common: arrays of every type that numpy and zarr-python have."""

from __future__ import annotations

import signal
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures"

STRUCT = np.dtype([("a", "i4"), ("b", "f8"), ("c", "S3")])

FIXED = [
    *("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"),
    *("M8[s]", "m8[ms]", "S5", "U4", "V6"),
    STRUCT,
]


def sample(dtype: Any, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Random elements of any data type of fixed size, or of texts and bytes of any length."""
    count = int(np.prod(shape))
    if dtype == "string":
        texts = ["".join(random.choice(list("aé€𝄞 \0x"), random.integers(0, 9))) for _ in range(count)]
        return np.array(texts, dtype=object).reshape(shape)
    if dtype == "bytes":
        values = np.empty(count, object)
        for index in range(count):
            values[index] = random.bytes(int(random.integers(0, 9)))
        return values.reshape(shape)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind == "U":
        return np.array(["".join(random.choice(list("aé€"), 3)) for _ in range(count)], dtype=dtype).reshape(shape)
    if dtype.names:
        made = np.zeros(shape, dtype)
        for name in dtype.names:
            field = dtype[name]
            made[name] = sample(field.base, shape + field.shape, random)
        return made
    if dtype.kind in "fc":
        return (random.standard_normal(shape) + (1j * random.standard_normal(shape) if dtype.kind == "c" else 0)).astype(dtype)
    if dtype.kind in "SV":
        raw = random.integers(97, 123, (count, dtype.itemsize), dtype="u1")
        return raw.view(dtype).reshape(shape)
    if dtype.kind in "Mm":
        return random.integers(-(10**9), 10**9, shape).astype("i8").view(dtype)
    return random.integers(0, 256**dtype.itemsize, shape, dtype="u8", endpoint=False).astype(dtype) if dtype.itemsize < 8 else (
        random.integers(0, 2**63, shape, dtype="u8").astype(dtype)
    )


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT raises ``KeyboardInterrupt``, also where the tests were started with it ignored, as in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_report_header() -> str:
    return f"compared with numpy {np.__version__}, zarr-python {zarr.__version__}"


@pytest.fixture(scope="session")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stores that other software wrote."""
    folder = tmp_path_factory.mktemp("fixtures")
    for archive in sorted(FIXTURES.glob("*.tar.gz")):
        with tarfile.open(archive) as opened:
            opened.extractall(folder / archive.name.removesuffix(".tar.gz"), filter="data")
    return folder
