"""Plots and tables of docs/benchmarks.md, from whatever machines' results are there.

Command: python benchmarks/plot_searches.py [--results FOLDER] [--docs FOLDER]

Reads every ``searches*.json`` that ``bench_searches.py`` wrote, writes ``images/searches_*.svg``
below docs, and puts pictures and tables between the marks in ``benchmarks.md``. Where two files
tell the same of one machine, the newer one counts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.charts import Line, Span, line_chart, span_chart
from benchmarks.record import REPOSITORY, RESULTS

# Pictures of each part of the page; the part "figures" holds the tables.
PICTURES = {
    "many": ("searches_many",),
    "single": ("searches_single",),
    "sources": ("searches_sources_gpu", "searches_sources_cpu"),
    "long": ("searches_long",),
    "bounds": ("searches_bounds_gpu", "searches_bounds_cpu"),
}
OURS = "hopscope"
MANY = 100  # sources that programs are compared on
COMPARED = (("bfs", 1), ("msbfs", MANY), ("msbfs levels", MANY))
LARGEST = ("msbfs", 2000)
COLOR = {  # of a line; the rest is gray
    ("hopscope", "gpu"): 0,
    ("hopscope", "cpu"): 1,
    ("SciPy", "cpu"): 2,
    ("igraph", "cpu"): 3,
    ("NetworKit", "cpu"): 4,
    ("NetworKit, many at once", "cpu"): 5,
    ("thread a node", "gpu"): 7,
    ("two kernels", "gpu"): 8,
    ("cuGraph", "gpu"): 9,
}
MANY_LINES = {"msbfs": ", hop counts", "msbfs levels": ", levels"}
KINDS = ("bfs", "bfs parents", "msbfs", "msbfs levels", "components")
Row = dict[str, Any]


def load(results: Path) -> list[Row]:
    """Rows of all files, each with its machine and the rate of a copy in the same run.

    Of two rows that tell the same the newer one is kept.
    """
    newest: dict[tuple, Row] = {}
    runs = [json.loads(path.read_text()) for path in sorted(results.glob("searches*.json"))]
    for run in sorted(runs, key=lambda run: run["date"]):
        about = {name: run[name] for name in ("date", "command", "commit")}
        rates = {row["device"]: row["gb_per_s"] for row in run["rows"] if row["what"] == "copy"}
        for row in run["rows"]:
            more = {
                "machine": machine_name(run["machine"], row["device"]),
                "rate": rates[row["device"]],
            }
            names = ("graph", "device", "by", "what", "n_sources")
            key = (more["machine"], *(row.get(name) for name in names))
            newest[key] = about | row | more
    rows = list(newest.values())
    name_places(rows)
    return rows


def name_places(rows: Iterable[Row]) -> None:
    """Give each row its ``place``, as short as tells machines apart: ``H200``, ``2 cores``."""
    machines = {row["machine"] for row in rows}
    short_names = {machine: short_name(machine) for machine in machines}
    for row in rows:
        name = short_names[row["machine"]]
        is_unique = list(short_names.values()).count(name) == 1
        row["place"] = name if is_unique else row["machine"]


def short_name(machine: str) -> str:
    return machine.partition(",")[0].replace("NVIDIA ", "")


def machine_name(machine: Row, device: str) -> str:
    """``NVIDIA H200``, or ``2 cores, AMD EPYC``."""
    if device == "gpu" and machine["gpus"]:
        return machine["gpus"][0].partition(",")[0]
    return f"{machine['cores']} cores, {machine['cpu']}"


def where(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """Rows that were timed and whose columns are as wanted."""
    return [
        row
        for row in rows
        if "median_ms" in row and all(row.get(name) == value for name, value in wanted.items())
    ]


def sizes(rows: list[Row]) -> list[Row]:
    """Of one AS of preferential attachment only."""
    return [row for row in rows if row["graph"].startswith("attachment")]


def curves(rows: list[Row], what: dict[str, str]) -> list[Line]:
    """A line a program, machine and kind of search, over the number of routers.

    ``what`` names the kinds, and how each is told in the legend.
    """
    found: dict[tuple, list[tuple[float, float]]] = {}
    for row in sizes(rows):
        if row["what"] in what:
            key = (row["by"], row["device"], row["place"], row["what"])
            found.setdefault(key, []).append((row["n_nodes"], row["median_ms"]))
    lines = []
    for (by, device, place, kind), points in found.items():
        name = f"{by}{what[kind] if by == OURS else ''}, {place}"
        dashed = by == OURS and kind != next(iter(what))
        color = COLOR.get((by, device), 6)
        lines.append(Line(name, sorted(points), color, by == OURS, dashed))
    return lines


def plots(rows: list[Row]) -> Iterator[tuple[str, str, str]]:
    """(file name, title, SVG) of each plot that there are rows for."""
    routers = "routers of the AS (preferential attachment, two links a router)"
    lines = curves(where(rows, n_sources=MANY), MANY_LINES)
    if lines:
        title = f"Searches from {MANY} ingresses of one AS"
        yield "searches_many.svg", title, line_chart(title, routers, "ms", lines)
    lines = curves(where(rows, n_sources=1), {"bfs": ""})
    if lines:
        title = "One search, levels of all routers"
        yield "searches_single.svg", title, line_chart(title, routers, "ms", lines)
    for device in ("cpu", "gpu"):
        ours = where(rows, device=device, by=OURS)
        lines = list(by_sources(ours))
        if lines:
            title = f"Hop counts by the number of ingresses, {device.upper()}"
            chart = line_chart(title, "ingresses", "ms", lines)
            yield f"searches_sources_{device}.svg", title, chart
        groups = list(bounds(ours))
        if groups:
            title = f"Measured, and what the bytes take at the rate of a copy, {device.upper()}"
            yield f"searches_bounds_{device}.svg", title, span_chart(title, "ms", groups)
    groups = list(long_graph(rows))
    if groups:
        title = "A long graph: a grid without a tenth of its links"
        yield "searches_long.svg", title, span_chart(title, "ms", groups)


def by_sources(ours: list[Row]) -> Iterator[Line]:
    """A line a graph and machine, over the number of sources."""
    rows = where(ours, what="msbfs")
    places = dict.fromkeys((row["place"], row["graph"]) for row in rows)
    for color, (place, graph) in enumerate(places):
        own = where(rows, place=place, graph=graph)
        points = [(row["n_sources"], row["median_ms"]) for row in own]
        yield Line(f"{graph_name(own[0])}, {place}", sorted(points), color)


def bounds(ours: list[Row]) -> Iterator[tuple[str, list[Span]]]:
    """Measured times between those of the least and of the most bytes, by kind of search."""
    for what, n_sources in COMPARED:
        spans = [
            Span(
                f"{graph_name(row)}, {row['place']}",
                row["median_ms"],
                row["least_bytes"] / row["rate"] / 1e6,
                row["most_bytes"] / row["rate"] / 1e6,
                True,
            )
            for row in where(ours, what=what, n_sources=n_sources)
        ]
        if spans:
            yield kind_name(what, n_sources), spans


def long_graph(rows: list[Row]) -> Iterator[tuple[str, list[Span]]]:
    """Every program's times on the cut grid, fastest first."""
    grids = [row for row in where(rows) if row["graph"].startswith("cut grid")]
    for what, n_sources in COMPARED:
        spans = [
            Span(
                f"{row['by']}, {row['place']}",
                row["median_ms"],
                is_ours=row["by"] == OURS,
            )
            for row in where(grids, what=what, n_sources=n_sources)
        ]
        if spans:
            yield kind_name(what, n_sources), sorted(spans, key=lambda span: span.value)


