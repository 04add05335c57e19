"""Draws the results of bench.py: pictures.py results.json FOLDER. A picture for each part, as SVG: seconds, lower is better."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt


def draw(results: dict[str, Any], part: str, peers: list[str], file: Path) -> None:
    rows = list(dict.fromkeys((one["case"], one["operation"]) for one in results["results"] if one["part"] == part))
    if not rows:
        return
    seconds = {
        (one["case"], one["operation"], one["peer"]): one["seconds"]
        for one in results["results"]
        if one["part"] == part and "seconds" in one
    }
    columns = 3 if part == "libraries" else 2
    lines = -(-len(rows) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(4 * columns, 1.7 * lines + 0.4), squeeze=False, layout="constrained")
    colours = [plt.get_cmap("tab10")(index) for index in range(len(peers))]
    for axis, (case, operation) in zip(axes.flat, rows):
        there = [(peer, seconds[case, operation, peer]) for peer in peers if (case, operation, peer) in seconds]
        bars = axis.barh([peer for peer, _ in there], [time for _, time in there], color=[colours[peers.index(peer)] for peer, _ in there])
        axis.bar_label(bars, fmt="%.2f", padding=2, fontsize=7)
        axis.invert_yaxis()
        axis.margins(x=0.15)
        axis.set_title(f"{case}: {operation}", fontsize=9)
        axis.tick_params(labelsize=7)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in list(axes.flat)[len(rows) :]:
        axis.set_visible(False)
    machine = results["machine"]
    figure.suptitle(f"seconds, {results['mib']} MiB, {machine['cores']} cores, best of {results['rounds']}", fontsize=9)
    # The same results give the same file.
    plt.rcParams.update({"svg.hashsalt": "zarr", "svg.fonttype": "none"})
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def main(source: str, folder: str) -> None:
    results = json.loads(Path(source).read_text())
    draw(results, "libraries", results["peers"], Path(folder) / "python-libraries.svg")
    draw(results, "dask", results["ways"], Path(folder) / "python-dask.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
