"""Plans of reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PlannedRequest:
    """A request of a :class:`Plan`.

    ``ranges`` are bytes of the value of ``key``, as the bounds of slices: ``(0, 10)``, ``(None, None)`` for all, ``(-16, None)`` for the last 16.
    ``round`` is how many rounds of requests are waited for before. A request that is not ``certain`` stands for the rest of a large value whose
    size is not known before.
    """

    key: str
    ranges: tuple[tuple[int | None, int | None], ...]
    round: int
    certain: bool


@dataclass(frozen=True)
class Plan:
    """The requests of a read, and what they cost; see :meth:`zarr_rust.Array.plan`.

    ``requests`` are all, or the first 131,072 of more, of which ``request_count`` are certain. They take at least ``rounds`` latencies, one
    after the other. ``range_bytes`` are asked for by range, and ``unsized_requests`` are for values whose size is not known before. The
    selection meets ``chunks`` chunks (shards), has ``selected_bytes``, and ``decoded_bytes`` are decoded for it; both are ``None`` for elements of
    variable length. ``if_missing`` is the key of a document that is read once more, to see that the array is still there; in a bucket not by each read.
    """

    requests: tuple[PlannedRequest, ...]
    request_count: int
    rounds: int
    range_bytes: int
    unsized_requests: int
    chunks: int
    selected_bytes: int | None
    decoded_bytes: int | None
    if_missing: str | None


def of_dict(planned: dict[str, Any]) -> Plan:
    """A plan of the compiled part."""
    requests = tuple(PlannedRequest(key, tuple(ranges), after, certain) for key, ranges, after, certain in planned.pop("requests"))
    return Plan(requests, **planned)
