"""Libraries of Python as peers in benchmarks: peer.py tensorstore|zarr-python|zarr-python+zarrs|xarray CASE OP PATH.

benches/protocol defines the operations and the printed line; docs/performance.md describes them.
"""

import json
import os
import shutil
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

METADATA = {"zarr.json", ".zarray", ".zattrs"}


class Tensorstore:
    def __init__(self, cached):
        import tensorstore

        self.ts = tensorstore
        self.context = tensorstore.Context({"cache_pool": {"total_bytes_limit": 1 << 30}} if cached else {})
        self.recheck = {"recheck_cached_data": False, "recheck_cached_metadata": False} if cached else {}

    def spec(self, kvstore, directory):
        driver = "zarr" if (directory / ".zarray").exists() else "zarr3"
        return {"driver": driver, "kvstore": kvstore, **self.recheck}

    def open(self, directory):
        return self.ts.open(self.spec({"driver": "file", "path": str(directory)}, directory), context=self.context).result()

    def open_members(self, directory, names):
        return [self.open(directory / name) for name in names]

    def open_in_memory(self, directory):
        store = self.ts.KvStore.open({"driver": "memory"}, context=self.context).result()
        for name, content in files(directory):
            store.write(name, content).result()
        return self.ts.open(self.spec({"driver": "memory"}, directory), context=self.context).result()

    def dtype(self, array):
        return array.dtype.numpy_dtype

    def chunks(self, array):
        return array.chunk_layout.write_chunk.shape

    def read_into(self, array, out):
        self.ts.array(out).write(array).result()

    def read(self, array, where):
        return array[where].read().result()

    def write(self, array, where, elements):
        array[where].write(elements).result()

    def write_points(self, array, rows, columns, elements):
        array.vindex[rows, columns].write(elements).result()

    def write_mask(self, array, mask, elements):
        array[mask].write(elements).result()

    def resize(self, array, shape):
        return array.resize(exclusive_max=shape).result()

    def list(self, directory, consolidated):
        # It has no hierarchies: the depth of the document tells arrays.
        store = self.ts.KvStore.open({"driver": "file", "path": f"{directory}/"}).result()
        names = [Path(key.decode()).parent for key in store.list().result()]
        opened = [
            self.ts.open(self.spec({"driver": "file", "path": str(directory / name)}, directory), context=self.context)
            for name in names
            if len(name.parts) == 2
        ]
        return sum(len(array.result().shape) == 3 for array in opened)


class ZarrPython:
    def __init__(self, pipeline):
        import zarr

        self.zarr = zarr
        if pipeline:
            import zarrs  # noqa: F401

            zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
        elif hasattr(zarr.core.codec_pipeline, "FusedCodecPipeline"):
            # The faster of its own, and no default.
            zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.FusedCodecPipeline"})

    def open(self, directory):
        return self.zarr.open_array(str(directory), mode="r+")

    def open_members(self, directory, names):
        store = self.zarr.storage.LocalStore(str(directory), read_only=True)
        return [self.zarr.open_array(store, path=name, mode="r") for name in names]

    def open_in_memory(self, directory):
        from zarr.core.buffer.cpu import Buffer

        content = {name: Buffer.from_bytes(content) for name, content in files(directory)}
        return self.zarr.open_array(self.zarr.storage.MemoryStore(content), mode="r")

    def dtype(self, array):
        return array.dtype

    def chunks(self, array):
        return array.shards or array.chunks

    def read_into(self, array, out):
        from zarr.core.buffer.cpu import NDBuffer

        array.get_basic_selection(Ellipsis, out=NDBuffer.from_numpy_array(out))

    def read(self, array, where):
        return array[where]

    def write(self, array, where, elements):
        array[where] = elements

    def write_points(self, array, rows, columns, elements):
        array.set_coordinate_selection((rows, columns), elements)

    def write_mask(self, array, mask, elements):
        array.set_mask_selection(mask, elements)

    def resize(self, array, shape):
        array.resize(tuple(shape))
        return array

    def list(self, directory, consolidated):
        group = self.zarr.open_group(str(directory), mode="r", use_consolidated=consolidated)
        return sum(isinstance(node, self.zarr.Array) for _, node in group.members(max_depth=None))


class Xarray:
    def open(self, directory):
        import xarray

        # Without Dask, as its tasks cost more than they bring here.
        return xarray.open_zarr(str(directory), chunks=None)

    def open_dataset(self, directory):
        return len(self.open(directory).variables)

    def read(self, directory):
        return self.open(directory)["v"].values


def files(directory):
    for path in directory.rglob("*"):
        if path.is_file():
            yield path.relative_to(directory).as_posix(), path.read_bytes()


