"""Tables of what ``bench_variants.py`` wrote: every form, what each choice changes, who wins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.variants.choices import BUSY_WAIT, DIFFERENCES, MAPPINGS, READ_ONLY

OURS, PUBLISHED = "hopscope bfs", "two kernels"
NOT_YET = "Not measured yet."
CHANGES = {
    "pointers": "pointers, not offsets",
    "padded": "padded lists",
    READ_ONLY: "read-only loads",
    BUSY_WAIT: "busy-wait instead of one launch per level",
}
Run = dict[str, Any]
Times = dict[str, dict[str, float]]  # median ms of each form, by graph


def load_runs(results: Path) -> list[Run]:
    """All files ``variants_*.json`` of a folder, by name."""
    return [json.loads(path.read_text()) for path in sorted(results.glob("variants_*.json"))]


def tables(runs: list[Run]) -> Iterator[str]:
    """Lines of Markdown: one section per run."""
    if not runs:
        yield NOT_YET
    for run in runs:
        times = times_of(run)
        rows = {row["graph"]: row for row in run["rows"]}
        gpu = (run["machine"]["gpus"] or ["no GPU"])[0].partition(",")[0]
        yield f"### {gpu}"
        yield ""
        yield f"`{run['command']}`, {run['date'][:10]}, commit {run['commit']}"
        yield ""
        yield from forms_table(times, rows)
        yield from changes_table(times)
        yield from lengths_table(times)
        yield from winners(times)


def times_of(run: Run) -> Times:
    """Median milliseconds by graph and form; forms that found no memory are left out."""
    times: Times = {}
    for row in run["rows"]:
        of_graph = times.setdefault(row["graph"], {})
        if "median_ms" in row:
            of_graph[row["form"]] = row["median_ms"]
    return times


def forms_table(times: Times, rows: dict[str, Any]) -> Iterator[str]:
    """Every form on the graphs of the field; the fastest variant of each graph in bold."""
    graphs = [graph for graph in times if not is_of_lengths(graph)]
    if not graphs:
        return
    yield from header("median, ms", [title(graph) for graph in graphs])
    for form in dict.fromkeys(form for graph in graphs for form in times[graph]):
        cells = []
        for graph in graphs:
            cell = f"{times[graph][form]:.3g}" if form in times[graph] else ""
            cells.append(f"**{cell}**" if form == best(times[graph]) else cell)
        yield line(form, cells)
    yield line("*levels, on average*", [f"*{mean_levels(rows[graph]):.0f}*" for graph in graphs])
    yield ""


def mean_levels(row: dict[str, Any]) -> float:
    """Of the searches timed, the source's own level included."""
    return 1 + sum(row["eccentricity"]) / len(row["eccentricity"])


def changes_table(times: Times) -> Iterator[str]:
    """Time without a choice by time with it, all else alike."""
    graphs = [graph for graph in times if not is_of_lengths(graph)]
    lines = []
    for difference in DIFFERENCES:
        for mapping in MAPPINGS:
            cells = [ratio(times[graph], mapping, f"{mapping}+{difference}") for graph in graphs]
            if any(cells):
                lines.append(line(f"{CHANGES[difference]}: {mapping}", cells))
    if lines:
        yield "Speed-up by one choice (below 1: slower):"
        yield ""
        yield from header("choice: mapping", [title(graph) for graph in graphs])
        yield from lines
        yield ""


def lengths_table(times: Times) -> Iterator[str]:
    """The test with lists of equal length: each mapping on both graphs of a degree."""
    degrees = sorted({int(graph.partition("-")[2]) for graph in times if is_of_lengths(graph)})
    if not degrees:
        return
    yield (
        "The same number of arcs, in lists of equal length and in those of preferential attachment:"
    )
    yield ""
    yield from header("median, ms", [f"{degree} neighbours" for degree in degrees])
    forms = [*MAPPINGS, *(f"{mapping}+padded" for mapping in MAPPINGS), OURS]
    for form in forms:
        for kind, name in (("regular", "equal"), ("uneven", "uneven")):
            of_kind = [times.get(f"{kind}-{degree}", {}) for degree in degrees]
            cells = [f"{found[form]:.3g}" if form in found else "" for found in of_kind]
            if any(cells):
                yield line(f"{form}, {name}", cells)
    yield ""


def winners(times: Times) -> Iterator[str]:
    """Which variant wins where, and how ours compares with it."""
    for graph, of_graph in times.items():
        form = best(of_graph)
        if form is None:
            continue
        text = f"- {title(graph)}: `{form}`, {of_graph[form]:.3g} ms"
        if OURS in of_graph:
            text += f"; {OURS} {of_graph[OURS]:.3g} ms, {ratio(of_graph, form, OURS)} times as fast"
        yield text


def best(of_graph: dict[str, float]) -> str | None:
    """The fastest variant; ours and the published form are not variants."""
    variants = [form for form in of_graph if form not in (OURS, PUBLISHED)]
    return min(variants, key=of_graph.__getitem__, default=None)


def ratio(of_graph: dict[str, float], before: str, after: str) -> str:
    """Time before by time after; empty where one is missing."""
    if before not in of_graph or after not in of_graph:
        return ""
    return f"{of_graph[before] / of_graph[after]:.2f}"


def is_of_lengths(graph: str) -> bool:
    """Whether it is one of the test with lists of equal length."""
    return graph.startswith(("regular-", "uneven-"))


def title(graph: str) -> str:
    """``1,000,000 routers``, ``cut grid 300 x 300``, ``16 neighbours each``."""
    kind, _, number = graph.partition("-")
    return {
        "attachment": f"{int(number):,} routers",
        "grid": f"cut grid {number} x {number}",
        "regular": f"{number} neighbours each",
        "uneven": f"{number} neighbours on average",
    }[kind]


def header(corner: str, columns: list[str]) -> Iterator[str]:
    """The first two lines of a table."""
    yield line(corner, columns)
    yield line("---", ["---"] * len(columns))


def line(name: str, cells: list[str]) -> str:
    """A row of a table."""
    return f"| {name} | {' | '.join(cells)} |"
