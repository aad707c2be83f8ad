"""Plots and tables of sequential algorithms and their twins in docs/benchmarks.md.

Command: python benchmarks/pages/plot_twins.py [--results FOLDER] [--docs FOLDER]

Reads ``twins_h200.json`` and those there are of ``twins_h200_6m8.json`` (the largest size) and
``twins_h200_prim.json`` (Prim at large sizes, later), which ``bench_twins.py`` wrote where both
devices are, writes ``images/twins_time.svg`` and
``images/twins_memory.svg`` below docs, and puts pictures and tables between the marks in
``benchmarks.md``.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.lib.charts import Line, line_chart, number
from benchmarks.lib.record import REPOSITORY, RESULTS
from benchmarks.pages.plot_searches import fill

SUBJECTS = ("twins_h200", "twins_h200_6m8")
LATER = "twins_h200_prim"
NAMES = {"bfs": "BFS", "dfs": "DFS", "prim": "Prim", "kruskal": "Kruskal", "dijkstra": "Dijkstra"}
PLACES = {"cpu": "core", "gpu": "GPU"}
Row = dict[str, Any]
Run = dict[str, Any]  # one results file
Points = list[tuple[float, float]]


def merged(runs: Iterable[Run], later: Run | None) -> list[Row]:
    """Rows of files; a later file replaces what they say of the same calls, and adds no size."""
    own = ("algorithm", "way", "device", "n_nodes")
    rows = {tuple(row[name] for name in own): row for run in runs for row in run["rows"]}
    sizes = {row["n_nodes"] for row in rows.values()}
    for row in later["rows"] if later else ():
        if row["n_nodes"] in sizes:
            rows[tuple(row[name] for name in own)] = row
    return list(rows.values())


def points(rows: list[Row], algorithm: str, device: str, way: str, figure: str) -> Points:
    """(nodes, figure) of one curve, by nodes."""
    wanted = {"algorithm": algorithm, "device": device, "way": way}
    own = [row for row in rows if figure in row and wanted.items() <= row.items()]
    return sorted((row["n_nodes"], row[figure]) for row in own)


def crossing(sequential: Points, twin: Points) -> float | None:
    """Nodes from which on the twin takes less time; None if it does not at the largest size."""
    core, gpu = dict(sequential), dict(twin)
    sizes = sorted(core.keys() & gpu.keys())
    gains = [(n, math.log(core[n] / gpu[n])) for n in sizes]
    if not gains or gains[-1][1] <= 0:
        return None
    found = gains[0][0]
    for (n, gain), (n_next, gain_next) in pairwise(gains):
        if gain <= 0 < gain_next:
            found = n * (n_next / n) ** (-gain / (gain_next - gain))
    return found


def lines(rows: list[Row], figure: str) -> list[Line]:
    """Of each algorithm that on a core, dashed, and its twin."""
    found = []
    for color, (algorithm, name) in enumerate(NAMES.items()):
        for device, place in PLACES.items():
            own = points(rows, algorithm, device, "twin", figure)
            if own:
                is_gpu = device == "gpu"
                found.append(Line(f"{name}, {place}", own, color, is_gpu, dashed=not is_gpu))
    return found


def plots(rows: list[Row]) -> Iterator[tuple[str, str, str]]:
    """(file name, title, SVG) of each plot."""
    nodes = "nodes, 12 to 14 neighbours each"
    for figure, unit, title in (
        ("median_ms", "ms", "Sequential algorithms and their twins on a GPU: time"),
        ("peak_mb", "MB besides the graph", "Sequential algorithms and their twins: peak memory"),
    ):
        kind = "time" if figure == "median_ms" else "memory"
        yield f"twins_{kind}.svg", title, line_chart(title, nodes, unit, lines(rows, figure))


def table(rows: list[Row]) -> Iterator[str]:
    """Times at each size, and where the twin begins to win.

    An estimated time was not measured, since a call would have taken about so long.
    """
    sizes = sorted({row["n_nodes"] for row in rows})
    yield f"| ms by number of nodes | | {' | '.join(f'{n:,}' for n in sizes)} | GPU faster from |"
    yield f"| --- | --- |{' --- |' * (len(sizes) + 1)}"
    for algorithm, name in NAMES.items():
        curves = {
            (device, way): points(rows, algorithm, device, way, "median_ms")
            for way in ("twin", "fastest")
            for device in PLACES
        }
        from_nodes = crossing(curves["cpu", "twin"], curves["gpu", "twin"])
        for (device, way), own in curves.items():
            if not own:
                continue
            called = next(
                row["name"]
                for row in rows
                if (row["algorithm"], row["device"], row["way"]) == (algorithm, device, way)
            )
            what = PLACES[device] + (f", {called}" if called else "")
            left_out = points(rows, algorithm, device, way, "estimate_ms")
            known = {n: number(value) for n, value in own}
            known |= {n: f"estimated {number(value)}" for n, value in left_out}
            cells = " | ".join(known.get(n, "") for n in sizes)
            last = ""
            if (device, way) == ("gpu", "twin"):
                last = "never here" if from_nodes is None else f"{number(from_nodes)} nodes"
            label = name if way == "twin" else "fastest of ours"
            yield f"| {label} | {what} | {cells} | {last} |"


def origin(subject: str, run: Run) -> str:
    """Of which state of ours the rows of a file are, and where they were measured."""
    sizes = sorted({row["n_nodes"] for row in run["rows"]})
    span = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    machine = run["machine"]
    gpus = [name.partition(",")[0] for name in machine["gpus"][:1]]
    where = ", ".join([*gpus, f"{machine['cores']} cores"])
    only = "Prim at " if subject == LATER else ""
    return (
        f"- {only}{span} nodes: `{subject}.json`, {run['date'][:10]}, commit {run['commit'][:7]}, "
        f"{where}, of which other programs kept {run['cores_of_others']:g} busy."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--docs", type=Path, default=REPOSITORY / "docs")
    arguments = parser.parse_args()
    runs = {}
    for subject in (*SUBJECTS, LATER):
        file = arguments.results / f"{subject}.json"
        if file.exists():
            runs[subject] = json.loads(file.read_text())
    rows = merged([runs[name] for name in SUBJECTS if name in runs], runs.get(LATER))
    images = arguments.docs / "images"
    images.mkdir(parents=True, exist_ok=True)
    drawn = []
    for name, title, svg in plots(rows):
        (images / name).write_text(svg)
        drawn.append(f"![{title}](images/{name})")
    page = arguments.docs / "benchmarks.md"
    origins = "\n".join(origin(subject, run) for subject, run in runs.items())
    content = "\n\n".join([origins, *drawn, "\n".join(table(rows))])
    page.write_text(fill(page.read_text(), "twins", content))


if __name__ == "__main__":
    main()