def erase_chunks(directory):
    for path in directory.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in METADATA:
            path.unlink()


def content(elements):
    """The bytes of elements; the contents of elements of variable length one behind the other."""
    elements = np.asarray(elements)
    if elements.dtype.kind not in "OT":
        return elements
    items = elements.reshape(-1).tolist()
    return np.frombuffer(b"".join(item if isinstance(item, bytes) else item.encode() for item in items), np.uint8)


def check_sum(elements):
    words = np.ascontiguousarray(elements).reshape(-1).view(np.uint8)
    return int(words[: words.size // 8 * 8].view(np.uint64).sum(dtype=np.uint64))


def peak_memory():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmHWM")


def number(name, default):
    return int(os.environ.get(name, default))


def measure(body, before=lambda: None):
    seconds, cpu = [], []
    warm = number("BENCH_WARM", 1)
    for repetition in range(warm + number("BENCH_REPS", 3)):
        before()
        process, start = time.process_time(), time.perf_counter()
        body()
        wall = time.perf_counter() - start
        if repetition >= warm:
            seconds.append(wall)
            cpu.append(time.process_time() - process)
    return {"seconds": seconds, "cpu": cpu}


def boxes():
    for line in Path(os.environ["BENCH_SUBSETS"]).read_text().splitlines():
        numbers = [int(word) for word in line.split()]
        half = len(numbers) // 2
        yield tuple(slice(start, start + size) for start, size in zip(numbers[:half], numbers[half:]))


def read_into(library, array):
    out = np.ones(array.shape, library.dtype(array))
    result = measure(lambda: library.read_into(array, out))
    return result | {"peak_rss": peak_memory(), "check": check_sum(out), "bytes": out.nbytes}


def read(library, directory):
    array, last = library.open(directory), []
    result = measure(lambda: last.append(library.read(array, ...)), last.clear) | {"peak_rss": peak_memory()}
    elements = content(last[0])
    return result | {"check": check_sum(elements), "bytes": elements.nbytes}


def read_all(library, directory):
    names = sorted(path.parent.relative_to(directory).as_posix() for path in directory.rglob(".zarray"))
    found = []

    def body():
        found.extend(library.read(array, ...) for array in library.open_members(directory, names))

    result = measure(body, found.clear) | {"peak_rss": peak_memory()}
    elements = [content(part) for part in found]
    check = sum(check_sum(part) for part in elements) % 2**64
    return result | {"check": check, "bytes": sum(part.nbytes for part in elements)}


def raw_elements(library, array):
    """The elements to be written: raw data has the bytes of elements, or a line for each of variable length."""
    dtype = np.dtype(library.dtype(array))
    if dtype.kind not in "OT":
        return np.fromfile(os.environ["BENCH_RAW"], dtype).reshape(array.shape)
    lines = Path(os.environ["BENCH_RAW"]).read_bytes().split(b"\n")
    return np.array(lines if dtype.kind == "O" else [line.decode() for line in lines], dtype)


def write(library, directory):
    array = library.open(directory)
    elements = raw_elements(library, array)
    result = measure(lambda: library.write(library.open(directory), ..., elements), lambda: erase_chunks(directory))
    return result | {"bytes": Path(os.environ["BENCH_RAW"]).stat().st_size}


def roundtrip(library, directory):
    target = Path(os.environ["BENCH_OUT"])

    def copy():
        source, sink = library.open(directory), library.open(target)
        rows = library.chunks(source)[0]
        for start in range(0, source.shape[0], rows):
            where = slice(start, min(start + rows, source.shape[0]))
            library.write(sink, where, library.read(source, where))

    source = library.open(directory)
    size = int(np.prod(source.shape)) * library.dtype(source).itemsize
    return measure(copy, lambda: erase_chunks(target)) | {"bytes": size}


def random(library, array):
    wanted, latencies, sums, sizes = list(boxes()), [], [], []

    def forget():
        latencies.clear(), sums.clear(), sizes.clear()

    def body():
        for where in wanted:
            start = time.perf_counter()
            elements = library.read(array, where)
            latencies.append(time.perf_counter() - start)
            sums.append(check_sum(elements))
            sizes.append(elements.nbytes)

    result = measure(body, forget)
    result["seconds"][-1] = sum(latencies)
    latencies.sort()
    p50, p99 = (latencies[len(latencies) * share // 100] * 1e6 for share in (50, 99))
    return result | {"check": sum(sums) % 2**64, "bytes": sum(sizes), "p50_us": p50, "p99_us": p99}


def partial_write(library, directory):
    array = library.open(directory)
    wanted = []
    for number_, where in enumerate(boxes()):
        shape = tuple(part.stop - part.start for part in where)
        content = (np.arange(np.prod(shape) * 2) // 2 + number_ & 0x3F).astype(np.uint8)
        wanted.append((where, content.view(np.uint16).reshape(shape)))

    def body():
        for where, elements in wanted:
            library.write(array, where, elements)

    return measure(body) | {"bytes": sum(elements.nbytes for _, elements in wanted)}


def mixed(numbers):
    """Numbers without a pattern, the same as benches/protocol has."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def scattered_write(library, directory, as_mask):
    array = library.open(directory)
    size, columns = int(np.prod(array.shape)), array.shape[1]
    if as_mask:
        mask = mixed(np.arange(size, dtype=np.uint64)) % np.uint64(8) == 0
        positions, mask = np.flatnonzero(mask), mask.reshape(array.shape)
    else:
        positions = (mixed(np.arange(10_000, dtype=np.uint64)) % np.uint64(size)).astype(np.int64)
    elements, rows, columns = (positions % 1000).astype(np.float32), positions // columns, positions % columns
    if as_mask:
        result = measure(lambda: library.write_mask(array, mask, elements))
    else:
        result = measure(lambda: library.write_points(array, rows, columns, elements))
    result |= {"peak_rss": peak_memory(), "bytes": elements.nbytes}
    return result | {"check": check_sum(library.read(array, ...))}


def append(library, directory):
    array = library.open(directory)
    rows, rest = library.chunks(array)[0], list(array.shape[1:])
    elements = (np.arange(rows * np.prod(rest) * 2) & 0x3F).astype(np.uint8).view(np.uint16).reshape([rows] + rest)
    times = number("BENCH_APPENDS", 64)

    def before():
        erase_chunks(directory)
        library.resize(library.open(directory), [0] + rest)

    def body():
        array = library.open(directory)
        for end in range(rows, rows * times + 1, rows):
            array = library.resize(array, [end] + rest)
            library.write(array, slice(end - rows, end), elements)

    return measure(body, before) | {"bytes": elements.nbytes * times}


def append_rows(library, directory):
    columns = library.open(directory).shape[1]
    row = (np.arange(columns * 2) & 0x3F).astype(np.uint8).view(np.uint16).reshape(1, columns)

    def before():
        erase_chunks(directory)
        library.resize(library.open(directory), [0, columns])

    def body():
        array = library.open(directory)
        for number_ in range(1000):
            array = library.resize(array, [number_ + 1, columns])
            library.write(array, slice(number_, number_ + 1), row)

    result = measure(body, before) | {"bytes": row.nbytes * 1000}
    return result | {"check": check_sum(library.read(library.open(directory), ...))}


def of_datasets(library, operation, directory):
    last = []
    if operation == "ds_open":
        result = measure(lambda: last.append(library.open_dataset(directory)), last.clear)
        return result | {"peak_rss": peak_memory(), "check": str(last[0]), "bytes": 0}
    if operation == "ds_read":
        result = measure(lambda: last.append(library.read(directory)), last.clear) | {"peak_rss": peak_memory()}
        return result | {"check": str(check_sum(last[0])), "bytes": last[0].nbytes}
    return {"unsupported": True}


def main():
    peer, case, operation, path = sys.argv[1:5]
    directory = Path(path)
    cached = operation == "rand_cached"
    if cached and peer != "tensorstore":
        return print(json.dumps({"unsupported": True}))
    if peer == "xarray":
        return print(json.dumps(of_datasets(Xarray(), operation, directory)))
    library = Tensorstore(cached) if peer == "tensorstore" else ZarrPython(peer.endswith("+zarrs"))
    if operation == "read_into":
        result = read_into(library, library.open(directory))
    elif operation == "mem_read":
        result = read_into(library, library.open_in_memory(directory))
    elif operation in ("rand", "rand_cached"):
        result = random(library, library.open(directory))
    elif operation == "list":
        counts = []
        result = measure(lambda: counts.append(library.list(directory, case == "LC"))) | {"check": counts[-1]}
    else:
        operations = {"read": read, "read_all": read_all, "write": write, "roundtrip": roundtrip}
        operations |= {"partial_write": partial_write, "append": append, "append_rows": append_rows}
        operations |= {f"write_{what}": partial(scattered_write, as_mask=what == "mask") for what in ("points", "mask")}
        if operation not in operations:
            return print(json.dumps({"unsupported": True}))
        result = operations[operation](library, directory)
    result = {"peak_rss": peak_memory(), "check": 0, "bytes": 0} | result
    print(json.dumps(result | {"check": str(result["check"])}))


if __name__ == "__main__":
    main()
