"""Where the stores of a folder of arrays are: directories in the folder, or keys below a prefix of a server.

Those of a server are described by an object of JSON in the environment variable INTEROP_STORES; credentials are in the variables that
the clients know.

    {"client": "obstore", "kind": "s3", "endpoint": "http://127.0.0.1:5000", "bucket": "zarr-test", "prefix": "a/b"}

`client` is the library by which zarr-python asks the server, obstore or fsspec; tensorstore has clients of its own. `kind` is s3, azure
or http, which is only read and has no bucket. `chunks` is the largest number of chunks of an array, since each costs requests.
"""

import json
import os
from pathlib import Path

import values


class Directories:
    """Stores that are directories."""

    def __init__(self, folder: Path):
        self.folder = folder

    def zarr(self, name: str):
        """A store of zarr-python."""
        return self.folder / name

    def tensorstore(self, name: str, path: str) -> dict:
        """The key-value store of tensorstore in which an array is."""
        return {"driver": "file", "path": f"{self.folder / name}/{path}/"}

    def has(self, name: str, key: str) -> bool:
        """Whether a key is there."""
        return (self.folder / name / key).exists()


class Server:
    """Stores behind a network."""

    def __init__(self, facts: dict):
        self.client, self.kind, self.endpoint = facts["client"], facts["kind"], facts["endpoint"]
        self.bucket, self.prefix = facts.get("bucket"), facts["prefix"]

    def zarr(self, name: str):
        """A store of zarr-python."""
        from zarr.storage import FsspecStore, ObjectStore

        path, reads = f"{self.prefix}/{name}", self.kind == "http"
        if self.client == "obstore":
            return ObjectStore(self.obstore(path), read_only=reads)
        if reads:
            return FsspecStore.from_url(f"{self.endpoint}/{path}", read_only=True)
        options = {"client_kwargs": {"endpoint_url": self.endpoint}}
        return FsspecStore.from_url(f"s3://{self.bucket}/{path}", storage_options=options)

    def obstore(self, path: str):
        """A store of obstore; the credentials are in the environment."""
        from obstore.store import AzureStore, HTTPStore, S3Store

        options = {"allow_http": True}
        match self.kind:
            case "s3":
                return S3Store(self.bucket, prefix=path, endpoint=self.endpoint, client_options=options)
            case "azure":
                # Its text needs the name of the account, and does not know that of the environment.
                account = os.environ["AZURE_STORAGE_ACCOUNT_NAME"]
                where = {"prefix": path, "endpoint": self.endpoint, "account_name": account}
                return AzureStore(self.bucket, **where, client_options=options)
            case _:
                return HTTPStore(f"{self.endpoint}/{path}", client_options=options)

    def tensorstore(self, name: str, path: str) -> dict:
        """The key-value store of tensorstore in which an array is."""
        below = f"{self.prefix}/{name}/{path}/"
        if self.kind == "http":
            return {"driver": "http", "base_url": self.endpoint, "path": f"/{below}"}
        return {
            "driver": "s3",
            "bucket": self.bucket,
            "path": below,
            "endpoint": self.endpoint,
            "aws_region": "us-east-1",
            "aws_credentials": {"type": "environment"},
        }

    def has(self, name: str, key: str) -> bool:
        """Whether a key is there."""
        try:
            self.obstore(f"{self.prefix}/{name}").head(key)
        except FileNotFoundError:
            return False
        return True


def of(folder: Path):
    """The stores of a folder."""
    text = os.environ.get("INTEROP_STORES")
    if text is None:
        return Directories(folder)
    facts = json.loads(text)
    values.most_chunks = facts["chunks"]
    return Server(facts)
