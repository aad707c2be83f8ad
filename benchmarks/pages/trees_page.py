"""The table of minimum spanning forests on cores in docs/benchmarks.md.

Command: python benchmarks/pages/trees_page.py [--results FOLDER] [--docs FOLDER]

Reads ``trees_16_cores.json``, which ``bench_trees.py`` wrote on a machine that did nothing else,
and puts a table between the marks in ``benchmarks.md``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.lib.charts import number
from benchmarks.lib.record import REPOSITORY, RESULTS
from benchmarks.pages.plot_searches import fill

SUBJECT = "trees_16_cores"
OURS = "hopscope"
OTHERS = {
    "SciPy": "SciPy",
    "igraph": "igraph",
    "NetworKit": "NetworKit",
    "rustworkx": "rustworkx",
    "hopscope, kruskal": "ours by Kruskal",
    "hopscope, filter-kruskal": "ours by filter-Kruskal",
    "hopscope, prim": "ours by Prim",
}


def caption(subject: str, run: dict[str, Any]) -> str:
    """What a table shows, of which state of ours, and where it was measured."""
    return (
        f"{run['machine']['cores']} Xeon cores, of which other programs kept "
        f"{run['cores_of_others']:g} busy (`{subject}.json`, {run['date'][:10]}, commit "
        f"{run['commit'][:7]}): time over that of ours in the same round."
    )


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Milliseconds of ours on each graph, then how many times as long each other took."""
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    timed = {(row["by"], row["graph"]): row for row in rows if "ratio" in row}
    yield f"| | {' | '.join(named(graph) for graph in graphs)} |"
    yield f"| --- |{' --- |' * len(graphs)}"
    ours = (number(timed[OURS, graph]["median_ms"]) for graph in graphs)
    yield f"| ours, ms | {' | '.join(ours)} |"
    for by, label in OTHERS.items():
        theirs = [timed.get((by, graph)) for graph in graphs]
        if any(theirs):
            cells = (number(row["ratio"]) if row else "" for row in theirs)
            yield f"| {label} | {' | '.join(cells)} |"


def named(graph: str) -> str:
    """``rmat 17`` as RMAT 17, numbers of nodes with commas."""
    kind, _, size = graph.rpartition(" ")
    if kind == "rmat":
        return f"RMAT {size}"
    return f"{kind} {int(size):,}" if kind in ("attachment", "tree") else graph


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--docs", type=Path, default=REPOSITORY / "docs")
    arguments = parser.parse_args()
    run = json.loads((arguments.results / f"{SUBJECT}.json").read_text())
    rows = [row for row in run["rows"] if row["task"] == "mst"]
    content = caption(SUBJECT, run) + "\n\n" + "\n".join(table(rows))
    page = arguments.docs / "benchmarks.md"
    page.write_text(fill(page.read_text(), "forests", content))


if __name__ == "__main__":
    main()
