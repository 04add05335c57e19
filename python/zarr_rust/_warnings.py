"""Warnings, which name the line of the program that called this package."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable

from zarr_rust.errors import ZarrWarning

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def warn(message: str) -> None:
    """Warns at the first line that is not of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, ZarrWarning, stacklevel=level)


def consolidated_was_dropped(store: str, groups: Iterable[str], address: str | None, how: str) -> None:
    """Warns of groups whose consolidated metadata a change has dropped, since it would be stale; the compiled part calls this.

    ``how`` says what names the store: an ``"address"``, one with ``"options"``, an ``"object"`` of Python, or a ``"group"`` that is open.
    """
    for group in groups:
        below = "" if group == "/" else f", {group!r}"
        again = {
            "address": f"zarr_rust.consolidate_metadata({address!r}{below})",
            "options": f"zarr_rust.consolidate_metadata({address!r}{below}, storage_options=...), with those of this store,",
            "object": f"zarr_rust.consolidate_metadata(store{below}), of this object,",
            "group": "zarr_rust.consolidate_metadata(group), of this group as it is open,",
        }[how]
        warn(f"{store}: {group}: consolidated metadata was dropped, since a node below has changed; {again} writes it again")
