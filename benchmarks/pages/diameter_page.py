"""Tables of the section on diameters in docs/benchmarks.md, from whatever results are there.

Command: python benchmarks/pages/diameter_page.py [--results FOLDER] [--docs FOLDER]

Reads every ``diameter*.json`` that ``bench_diameter.py`` wrote and puts tables between the marks.
If two files of one machine have the same measurement, the newer one is used.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.lib.charts import number
from benchmarks.lib.record import REPOSITORY, RESULTS
from benchmarks.pages.plot_searches import fill
from benchmarks.pages.searches_results import RENAMED, machine_name
from benchmarks.pages.searches_tables import measured

PART = "diameters"
OURS = "hopscope"
PEERS = ("NetworKit", "igraph")
BASELINES = ("F-Diam", "plain bounds", "one search per node")
QUESTIONS = ("diameter", "radius", "eccentricities")
Row = dict[str, Any]


def load(results: Path) -> list[Row]:
    """Rows of all files, each with its machine; of two with the same measurement the newer one."""
    newest: dict[tuple, Row] = {}
    runs = [json.loads(path.read_text()) for path in sorted(results.glob("diameter*.json"))]
    for run in sorted(runs, key=lambda run: run["date"]):
        about = {name: run.get(name) for name in ("date", "cores_of_others")}
        for row in run["rows"]:
            if row.get("by") in RENAMED:
                row["by"] = RENAMED[row["by"]]
            machine = machine_name(run["machine"], row.get("device", "cpu"))
            names = ("what", "graph", "device", "by", "without")
            key = (machine, *(row.get(name) for name in names))
            before: Row = {}
            if row["what"] == "graph":  # the same on every machine; a later run may report less
                machine, key = "", ("", *key[1:])
                before = newest.get(key, {})
            newest[key] = before | about | row | {"machine": machine}
    return sorted(newest.values(), key=_order)


def _order(row: Row) -> tuple:
    """GPUs first; files by size, then generated graphs by kind and size."""
    kind = row["graph"].rpartition(" ")[0]
    return row.get("device") != "gpu", row["machine"], kind, row["n_nodes"], row["graph"]


def tables(rows: list[Row]) -> Iterator[str]:
    """Markdown: the graphs, then what ran on each machine."""
    yield from graph_table([row for row in rows if row["what"] == "graph"])
    rows = [row for row in rows if row["what"] != "graph"]
    for machine in dict.fromkeys(row["machine"] for row in rows):
        own = [row for row in rows if row["machine"] == machine]
        yield f"\n### Diameters: {machine}\n"
        yield measured(own)
        for question in QUESTIONS:
            asked = [row for row in own if row["what"] == question and "without" not in row]
            if asked:
                yield from time_table(question, asked)


def graph_table(rows: list[Row]) -> Iterator[str]:
    if not rows:
        return
    yield "| graph | nodes | edges | diameter | D90 |"
    yield "| --- |" + " --- |" * 4
    for row in rows:
        estimated = "\\*" if row.get("effective_estimated") else ""
        d90 = row.get("effective_diameter")
        cells = [f"{row[name]:,}" for name in ("n_nodes", "n_edges")]
        cells += [f"{row['diameter']:,}", "" if d90 is None else f"{d90:.2f}{estimated}"]
        yield line(row["graph"], *cells)


def time_table(question: str, rows: list[Row]) -> Iterator[str]:
    """One row per graph: ours, every other program, and the ratio of the fastest peer."""
    others = [name for name in (*PEERS, *BASELINES) if any(row["by"] == name for row in rows)]
    has_searches = any("n_searches" in row for row in rows if row["by"] == OURS)
    title = [f"{question}, ms", OURS, *(["searches"] if has_searches else []), *others]
    has_peers = any(name in PEERS for name in others)
    title += ["best peer / ours"] * has_peers
    yield "\n" + line(*title)
    yield "|" + " --- |" * len(title)
    for graph in dict.fromkeys(row["graph"] for row in rows):
        by = {row["by"]: row for row in rows if row["graph"] == graph}
        if OURS not in by:
            continue
        cells = [milliseconds(by[OURS])]
        if has_searches:
            cells.append(f"{by[OURS].get('n_searches', ''):,}")
        cells += [milliseconds(by.get(name)) for name in others]
        if has_peers:
            cells.append(ratio(by[OURS], [by[name] for name in PEERS if name in by]))
        yield line(graph, *cells)


def milliseconds(row: Row | None) -> str:
    """The median, of several seeds with the least and the largest; ``> N s`` where cut off.

    A star where it is scaled.
    """
    if row is None:
        return ""
    if not {"median_ms", "cutoff_s"} & row.keys():
        return row.get("note", "")
    seeds = seeds_of(row)
    least, median, most = (reported(row, of(seeds)) for of in (min, statistics.median, max))
    if least != most:
        return f"{median} ({least} to {most})"
    return median + ("\\*" if "n_timed" in row else "")


def seeds_of(row: Row) -> list[float]:
    """The median of a graph's calls, or the medians of several seeds; infinite where cut off."""
    seeds = row.get("seeds_ms") or [row.get("median_ms")]
    return [math.inf if ms is None else ms for ms in seeds]


def reported(row: Row, ms: float) -> str:
    return number(ms) if math.isfinite(ms) else f"> {row['cutoff_s']:g} s"


def ratio(ours: Row, others: list[Row]) -> str:
    """How many times as long the fastest of others takes; a lower bound if all were cut off."""
    own = statistics.median(seeds_of(ours))
    timed = [row for row in others if {"median_ms", "cutoff_s"} & row.keys()]
    least = min((statistics.median(seeds_of(row)) for row in timed), default=math.nan)
    if math.isinf(least):
        return f"> {number(min(1e3 * row['cutoff_s'] for row in timed) / own)}"
    return "" if math.isnan(least) else number(least / own)


def line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--docs", type=Path, default=REPOSITORY / "docs")
    arguments = parser.parse_args()
    page = arguments.docs / "benchmarks.md"
    page.write_text(fill(page.read_text(), PART, "\n".join(tables(load(arguments.results)))))


if __name__ == "__main__":
    main()
