"""CPU seconds of the command `zarr` on HDF5 and netCDF files and on references, beside other software.

Usage: python files.py ZARR FOLDER [ROUNDS] [SERVER]

ZARR is the command, FOLDER gets the files (about 400 MB, once), SERVER is the program `zarr-testserver`: with it, reads of a server with a latency of
50 ms are measured as well. Needs h5py, netCDF4, zarr 3, xarray, dask, virtualizarr, obstore, fsspec and aiohttp. Each measurement is a process of its
own, all software takes turns, and the least of all rounds is printed: CPU seconds of the process, wall seconds, and the most memory that it held. Times
of Python are without its imports.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path


def make(folder):
    """Makes the files that are not there."""
    import h5py
    import netCDF4
    import numpy as np

    rng = np.random.default_rng(1)
    if not (folder / "many.h5").exists():
        with h5py.File(folder / "many.h5", "w") as file:
            values = rng.normal(size=(100_000, 10)).astype("f4")
            file.create_dataset("x", shape=(100_000, 10), chunks=(1, 10), dtype="f4", data=values)
    for name, length in ("c20k", 5000), ("small", 25):
        if (folder / f"{name}.json").exists():
            continue
        with h5py.File(folder / f"{name}.h5", "w") as file:
            values = rng.normal(size=(10_000, length)).astype("f4")
            data = file.create_dataset("x", shape=(10_000, length), chunks=(1, length), dtype="f4", data=values)
            document = {"zarr_format": 2, "shape": list(data.shape), "chunks": list(data.chunks), "dtype": "<f4"}
            document |= {"compressor": None, "filters": None, "fill_value": 0.0, "order": "C"}
            refs = {".zgroup": '{"zarr_format": 2}', "x/.zarray": json.dumps(document), "x/.zattrs": "{}"}

            def add(chunk):
                refs[f"x/{chunk.chunk_offset[0]}.0"] = [f"{name}.h5", chunk.byte_offset, chunk.size]

            data.id.chunk_iter(add)
            (folder / f"{name}.json").write_text(json.dumps({"version": 1, "refs": refs}))
    if not (folder / "records.nc").exists():
        with netCDF4.Dataset(folder / "records.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
            file.createDimension("t", None)
            file.createDimension("x", 25)
            # Records of two variables take turns, so that each record of one is a chunk.
            file.createVariable("x", "f4", ("t", "x"))[:] = np.arange(25_000_000, dtype="f4").reshape(-1, 25)
            file.createVariable("y", "f4", ("t",))[:] = np.arange(1_000_000, dtype="f4")
    if not (folder / "era.nc").exists():
        shape = (112, 512, 576)
        with netCDF4.Dataset(folder / "era.nc", "w") as file:
            for name, length in zip(("time", "lat", "lon"), shape):
                file.createDimension(name, length)
                file.createVariable(name, "f8", (name,))[:] = np.arange(length)
            file["time"].units = "hours since 2000-01-01"
            options = {"zlib": True, "shuffle": True, "complevel": 4, "chunksizes": (1, 64, 576), "fill_value": -999.0}
            data = file.createVariable("t2m", "f4", ("time", "lat", "lon"), **options)
            base = np.cumsum(rng.normal(0, 0.5, shape[1:]), axis=1) + 280
            for step in range(shape[0]):
                noise = rng.normal(0, 0.05, shape[1:])
                data[step] = (base + np.sin(step / 5) * 3 + noise).round(2).astype("f4")


def table_h5py(folder):
    import h5py

    yield
    with h5py.File(folder / "many.h5") as file:
        found = []
        file["x"].id.chunk_iter(lambda chunk: found.append((chunk.chunk_offset, chunk.byte_offset, chunk.size)))
        assert len(found) == 100_000


def table_virtualizarr(folder):
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore
    from virtualizarr import open_virtual_dataset
    from virtualizarr.parsers import HDFParser

    yield
    registry = ObjectStoreRegistry({"file://": LocalStore()})
    data = open_virtual_dataset(url=f"file://{folder / 'many.h5'}", registry=registry, parser=HDFParser())
    assert data["x"].data.manifest.shape_chunk_grid == (100_000, 1)


def convert_xarray(folder):
    import shutil

    import xarray

    shutil.rmtree(folder / "xarray.zarr", ignore_errors=True)
    yield
    # In parts, as the command does it.
    with xarray.open_dataset(folder / "era.nc", engine="netcdf4", chunks={"time": 8}, decode_cf=False) as data:
        for name in data.variables:
            data[name].encoding = {}
        data.to_zarr(folder / "xarray.zarr", zarr_format=3, consolidated=False)


def read_h5py(folder):
    import h5py

    yield
    with h5py.File(folder / "era.nc") as file:
        assert file["t2m"][...].shape == (112, 512, 576)


def references_fsspec(folder, name, protocol):
    import fsspec
    import zarr
    from zarr.storage import FsspecStore

    yield
    options = {"remote_options": {"asynchronous": True}} if protocol == "http" else {}
    system = fsspec.filesystem("reference", fo=name, remote_protocol=protocol, asynchronous=True, **options)
    group = zarr.open_group(FsspecStore(system, read_only=True), mode="r")
    assert group["x"][:].shape[0] == 10_000


def million_fsspec(folder):
    import fsspec
    import fsspec.implementations.reference  # noqa: F401
    import pandas  # noqa: F401
    import zarr
    from zarr.storage import FsspecStore

    yield
    system = fsspec.filesystem("reference", fo=str(folder / "million.parq"), remote_protocol="file", asynchronous=True, lazy=True)
    array = zarr.open_group(FsspecStore(system, read_only=True), mode="r", zarr_format=2)["x"]
    assert array[500_000, 3] == 12_500_003


def python(function, *arguments):
    """Runs a measurement in this process, and prints what it took."""
    steps = function(*arguments)
    next(steps)
    used = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    begin, before = time.perf_counter(), used()
    next(steps, None)
    wall, cpu = time.perf_counter() - begin, used() - before
    print(json.dumps([cpu, wall, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def run(folder, command, is_python):
    """CPU seconds, wall seconds and MiB of a process."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        return None
    if is_python:
        return json.loads(output.splitlines()[-1])
    return [used.ru_utime + used.ru_stime, time.perf_counter() - begin, used.ru_maxrss / 1024]


