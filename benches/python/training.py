"""CPU seconds of reads as training makes them, beside zarr-python and tensorstore, and the waits of loops that read ahead.

Usage: python training.py FOLDER [ROUNDS] [SERVER]

FOLDER gets the stores (about 300 MB, once), SERVER is the program `zarr-testserver`: with it, loops over a bucket with a latency of 50 ms are
measured as well. Needs zarr 3 and tensorstore. All libraries take turns in processes of their own, and the least of all rounds is printed: CPU
seconds of the process, and wall seconds. What they read is compared.
"""

import json
import resource
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np

BLOCKS, BLOCK = 128, 32
BOXES, BOX = 1000, (8, 64, 64)
#: Boxes of a second, seconds of work for a batch, and boxes of a batch of a loop.
RATE, WORK, BATCH = 1000, 0.005, 32


def make(folder):
    """Makes the stores that are not there."""
    import zarr

    rng = np.random.default_rng(1)
    if not (folder / "rows.zarr").exists():
        settings = {"chunks": (32, 256), "shards": (4096, 256), "compressors": zarr.codecs.ZstdCodec(level=3)}
        rows = rng.normal(size=(131_072, 256)).astype("f4").round(2)
        zarr.create_array(folder / "rows.zarr", data=rows, **settings)
    if not (folder / "boxes.zarr").exists():
        settings = {"chunks": (32, 64, 64), "compressors": zarr.codecs.ZstdCodec(level=3)}
        boxes = rng.normal(size=(256, 512, 512)).astype("f4").round(1)
        zarr.create_array(folder / "boxes.zarr", data=boxes, **settings)


def starts(operation):
    rng = np.random.default_rng(5)
    if operation == "blocks":
        return (rng.integers(0, 131_072 // BLOCK, BLOCKS) * BLOCK).tolist()
    # In a part of the array, so that several boxes meet each chunk.
    return [tuple(map(int, start)) for start in zip(rng.integers(0, 120, BOXES), *rng.integers(0, 448, (2, BOXES)))]


def tensorstore_of(path):
    import tensorstore

    return tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/"}}).result()


def blocks(way, folder):
    """Random blocks of rows from shards, as one array."""
    path = folder / "rows.zarr"
    if way == "zarr-python":
        import zarr

        array = zarr.open_array(path, mode="r")
        index = np.concatenate([np.arange(at, at + BLOCK) for at in starts("blocks")])
        return lambda: array.oindex[index]
    if way == "tensorstore":
        array = tensorstore_of(path)

        def read():
            reads = [array[at : at + BLOCK].read() for at in starts("blocks")]
            return np.concatenate([one.result() for one in reads])

        return read
    import zarr_rust

    array = zarr_rust.open_array(path)
    if way == "oindex":
        index = np.concatenate([np.arange(at, at + BLOCK) for at in starts("blocks")])
        return lambda: array.oindex[index]
    out = np.empty((BLOCKS * BLOCK, 256), "f4")

    def read_many():
        parts = [out[at : at + BLOCK] for at in range(0, len(out), BLOCK)]
        array.read_many([(slice(at, at + BLOCK), slice(None)) for at in starts("blocks")], out=parts)
        return out

    return read_many


def boxes(way, folder):
    """Random boxes of which several meet the same chunks, as one array."""
    path = folder / "boxes.zarr"
    selections = [tuple(slice(a, a + n) for a, n in zip(start, BOX)) for start in starts("boxes")]
    if way == "zarr-python":
        import zarr

        array = zarr.open_array(path, mode="r")
        return lambda: np.stack([array[one] for one in selections])
    if way == "tensorstore":
        array = tensorstore_of(path)

        def read():
            reads = [array[one].read() for one in selections]
            return np.stack([one.result() for one in reads])

        return read
    import zarr_rust

    array = zarr_rust.open_array(path)
    out = np.empty((BOXES, *BOX), "f4")

    def read_many():
        array.read_many(selections, out=list(out))
        return out

    return read_many


def measure(operation, way, folder):
    """CPU and wall seconds of one read in a process that has read before, and what was read."""
    read = {"blocks": blocks, "boxes": boxes}[operation](way, folder)
    result = read()
    crc = zlib.crc32(np.ascontiguousarray(result))
    taken = []
    for _ in range(5):
        before, begun = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        read()
        wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF)
        taken.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall))
    return {"cpu": min(cpu for cpu, _ in taken), "wall": min(wall for _, wall in taken), "crc": crc}


