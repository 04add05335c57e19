"""Arrays, groups and data sets as notebooks show them: HTML with styles of its own in each element, and no script.

Colours are those of the text around, so that they fit light and dark pages. Texts of a store are escaped, and long ones cut.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarr_rust._array import Array
    from zarr_rust._dataset import Dataset, Variable
    from zarr_rust._group import Group

#: How many nodes, variables or attributes are shown.
_MOST = 50

#: How long a text is.
_LONGEST = 200

#: How many chunks are drawn along an axis, and how many pixels the longer side of a picture has.
_LINES, _SIDE = 40, 120

_CELL = "text-align:left;padding:1px 12px 1px 0;vertical-align:top;border:none;background:none"
_BOX = "font-family:monospace;font-size:12px;line-height:1.4"


def of_array(array: Array) -> str:
    """A table of facts, a picture of the chunks, and the attributes."""
    core = array._core
    facts = [
        ("shape", _product(array.shape)),
        ("data type", core.data_type),
        ("chunks", f"{_product(array.chunks)}, {array.nchunks}"),
        *([] if array.shards is None else [("shards", f"{_product(array.shards)}, {math.prod(core.grid_shape)}")]),
        *([] if array.dims is None else [("dimensions", ", ".join("?" if name is None else name for name in array.dims))]),
        ("fill value", json.dumps(array.metadata.get("fill_value"), ensure_ascii=False)),
        ("codecs", ", ".join(str(codec["name"]) for codec in array.metadata["codecs"])),
        ("format", array.dialect),
        ("store", core.store),
    ]
    picture = _picture(array.shape, core.chunk_shape, array.chunks if array.shards else None)
    table = _table([(_bold(name), escape(_cut(text))) for name, text in facts])
    body = f'<div style="display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start">{table}{picture}</div>'
    return _box(f"Array {array.name}", body + _attributes(array.attrs.asdict()))


def of_group(group: Group) -> str:
    """The nodes directly below, and the attributes."""
    nodes, broken = group._core.children()
    rows = []
    for path, array in nodes[:_MOST]:
        shown = "group" if array is None else f"{_product(array[0])} {array[1]}"
        rows.append((_bold(path.rsplit("/", 1)[-1]), escape(_cut(shown))))
    more = [f"{len(nodes) - _MOST} more"] if len(nodes) > _MOST else []
    below = _table(rows) + "".join(f"<div>{escape(_cut(text))}</div>" for text in [*more, *broken[:_MOST]])
    facts = _table([(_bold("format"), escape(group.dialect)), (_bold("store"), escape(_cut(group.store)))])
    return _box(f"Group {group.name}", facts + _part(f"{len(nodes)} nodes", below, True) + _attributes(group.attrs.asdict()))


def of_dataset(dataset: Dataset) -> str:
    """Dimensions, coordinates, variables and attributes. No value is read."""
    dims = ", ".join(f"{name}: {size}" for name, size in dataset.dims.items())
    return _box(
        f"Dataset {dataset._core.store}{dataset._core.path}",
        _table([(_bold("dimensions"), escape(_cut(dims)))])
        + _part("coordinates", _variables(dataset.coords.values()), True)
        + _part("variables", _variables(dataset.data_vars.values()), True)
        + _attributes(dataset.attrs),
    )


def of_variable(variable: Variable) -> str:
    """Dimensions and attributes. No value is read."""
    return _box(f"Variable {variable.name}", _variables([variable]) + _attributes(variable.attrs))


def _variables(variables: Iterable[Variable]) -> str:
    listed = list(variables)
    rows = []
    for variable in listed[:_MOST]:
        dims = ", ".join(f"{name}: {size}" for name, size in zip(variable.dims, variable.shape))
        says = [str(variable.attrs[name]) for name in ("long_name", "units") if name in variable.attrs]
        cells = (f"({dims})", _type(variable), ", ".join(says))
        rows.append((_bold(variable.name), *(escape(_cut(cell)) for cell in cells)))
    more = f"<div>{len(listed) - _MOST} more</div>" if len(listed) > _MOST else ""
    return _table(rows) + more


def _type(variable: Variable) -> str:
    """The data type of numpy, for which no value is read; the name in Zarr of another one, or of a variable without dimensions."""
    if variable.dims:
        try:
            return str(variable.dtype)
        # Whatever keeps its values from being read.
        except Exception:  # noqa: BLE001
            pass
    return str(variable.data_type)


def _attributes(attributes: Mapping[str, Any]) -> str:
    if not attributes:
        return ""
    rows = [(_bold(name), escape(_cut(json.dumps(value, ensure_ascii=False)))) for name, value in list(attributes.items())[:_MOST]]
    more = f"<div>{len(attributes) - _MOST} more</div>" if len(attributes) > _MOST else ""
    return _part(f"{len(attributes)} attributes", _table(rows) + more, False)


def _box(title: str, body: str) -> str:
    return f'<div style="{_BOX}"><div style="font-weight:bold">{escape(_cut(title))}</div>{body}</div>'


def _part(title: str, body: str, is_open: bool) -> str:
    return f'<details{" open" if is_open else ""}><summary style="cursor:pointer">{escape(title)}</summary>{body}</details>'


def _table(rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are HTML."""
    if not rows:
        return ""
    cells = ["".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) for row in rows]
    lines = "".join(f'<tr style="background:none">{line}</tr>' for line in cells)
    return f'<table style="border-collapse:collapse;border:none;margin:0">{lines}</table>'