def main():
    zarr, folder = sys.argv[1], Path(sys.argv[2]).absolute()
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    folder.mkdir(parents=True, exist_ok=True)
    # In a process of its own: a process begins with the most memory that the one which started it held.
    subprocess.run([sys.executable, __file__, "--make", str(folder)], check=True)
    own = lambda name, *arguments: ([sys.executable, __file__, "--", name, str(folder), *arguments], True)
    command = lambda *arguments: ([zarr, *map(str, arguments)], False)
    out = folder / "ours.zarr"
    million = folder / "million.parq"
    if not million.exists():
        subprocess.run([zarr, "virtualize", folder / "records.nc", "-o", million, "--inline", "0", "--quiet"], check=True)
    cases = {
        "table of 100,000 chunks": {
            "zarr": command("ls", folder / "many.h5"),
            "h5py": own("table_h5py"),
            "virtualizarr": own("table_virtualizarr"),
        },
        "convert 126 MiB": {
            "zarr": command("convert", folder / "era.nc", out, "--overwrite"),
            "xarray": own("convert_xarray"),
        },
        "read 126 MiB": {
            "zarr": command("read", folder / "era.nc", "/t2m", "--raw", "--as", "raw", "-o", "/dev/null"),
            "h5py": own("read_h5py"),
        },
        "10,000 chunks of 100 bytes by references": {
            "zarr": command("read", folder / "small.json", "/x", "--as", "raw", "-o", "/dev/null"),
            "fsspec": own("references_fsspec", str(folder / "small.json"), "file"),
        },
        "an element of 1,000,000 references in Parquet": {
            "zarr": command("read", million, "/x", "--isel", "t=500000", "--isel", "x=3", "--as", "raw", "-o", "/dev/null"),
            "fsspec": own("million_fsspec"),
        },
    }
    server = None
    if len(sys.argv) > 4:
        server = subprocess.Popen(
            [sys.argv[4], "--dir", folder, "--face", "plain", "--latency", "50ms"], stdout=subprocess.PIPE, text=True
        )
        url = next(line for line in server.stdout if line.startswith("http")).strip() + f"/{folder.name}"
        refs = json.loads((folder / "c20k.json").read_text())
        for key, place in refs["refs"].items():
            if isinstance(place, list):
                refs["refs"][key] = [f"{url}/{place[0]}", *place[1:]]
        (folder / "served.json").write_text(json.dumps(refs))
        served = str(folder / "served.json")
        cases["10,000 chunks of 20 KB of a server"] = {
            "zarr": command("read", f"references:{url}/c20k.json", "/x", "--as", "raw", "-o", "/dev/null"),
            "fsspec": own("references_fsspec", served, "http"),
        }
    try:
        for case, programs in cases.items():
            found = {name: [] for name in programs}
            for _ in range(rounds):
                for name, program in programs.items():
                    found[name].append(run(folder, *program))
            for name, all_of in found.items():
                all_of = [of_round for of_round in all_of if of_round]
                least = [min(values) for values in zip(*all_of)] if all_of else None
                text = "failed" if least is None else "CPU %.3f s, wall %.2f s, %.0f MiB" % tuple(least)
                print(f"{case:46} {name:14} {text}", flush=True)
    finally:
        if server:
            server.terminate()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--"]:
        python(globals()[sys.argv[2]], Path(sys.argv[3]), *sys.argv[4:])
    elif sys.argv[1:2] == ["--make"]:
        make(Path(sys.argv[2]))
    else:
        main()
