"""File systems of fsspec: where those are that this library has stores for.

What counts is what the file system uses, not what it was given: its client, or its attributes.
"""

from __future__ import annotations

import json
import os
import posixpath
import sys
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from zarr_rust._pipeline_place import OF_GCS, OF_S3, Place, are_set, is_azure_set, is_plain

#: Other exceptions than these would count as missing chunks.
_MISSING = {FileNotFoundError, IsADirectoryError, NotADirectoryError}

_PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY")


async def place_of(store: Any, writes: bool) -> Place | None:
    """The place of a ``FsspecStore``; ``None`` if something about it is not known."""
    fs, path = store.fs, store.path
    # Within a transaction, files appear at its end.
    if set(store.allowed_exceptions) != _MISSING or fs._intrans:
        return None
    name = f"{type(fs).__module__}.{type(fs).__qualname__}"
    if type(fs) is not getattr(sys.modules.get(type(fs).__module__), type(fs).__qualname__, None):
        return None
    if name == "fsspec.implementations.asyn_wrapper.AsyncFileSystemWrapper":
        return _directory(fs.sync_fs, path, writes)
    if name == "fsspec.implementations.http.HTTPFileSystem":
        # It can only be read here.
        return None if writes else _site(fs, path)
    if not is_plain(path) or path.startswith("/"):
        return None
    if name == "s3fs.core.S3FileSystem":
        return await _s3(fs, path)
    if name in ("gcsfs.core.GCSFileSystem", "gcsfs.extended_gcsfs.ExtendedGcsFileSystem"):
        return _gcs(fs, path, writes)
    if name == "adlfs.spec.AzureBlobFileSystem":
        return _azure(fs, path)
    return None


def forget_listings(store: Any, keys: Sequence[str]) -> None:
    """Makes the file system forget its listings of where values were written, as it does after writes of its own."""
    for folder in {posixpath.dirname(f"{store.path.rstrip('/')}/{key}") for key in keys}:
        store.fs.invalidate_cache(folder)


def _place(address: str, **options: str | None) -> Place:
    return Place("remote", address, tuple(sorted((name, value) for name, value in options.items() if value is not None)))


def _directory(fs: Any, path: str, writes: bool) -> Place | None:
    name = f"{type(fs).__module__}.{type(fs).__qualname__}"
    if name != "fsspec.implementations.local.LocalFileSystem" or not os.path.isabs(path) or not is_plain(path) or fs._intrans:
        return None
    # Without it, writes fail where there is no directory.
    return None if writes and not fs.auto_mkdir else Place("directory", path)


def _site(fs: Any, path: str) -> Place | None:
    from fsspec.implementations.http import get_client

    url, client = urlsplit(path), dict(fs.client_kwargs)
    headers = client.pop("headers", None) or {}
    requests = dict(fs.kwargs)
    headers = {**headers, **(requests.pop("headers", None) or {})}
    if client or requests or fs.get_client is not get_client or are_set(_PROXIES):
        return None
    if url.scheme not in ("http", "https") or url.query or url.fragment or "@" in url.netloc or not is_plain(url.path):
        return None
    return _place(path, **{f"header.{name}": str(value) for name, value in headers.items()})


async def _s3(fs: Any, path: str) -> Place | None:
    from botocore import UNSIGNED
    from botocore.credentials import Credentials

    if fs.version_aware or fs.requester_pays or fs.s3_additional_kwargs or fs.cache_regions or are_set((*OF_S3, *_PROXIES)):
        return None
    if not fs.client_kwargs.keys() <= {"endpoint_url", "region_name", "aws_access_key_id", "aws_secret_access_key", "aws_session_token", "use_ssl"}:
        return None
    client = await fs.set_session()
    meta, credentials = client.meta, client._request_signer._credentials
    region = "us-east-1" if meta.region_name == "aws-global" else meta.region_name
    if not region or not meta.endpoint_url:
        return None
    settings = dict(meta.config.s3 or {})
    if settings.pop("addressing_style", None) == "virtual" or settings or meta.config.proxies or meta.config.client_cert:
        return None
    common = {"endpoint": meta.endpoint_url, "region": region, "allow_http": "true", "virtual_hosted_style_request": "false"}
    if meta.config.signature_version is UNSIGNED:
        return _place(f"s3://{path}", **common, anonymous="true")
    # Others are renewed after a while.
    is_lasting = isinstance(credentials, Credentials) and type(credentials).__name__ in ("Credentials", "AioCredentials")
    if not is_lasting or str(meta.config.signature_version) not in ("s3v4", "s3"):
        return None
    keys = {"access_key_id": credentials.access_key, "secret_access_key": credentials.secret_key, "session_token": credentials.token}
    return _place(f"s3://{path}", **common, **keys)


def _gcs(fs: Any, path: str, writes: bool) -> Place | None:
    if fs.version_aware or fs.requester_pays or fs.session_kwargs or fs._location != "https://storage.googleapis.com" or are_set(OF_GCS):
        return None
    if writes and fs.credentials.access == "read_only":
        return None
    token = fs.credentials.token
    if token == "anon":
        return _place(f"gs://{path}", anonymous="true")
    if isinstance(token, dict) and token.get("type") == "service_account":
        return _place(f"gs://{path}", service_account_key=json.dumps(token, sort_keys=True))
    return None


def _azure(fs: Any, path: str) -> Place | None:
    if fs.connection_string or fs.credential is not None or fs.version_aware or fs.location_mode != "primary" or fs.request_session:
        return None
    if getattr(fs, "account_host", None) or not fs.account_name or is_azure_set():
        return None
    if fs.account_key and not fs.sas_token:
        return _place(f"az://{path}", account_name=fs.account_name, account_key=fs.account_key)
    if fs.sas_token and not fs.account_key:
        return _place(f"az://{path}", account_name=fs.account_name, sas_token=fs.sas_token)
    if fs.anon and not fs.account_key and not fs.sas_token:
        return _place(f"az://{path}", account_name=fs.account_name, anonymous="true")
    return None