def graph_name(row: Row) -> str:
    """``6,800,000 routers``, ``cut grid 1000``, ``10,000 ASes``."""
    kind, _, number = row["graph"].rpartition(" ")
    if kind == "attachment":
        return f"{row['n_nodes']:,} routers"
    return f"{kind} {number} x {number}" if kind == "cut grid" else str(row["graph"])


def kind_name(what: str, n_sources: int | None) -> str:
    """What was searched, in a reader's words."""
    ingresses = "1 ingress" if n_sources == 1 else f"{n_sources or 0:,} ingresses"
    return {
        "bfs": "one search, levels",
        "bfs parents": "one search, levels and parents",
        "msbfs": f"{ingresses}, hop counts",
        "msbfs levels": f"{ingresses}, levels",
        "components": "components",
        "msbfs_shard": "many ASes in one call",
    }[what]


def tables(rows: list[Row]) -> Iterator[str]:
    """Markdown: what ran on each machine, the medians, and the bytes that bound them."""
    for machine in dict.fromkeys(row["machine"] for row in rows):
        yield from machine_section(machine, [row for row in rows if row["machine"] == machine])


def machine_section(machine: str, rows: list[Row]) -> Iterator[str]:
    yield f"### {machine}\n"
    runs = sorted({(row["date"], row["command"], row["commit"]) for row in rows})
    for date, command, commit in runs:
        yield f"- `{command}`, {date[:10]}, commit {commit.rstrip('+') or 'not recorded'}"
    rates = ", ".join(f"{rate:,.0f}" for rate in sorted({row["rate"] for row in rows}))
    yield f"- copy within memory: {rates} GB/s read and written"
    compiled = [f"{row['wall_s']:.2f}" for row in rows if row["what"] == "compile"]
    yield f"- made or loaded once a process (compiled code): {', '.join(compiled)} s\n"
    timed = where(rows)
    graphs = list(dict.fromkeys(graph_name(row) for row in timed if row["what"] != "msbfs_shard"))
    if graphs:
        yield f"| median, ms | by | {' | '.join(graphs)} |"
        yield f"| --- | --- |{' --- |' * len(graphs)}"
        yield from time_rows(rows, graphs)
        yield ""
    for row in where(timed, what="msbfs_shard"):
        yield (
            f"{row['graph'].capitalize()}, {row['n_nodes']:,} routers, {row['n_sources']:,} "
            f"ingresses, hop counts of each: **{milliseconds(row)} ms**.\n"
        )
    bounded = [
        row
        for row in timed
        if "least_bytes" in row and (row["what"], row["n_sources"]) in (*COMPARED, LARGEST)
    ]
    if bounded:
        yield "| what bounds it | measured, ms | least, MB | most, MB | at a copy's rate, ms |"
        yield "| --- | --- | --- | --- | --- |"
        yield from (bound_row(row) for row in bounded)
        yield ""


