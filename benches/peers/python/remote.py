"""Libraries of Python as peers in benchmarks of a server: remote.py NAME CASE OP s3://BUCKET/PREFIX.

NAME is zarr-python (with obstore), tensorstore, tensorstore-512 (with a limit of 512 requests) or zarrista (with obstore). The server is
at $BENCH_ENDPOINT, and takes requests without credentials. benches/protocol defines the operations and the printed line;
docs/performance.md describes them.
"""

import asyncio
import json
import os
import sys

from peer import check_sum, measure, peak_memory

REGION = "us-east-1"


def obstore(bucket, prefix):
    from obstore.store import S3Store

    return S3Store(
        bucket,
        prefix=prefix,
        endpoint=os.environ["BENCH_ENDPOINT"],
        region=REGION,
        skip_signature=True,
        virtual_hosted_style_request=False,
        client_options={"allow_http": True},
    )


class ZarrPython:
    def __init__(self, bucket, prefix):
        import zarr

        self.zarr, self.bucket, self.prefix = zarr, bucket, prefix

    def store(self):
        from zarr.storage import ObjectStore

        return ObjectStore(obstore(self.bucket, self.prefix), read_only=True)

    def open(self):
        return self.zarr.open_array(self.store(), mode="r")

    def shape(self, array):
        return array.shape

    def read(self, array, where):
        return array[where]

    def list(self):
        group = self.zarr.open_group(self.store(), mode="r")
        return sum(isinstance(node, self.zarr.Array) for _, node in group.members())


class Tensorstore:
    def __init__(self, bucket, prefix, limit=None):
        import tensorstore

        self.ts, self.bucket, self.prefix = tensorstore, bucket, prefix
        self.context = tensorstore.Context({"s3_request_concurrency": {"limit": limit}} if limit else {})

    def kvstore(self, path=""):
        return {
            "driver": "s3",
            "bucket": self.bucket,
            "path": f"{self.prefix}/{path}",
            "endpoint": os.environ["BENCH_ENDPOINT"],
            "aws_region": REGION,
            "aws_credentials": {"type": "anonymous"},
        }

    def start(self, path=""):
        return self.ts.open({"driver": "zarr3", "kvstore": self.kvstore(path)}, context=self.context, read=True)

    def open(self):
        return self.start().result()

    def shape(self, array):
        return array.shape

    def read(self, array, where):
        return array[where].read().result()

    def list(self):
        # It has no hierarchies, and no use for consolidated metadata.
        keys = self.ts.KvStore.open(self.kvstore(), context=self.context).result().list().result()
        paths = [key.decode().removesuffix("zarr.json") for key in keys if key.endswith(b"/zarr.json")]
        return sum(len(array.result().shape) == 3 for array in [self.start(path) for path in paths])


class Zarrista:
    def __init__(self, bucket, prefix):
        import zarrista

        self.zarrista, self.bucket, self.prefix = zarrista, bucket, prefix
        self.loop = asyncio.new_event_loop()

    def run(self, make):
        async def body():
            return await make()

        return self.loop.run_until_complete(body())

    def open(self):
        return self.run(lambda: self.zarrista.AsyncArray.open(obstore(self.bucket, self.prefix)))

    def shape(self, array):
        return array.shape

    def read(self, array, where):
        return self.run(lambda: array.retrieve_array_subset(where)).to_numpy()

    def list(self):
        async def body():
            group = await self.zarrista.AsyncGroup.open(obstore(self.bucket, self.prefix))
            return len(await group.child_arrays())

        return self.loop.run_until_complete(body())


def library(name, bucket, prefix):
    if name == "zarr-python":
        return ZarrPython(bucket, prefix)
    if name == "zarrista":
        return Zarrista(bucket, prefix)
    return Tensorstore(bucket, prefix, 512 if name == "tensorstore-512" else None)


def read(library):
    array, last = library.open(), []
    result = measure(lambda: last.append(library.read(array, ...)), last.clear) | {"peak_rss": peak_memory()}
    return result | {"check": check_sum(last[0]), "bytes": last[0].nbytes}


def point(library):
    last = []

    def body():
        array = library.open()
        # Slices, as not all libraries take integers.
        last.append(library.read(array, tuple(slice(size // 2, size // 2 + 1) for size in library.shape(array))))

    result = measure(body, last.clear)
    element = last[0].tobytes()
    return result | {"check": int.from_bytes(element, "little"), "bytes": 8}


def listed(library):
    counts = []
    return measure(lambda: counts.append(library.list())) | {"check": counts[-1]}


def main():
    name, _, operation, address = sys.argv[1:5]
    bucket, prefix = address.removeprefix("s3://").split("/", 1)
    peer = library(name, bucket, prefix)
    operations = {"read": read, "point": point, "list": listed, "open": lambda peer: measure(peer.open)}
    if operation not in operations:
        return print(json.dumps({"unsupported": True}))
    result = {"peak_rss": peak_memory(), "check": 0, "bytes": 0} | operations[operation](peer)
    print(json.dumps(result | {"check": str(result["check"])}), flush=True)
    if name == "zarrista":
        # Its threads may still be at work while the interpreter goes away, and some processes then end by a signal.
        os._exit(0)


if __name__ == "__main__":
    main()
