"""NetworkX alone and with this project as its backend, on graphs of growing size.

``python benchmarks/bench_networkx.py [--nodes N ...]``; preferential attachment, two edges a new
node. ``networkx_ms`` and ``hopscope_ms`` are of one call, ``first_ms`` of one on a graph that
NetworkX has not converted yet; ``convert_ms`` is the conversion alone. Answers must be equal.
A call of NetworkX that is expected to take longer than ``--limit`` seconds, by the graph before,
is left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import networkx as nx

from benchmarks.lib.record import record
from benchmarks.lib.timing import time_calls
from hopscope import networkx_backend as backend

# Name, arguments after the graph, and whether it grows with the square of the graph.
CALLS: dict[str, tuple[tuple[Any, ...], bool]] = {
    "single_source_shortest_path_length": ((0,), False),
    "number_connected_components": ((), False),
    "minimum_spanning_edges": (("kruskal", "weight", True, False), False),
    "diameter": ((), True),
    "center": ((), True),
    "closeness_centrality": ((), True),
}


def graph_of(n_nodes: int) -> nx.Graph:
    """With weights that are all different, so that there is one spanning tree."""
    graph = nx.barabasi_albert_graph(n_nodes, 2, seed=1)
    for weight, edge in enumerate(graph.edges):
        graph.edges[edge]["weight"] = weight * 7919 % graph.number_of_edges()
    return graph


def plain(found: Any) -> Any:
    """An answer that can be compared, whole where it comes bit by bit."""
    if isinstance(found, (dict, list, int)):
        return found
    return {frozenset(edge) for edge in found}


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    timing = time_calls(lambda: plain(call()), budget_s=0.5)
    return timing.median_ms, timing.last


def rows(sizes: list[int], limit_s: float) -> list[dict[str, Any]]:
    """A row for each size and call."""
    made, before = [], dict[str, float]()
    for n_before, n_nodes in zip([sizes[0], *sizes], sizes, strict=False):
        graph = graph_of(n_nodes)
        convert_ms = time_calls(lambda: backend.convert_from_nx(graph)).median_ms  # noqa: B023
        converted = backend.convert_from_nx(graph)
        for name, (arguments, squared) in CALLS.items():
            ours, theirs = backend.FUNCTIONS[name], getattr(nx, name).orig_func
            hopscope_ms, found = timed(lambda: ours(converted, *arguments))  # noqa: B023
            row = {"nodes": n_nodes, "call": name, "hopscope_ms": hopscope_ms}
            row |= {"convert_ms": convert_ms, "first_ms": hopscope_ms + convert_ms}
            growth = (n_nodes / n_before) ** (1 + squared)
            if before.get(name, 0.0) * growth < limit_s * 1e3:
                started = time.perf_counter()
                known = plain(theirs(graph, *arguments))
                first_ms = 1e3 * (time.perf_counter() - started)
                again = first_ms < 1e3
                row["networkx_ms"] = (
                    timed(lambda: theirs(graph, *arguments))[0] if again else first_ms  # noqa: B023
                )
                before[name] = row["networkx_ms"]
                assert found == known, f"{name} of {n_nodes} nodes differs"
            else:
                before[name] = before[name] * growth
            made.append(row)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--nodes", type=int, nargs="+", default=[100, 300, 1000, 3000, 10_000, 100_000]
    )
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a call of NetworkX")
    given = parser.parse_args()
    rows([100], given.limit)  # compiles
    record("networkx", rows(given.nodes, given.limit))


if __name__ == "__main__":
    main()
