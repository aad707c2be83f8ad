"""Plots and tables of docs/benchmarks.md, from whatever machines' results are there.

Command: python benchmarks/pages/plot_searches.py [--results FOLDER] [--docs FOLDER]

Reads every ``searches*.json`` that ``bench_searches.py`` wrote, writes ``images/searches_*.svg``
below docs, and puts pictures and tables between the marks in ``benchmarks.md``. If two files
of one machine have the same measurement, the newer one is used.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.lib.charts import Line, Span, line_chart, span_chart
from benchmarks.lib.record import REPOSITORY, RESULTS
from benchmarks.pages.searches_results import (
    COMPARED,
    MANY,
    OURS,
    Row,
    graph_name,
    kind_name,
    load,
    where,
)
from benchmarks.pages.searches_tables import tables

# Pictures of each part of the page; the part "figures" holds the tables.
PICTURES = {
    "many": ("searches_many",),
    "single": ("searches_single",),
    "sources": ("searches_sources_gpu", "searches_sources_cpu"),
    "long": ("searches_long",),
    "bounds": ("searches_bounds_gpu", "searches_bounds_cpu"),
}
COLOR = {  # of a line; the rest is gray
    ("hopscope", "gpu"): 0,
    ("hopscope", "cpu"): 1,
    ("SciPy", "cpu"): 2,
    ("igraph", "cpu"): 3,
    ("NetworKit", "cpu"): 4,
    ("NetworKit, many at once", "cpu"): 5,
    ("one thread per node", "gpu"): 7,
    ("two kernels", "gpu"): 8,
    ("cuGraph", "gpu"): 9,
}
MANY_LINES = {"msbfs": ", hop counts", "msbfs levels": ", levels"}


def sizes(rows: list[Row]) -> list[Row]:
    """Of one AS of preferential attachment only."""
    return [row for row in rows if row["graph"].startswith("attachment")]


def curves(rows: list[Row], what: dict[str, str]) -> list[Line]:
    """A line per program, machine and kind of search, over the number of routers.

    ``what`` names the kinds, and how each is reported in the legend.
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
    routers = "routers of the AS (preferential attachment, two links per router)"
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
    """One line per graph and machine, over the number of sources."""
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
