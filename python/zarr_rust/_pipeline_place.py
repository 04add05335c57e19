"""Where a store of Python has its values: an address and options that this library's stores know."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal


@dataclass(frozen=True)
class Place:
    """Where the values of a store are. Two stores at equal places have the same values."""

    kind: Literal["directory", "zip", "remote"]
    #: A path, or a URL.
    address: str
    #: Of a remote store; credentials are among them.
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    #: Which file of this name it is.
    state: tuple[int, ...] = ()


_SAFE = re.compile(r"[A-Za-z0-9._=/ -]*")


def is_plain(text: str) -> bool:
    """Whether a path or key has only characters that no store of any kind escapes, decodes or refuses."""
    return _SAFE.fullmatch(text) is not None


def seconds(value: Any) -> str | None:
    """A duration as the stores take it; ``None`` if it is another one than a ``timedelta`` or a whole number of one unit."""
    if isinstance(value, timedelta):
        return f"{value.total_seconds():.3f}"
    match = re.fullmatch(r"(\d+) ?(ms|s|sec|seconds|m|min|minutes)", str(value))
    if match is None:
        return None
    number, unit = int(match[1]), match[2]
    return f"{number}ms" if unit == "ms" else str(number * (60 if unit.startswith("m") else 1))


def are_set(names: Iterable[str]) -> bool:
    """Whether the environment has one of these variables, in capitals or not."""
    wanted = {name.upper() for name in names}
    return any(name.upper() in wanted for name in os.environ)


#: Variables by which this library's stores in S3 are set up, beside region, endpoint and credentials, which are given to them.
OF_S3 = tuple(
    f"AWS_{name}"
    for name in (
        "CHECKSUM_ALGORITHM",
        "CONDITIONAL_PUT",
        "DISABLE_TAGGING",
        "REQUEST_PAYER",
        "S3_EXPRESS",
        "SERVER_SIDE_ENCRYPTION",
        "SKIP_SIGNATURE",
        "SSE_BUCKET_KEY_ENABLED",
        "SSE_CUSTOMER_KEY_BASE64",
        "SSE_KMS_KEY_ID",
        "UNSIGNED_PAYLOAD",
        "VIRTUAL_HOSTED_STYLE_REQUEST",
    )
)

#: Those of Google Cloud Storage.
OF_GCS = (
    *("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_BASE_URL", "GOOGLE_BEARER_TOKEN", "GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_KEY"),
    *("GOOGLE_SERVICE_ACCOUNT_PATH", "GOOGLE_SKIP_SIGNATURE", "SERVICE_ACCOUNT", "SERVICE_ACCOUNT_KEY", "STORAGE_EMULATOR_HOST"),
)


def is_azure_set() -> bool:
    """Whether the environment may set up a store in Azure."""
    return any(name.upper().startswith(("AZURE_", "AZURITE_", "IDENTITY_ENDPOINT", "MSI_")) for name in os.environ)