def _bold(text: str) -> str:
    return f"<b>{escape(_cut(text))}</b>"


def _product(lengths: Iterable[int]) -> str:
    return " × ".join(map(str, lengths)) or "no dimensions"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _picture(shape: Sequence[int], chunks: Sequence[int], inner: Sequence[int] | None) -> str:
    """The last two dimensions with their stored chunks, and the inner chunks of the first one, as SVG."""
    if not shape or 0 in shape:
        return ""
    lengths = [1, *shape][-2:]
    parts = [1, *chunks][-2:]
    longest = max(lengths)
    # An axis is not drawn so thin that nothing is seen.
    height, width = (max(_SIDE * length / longest, 12) for length in lengths)
    lines = []

    def across(count: int, step: float, until: float, is_row: bool, to: float, opacity: float) -> None:
        # More lines than pixels say nothing.
        for number in range(1, min(count, _LINES + 1)):
            at = f"{min(number * step, until):.1f}"
            ends = f'x1="0" y1="{at}" x2="{to:.1f}" y2="{at}"' if is_row else f'x1="{at}" y1="0" x2="{at}" y2="{to:.1f}"'
            lines.append(f'<line {ends} stroke="currentColor" stroke-opacity="{opacity}"/>')

    counts = [max(-(-length // part), 1) for length, part in zip(lengths, parts)]
    many = [count > _LINES for count in counts]
    steps = [side * part / length for side, part, length in zip((height, width), parts, lengths)]
    for axis, (side, other) in enumerate(((height, width), (width, height))):
        if not many[axis]:
            across(counts[axis], steps[axis], side, axis == 0, other, 0.6)
    if inner is not None and not any(many):
        small = [1, *inner][-2:]
        first = [min(step, side) for step, side in zip(steps, (height, width))]
        for axis in (0, 1):
            count = -(-min(parts[axis], lengths[axis]) // small[axis])
            if count <= _LINES:
                across(count, steps[axis] * small[axis] / parts[axis], first[axis], axis == 0, first[1 - axis], 0.3)
    frame = f'<rect x="0" y="0" width="{width:.1f}" height="{height:.1f}" fill="currentColor" fill-opacity="0.07" stroke="currentColor"/>'
    size = f'width="{width + 2:.0f}" height="{height + 2:.0f}" viewBox="-1 -1 {width + 2:.1f} {height + 2:.1f}"'
    drawing = f'<svg {size} role="img" aria-label="chunks">{frame}{"".join(lines)}</svg>'
    before = f"<div>{escape(_product(shape[:-2]))} of these:</div>" if len(shape) > 2 else ""
    note = f"<div>{' × '.join(map(str, counts))} chunks{', not all drawn' if any(many) else ''}</div>"
    return f"<div>{before}{drawing}{note}</div>"
