"""Arguments that a function does not have: a ``TypeError``, which says what may be meant. Options of stores as texts."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

#: Arguments of zarr-python that have no place here, and what is in their place.
_ELSEWHERE = {
    "cache_attrs": "no such argument: attributes are those of the time when the node was opened",
    "cache_metadata": "no such argument: metadata is that of the time when the node was opened",
    "chunk_key_encoding": 'separator="/" or separator="."',
    "chunk_shape": "chunks",
    "chunk_store": "no such argument: chunks lie beside the metadata",
    "compressor": "compressors, or codecs",
    "config": "no such argument: chunks of nothing but the fill value are not stored",
    "dimension_separator": 'separator="/" or separator="."',
    "meta_array": "no such argument: elements are in arrays of numpy",
    "name": "path",
    "object_codec": 'dtype="string" or dtype="bytes"',
    "prototype": "no such argument: elements are in arrays of numpy",
    "read_only": 'mode="r"',
    "synchronizer": "no such argument: writers of one chunk do not lose each other's elements",
    "url": "store",
    "write_data": "data, or an array that is written to later",
    "write_empty_chunks": "no such argument: chunks of nothing but the fill value are not stored",
}

#: Options of fsspec, obstore and zarr-python's storage_options, and those that are here in their place.
_OF_OTHERS = {
    "anon": "anonymous",
    "key": "access_key_id",
    "secret": "secret_access_key",
    "token": "session_token of S3, service_account_key or bearer_token of Google Cloud Storage, sas_token of Azure",
    "profile_name": "profile",
    "client_kwargs": "its members, such as endpoint and region, as options",
    "client_options": "its members, such as allow_http and timeout, as options",
    "config_kwargs": "virtual_hosted_style_request and the like, as options",
    "retry_config": "retries and deadline",
    "region_name": "region",
    "aws_access_key_id": "access_key_id",
    "aws_secret_access_key": "secret_access_key",
    "aws_session_token": "session_token",
    "use_ssl": "endpoint and allow_http",
    "headers": "header.NAME",
    "default_headers": "header.NAME",
    "connection_string": "account_name and account_key",
    "credential": "account_key, sas_token, or client_id, client_secret and tenant_id",
}

#: The options of stores that there are, of the kinds that the package has.
OPTIONS = frozenset(
    """
    access_key access_key_id account_key account_name allow allow_http allow_invalid_certificates anonymous application_credentials authority_host
    base_url bearer_token busy_timeout checksum_algorithm client_id client_secret concurrency conditional_put connect_timeout
    container_authorization_token_file container_credentials_full_uri container_credentials_relative_uri credential_type deadline
    default_region disable_bulk_delete disable_tagging durability encryption_key endpoint endpoint_url endpoint_url_sts
    fabric_cluster_identifier fabric_session_token fabric_token_service_url fabric_workload_host federated_token_file hedge
    identity_endpoint imdsv1_fallback journal locks max_value metadata_endpoint missing msi_endpoint msi_resource_id object_id profile
    proxy_url read_only region request_payer requester_pays retries role_arn role_session_name s3_express sas_key sas_token
    secret_access_key server_side_encryption service_account service_account_key service_account_path session_token skip_signature
    sse_bucket_key_enabled sse_customer_key_base64 sse_kms_key_id sync_on_request tenant_id timeout token unsigned_payload use_azure_cli
    use_emulator use_fabric_endpoint user_agent virtual_hosted_style_request web_identity_token_file
    """.split()
)


def checked(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Makes an argument that the function does not have a ``TypeError`` that says what may be meant."""
    known = frozenset(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if not known.issuperset(kwargs):
            raise unknown(function.__name__, next(name for name in kwargs if name not in known), known)
        return function(*args, **kwargs)

    return call


def unknown(function: str, name: str, known: Iterable[str]) -> TypeError:
    """The error of an argument that a function does not have."""
    known = set(known) - {"self"}
    message = f"{function}() has no argument {name!r}"
    of_store = [other for other in ("storage_options", "source_options", "target_options") if other in known]
    near = difflib.get_close_matches(name, known, 1, 0.7)
    if near:
        return TypeError(f"{message}: did you mean {near[0]!r}?")
    if name in _ELSEWHERE:
        return TypeError(f"{message}, which zarr-python has, expected {_ELSEWHERE[name]}")
    option = _OF_OTHERS.get(name, name)
    if name in _OF_OTHERS or name in OPTIONS or name.startswith("header."):
        if not of_store:
            return TypeError(f"{message}: it is an option of a store, given where it is opened")
        spelled = f'={{"{option}": ...}}' if option.replace(".", "").isidentifier() else f": {option}"
        return TypeError(f"{message}: it is an option of a store, expected {' or '.join(of_store)}{spelled}")
    return TypeError(f"{message}, expected some of {', '.join(sorted(known))}")


def options_of(options: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Options of a store as texts."""
    if options is None:
        return []
    if not isinstance(options, Mapping):
        raise TypeError(f"storage_options: found {type(options).__name__}, expected a dict of options and their values")

    def text(name: str, value: Any) -> str:
        if isinstance(value, (Mapping, list, tuple, set)):
            raise TypeError(f"storage_options: {name}: found {type(value).__name__}, expected a text, a number or a bool")
        return ("false", "true")[value] if isinstance(value, bool) else str(value)

    for name in options:
        if name in _OF_OTHERS and name not in OPTIONS:
            raise TypeError(f"storage_options: found {name!r}, expected {_OF_OTHERS[name]}")
        if name in _ELSEWHERE and name not in OPTIONS:
            raise TypeError(f"storage_options: found {name!r}, an argument of zarr-python, expected {_ELSEWHERE[name]}")
    return [(name, text(name, value)) for name, value in options.items() if value is not None]


def check_encoding(encoding: Mapping[str, Any]) -> None:
    """Codecs of the encoding of a variable go by the name that they have here."""
    for name in encoding:
        if name in ("compressor", "compressors", "filters", "serializer"):
            raise TypeError(f"encoding: found {name}, which zarr-python has, expected codecs")
