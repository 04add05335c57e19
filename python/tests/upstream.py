"""Runs zarr-python's own tests of arrays, indexing and codecs with the pipeline of this library.

    python python/tests/upstream.py [arguments of pytest]

The source distribution of the installed version is fetched into a temporary folder, or taken from the folder ``ZARR_SOURCES``. Tests that
are known to differ are listed below, each with its reason; one that passes after all is reported.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import zarr

#: Files and folders of its tests.
TESTS = [
    "test_array.py",
    "test_codec_pipeline.py",
    "test_codecs",
    "test_dtype",
    "test_indexing.py",
    "test_properties.py",
    "test_rust_pipeline.py",
    "test_unified_chunk_grid.py",
    "test_v2.py",
]

_MESSAGE = "an error of the same class has another text"
_CALLS = "it counts or replaces calls of get_ranges, where this pipeline calls get"
_INTERNAL = "it replaces a function within zarr-python's codec"

#: What differs, by a part of its name, and why.
DIFFERENT: dict[str, str] = {
    "test_scale_offset.py::test_uint64_encode_rejects_underflow": _MESSAGE,
    "test_scale_offset.py::test_integer_decode_rejects_non_exact_division": _MESSAGE,
    "test_scale_offset.py::test_encode_rejects_": _MESSAGE,
    "test_scale_offset.py::test_decode_rejects_integer_overflow": _MESSAGE,
    "test_sharding_multiple_chunks_partial_shard_read": _CALLS,
    "test_sharding_duplicate_read_indexes": _CALLS,
    "test_sharding_partial_shard_read__index_chunk_slice_fails": _INTERNAL,
    "test_sharding_partial_shard_read__chunk_load_fails": _CALLS,
    "test_sharding_unit.py::test_load_partial_shard": _CALLS,
    "test_create_array_with_data_num_gets": "before 3.2 it expects a read of shards of which all is written, which this pipeline leaves out",
    "test_encoded_subchunk_write_order[": "inner chunks lie in a shard in C order, which is an option of zarr-python and no metadata",
}

#: Loaded by pytest: sets the pipeline, and tells at the end what it did.
PLUGIN = '''
import json, os
import pytest, zarr, zarr_rust.pipeline as pipeline

DIFFERENT = json.loads(os.environ["ZARR_RUST_DIFFERENT"])

# As a default, since its tests reset the configuration.
zarr.config.defaults[0]["codec_pipeline"]["path"] = "zarr_rust.pipeline.RustCodecPipeline"
zarr.config.refresh()

def pytest_collection_modifyitems(items):
    for item in items:
        for name, reason in DIFFERENT.items():
            if name in item.nodeid:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=False))

def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"pipelines of zarr_rust: {pipeline.counts()}")
'''


#: Its own suite for pipelines, which a class for each of them runs.
SUITE = '''
try:
    from tests.test_codec_pipeline_suite import CodecPipelineTests as _Tests
except ImportError:
    _Tests = object

class TestRustPipeline(_Tests):
    pipeline_path = "zarr_rust.pipeline.RustCodecPipeline"
'''


def sources(folder: Path) -> Path:
    """The unpacked source distribution."""
    given = os.environ.get("ZARR_SOURCES")
    archives = Path(given) if given else folder
    if given is None:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "zarr"]
        subprocess.run([*command, f"zarr=={zarr.__version__}", "-d", str(folder)], check=True)
    archive = archives / f"zarr-{zarr.__version__}.tar.gz"
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    return folder / f"zarr-{zarr.__version__}"


def main() -> int:
    """Runs the tests."""
    import json

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        unpacked = sources(folder)
        (folder / "rust_pipeline_plugin.py").write_text(PLUGIN)
        (unpacked / "tests" / "test_rust_pipeline.py").write_text(SUITE)
        package = str(Path(__file__).parents[1])
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join([str(folder), package, environment.get("PYTHONPATH", "")])
        environment["ZARR_RUST_DIFFERENT"] = json.dumps(DIFFERENT)
        environment["PYTHONFAULTHANDLER"] = "1"
        tests = [f"tests/{name}" for name in TESTS if (unpacked / "tests" / name).exists()]
        command = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-p", "rust_pipeline_plugin", "-p", "no:cacheprovider"]
        return subprocess.run([*command, *sys.argv[1:], *tests], cwd=unpacked, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
