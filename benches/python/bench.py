"""This package beside the other libraries of Python, in one run: bench.py [--mib 512] [--rounds 3] [--cases ...].

Each measurement is a process of its own, the libraries take turns in each round, and of the rounds the fastest counts. Results are compared:
one that differs ends the run. The results go to a file of JSON, and a table of Markdown to the standard output; `pictures.py` draws them.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from peers import NAMES, PIPELINES

HERE = Path(__file__).parent

#: Layouts: the shape of chunks and of shards in elements of 4 bytes, the codec, and how many chunks there are for 512 MiB.
LAYOUTS: dict[str, tuple[tuple[int, int], tuple[int, int] | None, bool, int]] = {
    "raw": ((256, 1024), None, False, 512),
    "zstd": ((256, 1024), None, True, 512),
    "sharded zstd": ((64, 256), (4096, 1024), True, 8192),
    "4,096 x 64 KiB": ((16, 1024), None, True, 4096),
    "100,000 x 4 KiB": ((1, 1024), None, True, 100_000),
}

#: All that is measured: arrays of these layouts, opening many arrays, and a cluster of Dask.
CASES = [*LAYOUTS, "arrays", "dask"]

OPERATIONS = ("read", "write", "round trip")
ON_CLUSTER = ("sum", "to_zarr", "rechunk", "climatology")
#: How Dask reads and writes: by the pipelines of zarr-python, or by this package's own arrays.
WAYS = [*PIPELINES, "zarr-rust"]


def elements(rows: int) -> np.ndarray[Any, Any]:
    """Smooth data with noise, of which zstd makes about two thirds."""
    random = np.random.default_rng(7)
    smooth = np.sin(np.arange(rows)[:, None] / 50) * 20 + np.cos(np.arange(1024) / 90) * 9
    return (smooth + random.standard_normal((rows, 1024)) * 0.3).astype("f4").round(2)


def make(folder: Path, mib: int, wanted: list[str]) -> dict[str, dict[str, Any]]:
    """The stores that the wanted cases read, the arrays of numpy that are written, and the expected results."""
    import xarray
    import zarr

    expected: dict[str, dict[str, Any]] = {}
    for number, (layout, (chunks, shards, compressed, count)) in enumerate(LAYOUTS.items()):
        # Dask reads the array of this layout.
        if layout not in wanted and not (layout == "zstd" and "dask" in wanted):
            continue
        unit = shards or chunks
        elements_of_chunk = chunks[0] * chunks[1]
        rows = max(count * mib // 512 * elements_of_chunk // 1024 // unit[0], 1) * unit[0]
        data = elements(rows)
        compressors = zarr.codecs.ZstdCodec(level=3) if compressed else None
        source = folder / str(number)
        settings: dict[str, Any] = {"shape": data.shape, "dtype": "f4", "chunks": chunks, "shards": shards, "compressors": compressors}
        zarr.create_array(source, **settings)[...] = data
        # Of the same layout, and empty: each library writes into a copy of it.
        zarr.create_array(f"{source}-empty", **settings)
        np.save(f"{source}.npy", data)
        expected[layout] = {"source": str(source), "mib": data.nbytes / 2**20, "crc": zlib.crc32(data)}
    group = zarr.create_group(folder / "arrays")
    names = [f"a{number:04}" for number in range(1000 if mib >= 512 else max(20, 1000 * mib // 512))]
    for name in names:
        group.create_array(name, shape=(8, 8), chunks=(4, 4), dtype="f4")
    zarr.consolidate_metadata(folder / "arrays")
    (folder / "arrays" / "names.json").write_text(json.dumps(names))
    expected["arrays"] = {"source": str(folder / "arrays"), "mib": 0, "crc": 8 * len(names)}
    if "dask" not in wanted:
        return expected
    data = np.load(f"{expected['zstd']['source']}.npy")
    times = np.datetime64("2001-01-01", "ns") + np.arange(len(data)).astype("m8[h]") * 6
    dataset = xarray.Dataset({"t": (("time", "x"), data)}, {"time": times})
    encoding = {"t": {"chunks": (256, 1024), "compressors": [zarr.codecs.ZstdCodec(level=3)]}}
    dataset.to_zarr(f"{expected['zstd']['source']}-set", zarr_format=3, encoding=encoding)
    return expected


def measured(peer: str, operation: str, case: dict[str, Any], target: Path) -> dict[str, Any]:
    if operation in ("write", "round trip"):
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(f"{case['source']}-empty", target)
    command = [sys.executable, str(HERE / "measure.py"), peer, operation, case["source"], str(target)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return {"absent": done.stderr.strip().splitlines()[-1][:300]}
    found: dict[str, Any] = json.loads(done.stdout)
    if operation == "write" and "absent" not in found:
        # Read by zarr-python's own pipeline.
        command = [sys.executable, str(HERE / "measure.py"), NAMES[0], "read", str(target), "-"]
        found["result"] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["result"]
    return found


def on_cluster(way: str, case: dict[str, Any], target: Path) -> list[dict[str, Any]]:
    environment = dict(os.environ)
    if way in PIPELINES:
        environment["ZARR_CODEC_PIPELINE__PATH"] = PIPELINES[way]
        module, _, name = PIPELINES[way].rpartition(".")
        check = subprocess.run([sys.executable, "-c", f"from {module} import {name}"], capture_output=True, text=True)
        if check.returncode != 0:
            return [{"operation": operation, "absent": check.stderr.strip().splitlines()[-1]} for operation in ON_CLUSTER]
    command = [sys.executable, str(HERE / "cluster.py"), way, case["source"], str(target), *ON_CLUSTER]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise SystemExit(f"{way}: {done.stderr[-2000:]}")
    return lines


def versions() -> dict[str, str]:
    names = ["zarr-rust", "zarr", "zarrs", "zarrista", "tensorstore", "numpy", "dask", "distributed", "xarray"]
    found = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed by pip"
    return found | {"python": platform.python_version()}


def table(results: dict[str, Any]) -> str:
    """The results as tables of Markdown: seconds, and of each row the fastest in bold."""
    lines = []
    for part, peers in (("libraries", results["peers"]), ("dask", results["ways"])):
        lines += ["", f"| {part} | " + " | ".join(peers) + " |", "|---|" + "---:|" * len(peers)]
        rows: dict[str, dict[str, Any]] = {}
        for one in results["results"]:
            if one["part"] == part:
                rows.setdefault(f"{one['case']}: {one['operation']}", {})[one["peer"]] = one
        for row, cells in rows.items():
            fastest = min((cell["seconds"] for cell in cells.values() if "seconds" in cell), default=None)

            def shown(cell: dict[str, Any] | None, fastest: float | None = fastest) -> str:
                if cell is None or "seconds" not in cell:
                    return "-"
                text = f"{cell['seconds']:.2f}" + (f" ({cell['mib']:.0f} MiB)" if "mib" in cell else "")
                return f"**{text}**" if cell["seconds"] == fastest else text

            lines.append(f"| {row} | " + " | ".join(shown(cells.get(peer)) for peer in peers) + " |")
    return "\n".join(lines).strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=512, help="MiB of elements in each case")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("results.json"))
    parser.add_argument("--folder", type=Path, default=None, help="where stores are made; a temporary folder without it")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=CASES, help="some cases alone")
    arguments = parser.parse_args()
    best: dict[tuple[str, str, str, str], dict[str, Any]] = {}

    def note(part: str, case: str, operation: str, peer: str, found: dict[str, Any], expected: Any) -> None:
        if "absent" in found:
            print(f"{case}: {operation}: {peer}: {found['absent']}", file=sys.stderr)
        elif found.pop("result") != expected:
            raise SystemExit(f"{case}: {operation}: {peer}: the result is wrong")
        key = (part, case, operation, peer)
        before = best.get(key, {})
        # What fails in one round keeps the seconds of another.
        if not before or found.get("seconds", float("inf")) < before.get("seconds", float("inf")):
            best[key] = {**found, "all": before.get("all", [])}
        if "seconds" in found:
            best[key]["all"] = [*best[key]["all"], round(found["seconds"], 4)]

    def write() -> dict[str, Any]:
        found = [
            {"part": part, "case": case, "operation": operation, "peer": peer, **one}
            for (part, case, operation, peer), one in best.items()
        ]
        # Those of the machine that this process may use, as `taskset` says.
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        machine = {"processor": platform.processor() or platform.machine(), "cores": cores, "system": platform.system()}
        about = {"mib": arguments.mib, "rounds": arguments.rounds, "machine": machine, "versions": versions()}
        results = {**about, "peers": NAMES, "ways": WAYS, "results": found}
        # After each case, since a run may take hours.
        arguments.out.write_text(json.dumps(results, indent=1) + "\n")
        return results

    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        cases = make(folder, arguments.mib, arguments.cases)
        for number in range(arguments.rounds):
            for case in arguments.cases:
                print(f"round {number + 1} of {arguments.rounds}: {case}", file=sys.stderr, flush=True)
                if case != "dask":
                    for operation in ("open",) if case == "arrays" else OPERATIONS:
                        for peer in NAMES:
                            found = measured(peer, operation, cases[case], folder / "target")
                            note("libraries", case, operation, peer, found, cases[case]["crc"])
                else:
                    expected: dict[str, Any] = {}
                    for way in WAYS:
                        for found in on_cluster(way, cases["zstd"], folder / "target"):
                            operation = found.pop("operation")
                            # The first way is zarr-python's own.
                            if "result" in found:
                                expected.setdefault(operation, found["result"])
                            note("dask", "zstd", operation, way, found, expected.get(operation))
                write()
    print(table(write()))


if __name__ == "__main__":
    main()