def loop(address, options):
    """Milliseconds that a loop of work waited for its batches after the first one, and for the first one."""
    import zarr_rust
    from zarr_rust.loader import Boxes

    array = zarr_rust.open_array(address, storage_options=options, cache="256MiB")
    loader = Boxes(array, (8, 64, 64), BATCH, samples=BATCH * 100, where=[(slice(0, 96), slice(0, 384), slice(0, 384))], seed=1, prefetch=8)
    waits = []
    period = BATCH / RATE
    batches = iter(loader)
    due = None
    for _ in range(100):
        begun = time.perf_counter()
        next(batches)
        waits.append(time.perf_counter() - begun)
        # Work on this batch, and until the next is due at this rate.
        busy = time.perf_counter() + WORK
        while time.perf_counter() < busy:
            pass
        due = (due or begun) + period
        time.sleep(max(0.0, due - time.perf_counter()))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    later = sorted(1000 * wait for wait in waits[1:])
    return {
        "first": 1000 * waits[0],
        "median": later[len(later) // 2],
        "most": later[-1],
        "sum": sum(later),
        "cpu": usage.ru_utime + usage.ru_stime,
    }


def apart(*arguments):
    done = subprocess.run([sys.executable, __file__, "--one", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def main(folder, rounds, server):
    make(folder)
    ways = {"blocks": ["zarr-rust", "oindex", "zarr-python", "tensorstore"], "boxes": ["zarr-rust", "zarr-python", "tensorstore"]}
    print("| read | way | CPU seconds | wall seconds |\n|---|---|---|---|")
    for operation, of_operation in ways.items():
        found = {way: [] for way in of_operation}
        for _ in range(rounds):
            for way in of_operation:
                found[way].append(apart(operation, way, folder))
        if len({one["crc"] for results in found.values() for one in results}) != 1:
            raise SystemExit(f"{operation}: the libraries read other elements")
        for way, results in found.items():
            cpu, wall = (min(one[name] for one in results) for name in ("cpu", "wall"))
            print(f"| {operation} | {way} | {cpu:.4f} | {wall:.4f} |")
    print("\n| loop | first batch, ms | median wait | longest wait | all waits | CPU seconds |\n|---|---|---|---|---|---|")
    places = {"files": (f"{folder}/boxes.zarr", {})}
    started = None
    if server is not None:
        command = [server, "--dir", str(folder / "boxes.zarr"), "--latency", "50ms"]
        started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        url = started.stdout.readline().split()[-1].rstrip("/")
        url = url if url.startswith("http") else f"http://{url}"
        options = {"endpoint": "/".join(url.split("/")[:3]), "anonymous": "true", "region": "eu-west-1"}
        places["50 ms"] = ("s3://boxes.zarr", options)
    try:
        for name, (address, options) in places.items():
            best = min((apart("loop", address, json.dumps(options)) for _ in range(rounds)), key=lambda one: one["sum"])
            print(f"| {name} | {best['first']:.0f} | {best['median']:.2f} | {best['most']:.2f} | {best['sum']:.1f} | {best['cpu']:.2f} |")
    finally:
        if started is not None:
            started.terminate()
            started.wait()


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        operation, *arguments = sys.argv[2:]
        if operation == "loop":
            print(json.dumps(loop(arguments[0], json.loads(arguments[1]))))
        else:
            print(json.dumps(measure(operation, arguments[0], Path(arguments[1]))))
    else:
        main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3, sys.argv[3] if len(sys.argv) > 3 else None)