def time_rows(rows: list[Row], graphs: list[str]) -> Iterator[str]:
    """A line a kind of search and program."""
    rows = [row for row in rows if "graph" in row and row["what"] != "msbfs_shard"]
    order = {what: i for i, what in enumerate(KINDS)}
    keys = {(row["what"], row.get("n_sources") or 0, row["by"]) for row in rows}
    for what, n_sources, by in sorted(
        keys, key=lambda key: (order[key[0]], key[1], key[2] != OURS, key[2].lower())
    ):
        own = {
            graph_name(row): row
            for row in rows
            if (row["what"], row.get("n_sources") or 0, row["by"]) == (what, n_sources, by)
        }
        cells = [milliseconds(own[graph]) if graph in own else "" for graph in graphs]
        yield f"| {kind_name(what, n_sources)} | {by} | {' | '.join(cells)} |"


def bound_row(row: Row) -> str:
    least, most = row["least_bytes"], row["most_bytes"]
    name = f"{kind_name(row['what'], row['n_sources'])}, {graph_name(row)}"
    spans = f"{short(least / row['rate'] / 1e6)} to {short(most / row['rate'] / 1e6)}"
    return (
        f"| {name} | {milliseconds(row)} | {short(least / 1e6)} | {short(most / 1e6)} | {spans} |"
    )


def milliseconds(row: Row) -> str:
    """A median; a star where it was scaled from fewer sources; or why there is none."""
    if "median_ms" not in row:
        return row["note"].partition(" (")[0].partition(":")[0]
    star = "\\*" if row.get("n_timed", row.get("n_sources")) != row.get("n_sources") else ""
    return short(row["median_ms"]) + star


def short(value: float) -> str:
    """Three digits: 0.0123, 1.23, 12.3, 123, 1,230."""
    if value >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"


def write_page(page: Path, rows: list[Row], drawn: dict[str, str]) -> None:
    """Fill the parts of a page; drawn: file names of the pictures, and their titles."""
    text = page.read_text()
    for part, names in PICTURES.items():
        pictures = [f"{name}.svg" for name in names if f"{name}.svg" in drawn]
        lines = "\n\n".join(f"![{drawn[name]}](images/{name})" for name in pictures)
        text = fill(text, part, lines)
    page.write_text(fill(text, "figures", "\n".join(tables(rows))))


def fill(text: str, part: str, content: str) -> str:
    """The text with ``content`` between the two marks of a part."""
    begin, end = f"<!-- made: {part} -->", f"<!-- end: {part} -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page lacks {begin} or {end}")
    return f"{before}{begin}\n{content.strip()}\n{end}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--docs", type=Path, default=REPOSITORY / "docs")
    arguments = parser.parse_args()
    rows = load(arguments.results)
    images = arguments.docs / "images"
    images.mkdir(parents=True, exist_ok=True)
    for old in images.glob("searches_*.svg"):
        old.unlink()
    drawn = {}
    for name, title, svg in plots(rows):
        (images / name).write_text(svg)
        drawn[name] = title
        print(images / name)
    write_page(arguments.docs / "benchmarks.md", rows, drawn)


if __name__ == "__main__":
    main()
