"""Stores of obstore, whose ``config``, ``client_options`` and ``retry_config`` say where they are.

What obstore took from the environment when the store was made is not among them. So a store counts as known only if what it lacks is not in
the environment, or if a URL that it signs, which needs no request, shows it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from zarr_rust._pipeline_place import OF_GCS, OF_S3, Place, are_set, is_azure_set, is_plain, seconds

#: Configuration that this library's store takes by the same name, beside the one that is looked at.
_S3 = {"checksum_algorithm", "conditional_put", "disable_bulk_delete", "disable_tagging", "request_payer", "server_side_encryption"}
_S3 |= {"sse_bucket_key_enabled", "sse_customer_key_base64", "sse_kms_key_id", "unsigned_payload", "virtual_hosted_style_request"}
_GCS = {"base_url", "application_credentials", "service_account", "service_account_key", "service_account_path", "skip_signature"}
_AZURE = {"access_key", "account_key", "account_name", "bearer_token", "disable_tagging", "sas_key", "sas_token", "skip_signature"}
_AZURE |= {"token", "use_emulator"}

#: How long obstore tries, where it is not told.
_DEFAULTS = {"max_retries": 10, "retry_timeout": timedelta(minutes=3)}


async def place_of(store: Any, writes: bool) -> Place | None:
    """The place of a store of obstore; ``None`` if something about it is not known."""
    known = sys.modules.get("obstore.store")
    kind = type(store)
    if kind is getattr(known, "LocalStore", None):
        return _directory(store)
    if kind is getattr(known, "HTTPStore", None):
        # It can only be read here.
        return None if writes else _site(store)
    if kind is getattr(known, "S3Store", None):
        return await _s3(store)
    if kind is getattr(known, "GCSStore", None):
        return _gcs(store)
    if kind is getattr(known, "AzureStore", None):
        return _azure(store)
    return None


def _directory(store: Any) -> Place | None:
    if store.prefix is None:
        return None
    path = os.fspath(store.prefix)
    # It was resolved when the store was made.
    return Place("directory", path) if os.path.isabs(path) and os.path.realpath(path) == path else None


def _connections(client: dict[str, Any] | None, retry: dict[str, Any] | None) -> dict[str, str] | None:
    """The options of connections and attempts; ``None`` if one is not known."""
    given = dict(client or {})
    # How long connections that are not used stay open.
    given.pop("pool_idle_timeout", None)
    given.pop("pool_max_idle_per_host", None)
    made: dict[str, Any] = {"timeout": "30"}
    for name in ("timeout", "connect_timeout"):
        if name in given:
            made[name] = seconds(given.pop(name))
    for name in ("allow_http", "allow_invalid_certificates", "proxy_url", "user_agent"):
        if name in given:
            made[name] = given.pop(name)
    if given.pop("http1_only", "true") != "true" or given:
        return None
    attempts = _DEFAULTS | (retry or {})
    # The pauses between them.
    attempts.pop("backoff", None)
    made["retries"], made["deadline"] = str(attempts.pop("max_retries")), seconds(attempts.pop("retry_timeout"))
    if attempts or not all(isinstance(value, str) for value in made.values()):
        return None
    return made


def _remote(address: str, options: dict[str, str]) -> Place:
    return Place("remote", address, tuple(sorted(options.items())))


def _in_bucket(scheme: str, bucket: str, prefix: str | None, options: dict[str, str]) -> Place | None:
    path = f"{bucket}/{prefix}" if prefix else bucket
    return _remote(f"{scheme}://{path}", options) if is_plain(path) else None


def _site(store: Any) -> Place | None:
    client = dict(store.client_options or {})
    headers = client.pop("default_headers", None) or {}
    options = _connections(client, store.retry_config)
    url = urlsplit(store.url)
    if options is None or url.query or url.fragment or "@" in url.netloc or not is_plain(url.path):
        return None
    if options.pop("allow_http", "false") != "true" and url.scheme != "https":
        return None
    for name, value in headers.items():
        try:
            options[f"header.{name}"] = value.decode("ascii") if isinstance(value, bytes) else str(value)
        except UnicodeDecodeError:
            return None
    return _remote(store.url, options)


async def _s3(store: Any) -> Place | None:
    config = dict(store.config)
    options = _connections(store.client_options, store.retry_config)
    if options is None or store.credential_provider is not None or are_set(OF_S3):
        return None
    bucket, prefix = config.pop("bucket", None), store.prefix
    region = config.pop("region", config.pop("default_region", None))
    endpoint = config.pop("endpoint", None)
    keys = tuple(config.pop(name, None) for name in ("access_key_id", "secret_access_key", "session_token"))
    signature = config.pop("skip_signature", "false")
    if bucket is None or not config.keys() <= _S3 or signature not in ("true", "false"):
        return None
    if signature == "true":
        if endpoint is None and are_set(("AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3")):
            return None
        if region is None and are_set(("AWS_REGION", "AWS_DEFAULT_REGION")):
            return None
        region = region or "us-east-1"
        if endpoint is None:
            is_virtual = config.get("virtual_hosted_style_request") == "true"
            endpoint = f"https://{bucket}.s3.{region}.amazonaws.com" if is_virtual else f"https://s3.{region}.amazonaws.com"
        config["skip_signature"] = "true"
    else:
        if keys == (None, None, None):
            keys = tuple(os.environ.get(f"AWS_{name}") for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"))
        if not keys[0] or not keys[1]:
            return None
        found = await _signed(store, bucket, prefix)
        if found is None:
            return None
        (key, token), region, endpoint, is_virtual = found
        if (key, token) != (keys[0], keys[2]):
            return None
        config["virtual_hosted_style_request"] = "true" if is_virtual else "false"
        config |= {"access_key_id": keys[0], "secret_access_key": keys[1]}
        if keys[2]:
            config["session_token"] = keys[2]
    return _in_bucket("s3", bucket, prefix, options | config | {"region": region, "endpoint": endpoint})


async def _signed(store: Any, bucket: str, prefix: str | None) -> tuple[tuple[str, str | None], str, str, bool] | None:
    """The key and token, region, endpoint, and whether the bucket is in the name of the host, by a URL that the store signs."""
    import obstore

    try:
        # With keys it is done at once; without, a service of the cloud would be asked.
        url = await asyncio.wait_for(obstore.sign_async(store, "GET", "x", timedelta(seconds=60)), 1)
    except Exception:  # noqa: BLE001
        return None
    parts = urlsplit(url)
    query, path = parse_qs(parts.query), unquote(parts.path)
    try:
        key, _, region, _, _ = query["X-Amz-Credential"][0].rsplit("/", 4)
    except (KeyError, ValueError):
        return None
    token = query.get("X-Amz-Security-Token", [None])[0]
    end = f"/{prefix}/x" if prefix else "/x"
    host = f"{parts.scheme}://{parts.netloc}"
    if path == end:
        return (key, token), region, host, True
    end = f"/{bucket}{end}"
    return ((key, token), region, host + path[: -len(end)], False) if path.endswith(end) else None


def _gcs(store: Any) -> Place | None:
    config = dict(store.config)
    options = _connections(store.client_options, store.retry_config)
    bucket = config.pop("bucket", None)
    is_known = options is not None and bucket is not None and config.keys() <= _GCS
    has_keys = config.get("skip_signature") == "true" or any("service_account" in name or name == "application_credentials" for name in config)
    if not is_known or not has_keys or store.credential_provider is not None or are_set(OF_GCS):
        return None
    assert options is not None and bucket is not None
    return _in_bucket("gs", bucket, store.prefix, options | config)


def _azure(store: Any) -> Place | None:
    config = dict(store.config)
    options = _connections(store.client_options, store.retry_config)
    container, endpoint = config.pop("container_name", None), config.pop("endpoint", None)
    is_known = options is not None and container is not None and "account_name" in config and config.keys() <= _AZURE
    has_keys = any(name in config for name in ("access_key", "account_key", "bearer_token", "sas_key", "sas_token", "token"))
    if not is_known or not (has_keys or config.get("skip_signature") == "true") or store.credential_provider is not None or is_azure_set():
        return None
    assert options is not None and container is not None
    if endpoint is not None:
        options["endpoint"] = endpoint
    return _in_bucket("az", container, store.prefix, options | config)
