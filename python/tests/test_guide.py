"""The guide, docs/python.md, the pages for users of other software, and the first page: their programs are run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest
import zarr_rust
from xarray.backends import plugins
from zarr_rust.xarray import ZarrRustBackend

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "python.md"
#: Pages of `docs/guide` that have programs in Python.
FROM = [
    "from-tensorstore.md",
    "from-xarray-and-rechunker.md",
    "netcdf-and-hdf5.md",
    "files-as-one.md",
    "images.md",
    "tiff.md",
    "tables.md",
    "training.md",
]

#: Packages that programs of pages need.
NEEDED = {"tables.md": ["duckdb", "polars", "pyarrow"]}


def blocks(page: Path = GUIDE) -> list[tuple[int, str, str]]:
    """The code blocks: their first lines, the words behind the three backticks, and their text."""
    text = page.read_text()
    found = re.finditer(r"^```(\w[^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: block.start()].count("\n") + 2, block[1], block[2]) for block in found]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Commands of the environment that runs this.
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", str(Path(zarr_rust.__file__).parents[1]))
    # A module, whose functions go to other processes.
    module = types.ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", module)
    program = vars(module)
    started: list[subprocess.Popen[bytes]] = []
    run = 0
    try:
        with open("log.txt", "wb") as log:
            for line, kind, code in blocks():
                if kind == "sh run":
                    for command in code.splitlines():
                        words = shlex.split(command)
                        assert words[-1] == "&", command
                        started.append(subprocess.Popen(words[:-1], stdout=log, stderr=log))
                        begun = time.monotonic()
                        while not Path("cluster.json").exists():
                            assert time.monotonic() < begun + 120, Path("log.txt").read_text()
                            assert started[0].poll() is None, Path("log.txt").read_text()
                            time.sleep(0.05)
                elif kind.startswith("python"):
                    compiled = compile("\n" * (line - 1) + code, str(GUIDE), "exec")
                    if kind == "python":
                        exec(compiled, program)
                        run += 1
    finally:
        if "client" in program:
            program["client"].close()
        for process in reversed(started):
            process.terminate()
            process.wait(20)
    assert run >= 9 and len(started) == 2
    # Blocks that are not run need something that is not here, and say so.
    assert {kind for _, kind, _ in blocks()} == {"sh", "sh run", "python", "python untested"}


@pytest.mark.parametrize("name", FROM)
def test_pages_of_the_guide_with_programs_in_python(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in NEEDED.get(name, []):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    # As an installed package is found by its entry point.
    monkeypatch.setitem(plugins.BACKEND_ENTRYPOINTS, "zarr_rust", ("zarr_rust", ZarrRustBackend))
    shutil.copytree(ROOT / "examples" / "data" / "climate.zarr", "climate.zarr")
    for files in ["netcdf", "tiff"]:
        shutil.copytree(ROOT / "examples" / "data" / files, ".", dirs_exist_ok=True)
    page = ROOT / "docs" / "guide" / name
    programs = [(line, code) for line, kind, code in blocks(page) if kind == "python"]
    assert programs and sum(code.count("assert") for _, code in programs) >= 4
    program: dict[str, object] = {}
    for line, code in programs:
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), program)


def test_the_first_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples" / "data" / "climate.zarr", "climate.zarr")
    text = (ROOT / "README.md").read_text()
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    program: dict[str, object] = {}
    exec(code, program)
    sst, january = program["sst"], program["january"]
    assert isinstance(sst, zarr_rust.Array) and sst.shape == (12, 18, 432)
    assert getattr(january, "shape", None) == (1, 18, 432)
    assert zarr_rust.open("new.zarr", "sst").shards == (6, 18, 432)
