"""Graph500: breadth-first search with parents from 64 roots, its validation, its way of counting.

Command: python benchmarks/bench_graph500.py [--scales 26,28] [--factor N] [--roots N] [--unchecked]
[--ranks N] [--subject RESULT] [--results FOLDER]

As the Graph500 specification has it: a Kronecker graph (A, B, C = 0.57, 0.19, 0.19) of 2^scale
nodes and factor * 2^scale links, duplicates and loops among them, nodes numbered at random; kernel
1 makes the graph, kernel 2 searches from each of 64 different random roots with a link and gives
parents. Each tree is validated, on the GPU: it has no cycle and its levels follow from parents;
each of its links is in the list; each link of the list joins nodes at most a level apart, both
reached or neither. An error ends the run. TEPS count the links of the list in the component that a
root is in, duplicates and loops too, by the time of kernel 2; the mean is harmonic.

The list is never in memory: each pass over it, in kernel 1 and in validation, draws it again, which
kernel 1's time includes. Kernel 2 is a call of ``bfs(graph, root, parents=True)`` from start to
answer. ``without_parents_ms``: the same searches for levels alone.

With --ranks the graph is in parts, one on each of so many GPUs, and kernel 2 is a search over them
and parents of it, from the time all ranks begin to the time the last one has the parents of its own
nodes. Each rank validates with a share of the links and the parents of all nodes.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.record import RESULTS, record
from benchmarks.partition.drawn import drawn_part, graph_named, split_of
from kernels import CSRGraph, bfs

AT_ONCE = 1 << 30  # arcs of a part that are made at once: fewer passes over the links


def measure(scale: int, factor: int, n_roots: int, is_checked: bool) -> dict[str, Any]:
    """A row: one scale on the current GPU."""
    import cupy as cp

    from benchmarks.partition.trees import Checker, roots_of

    drawn = graph_named(f"graph500:{scale}", factor)
    wait = cp.cuda.Device().synchronize
    begin = time.perf_counter()
    whole, n_arcs = split_of(drawn, 1)
    part = drawn_part(drawn, whole, n_arcs, 0)
    wait()
    construction_s = time.perf_counter() - begin
    graph = CSRGraph(part.indptr[: drawn.n_nodes + 1], part.indices, trusted=True)
    checker = Checker(drawn, whole.order)
    has_links = (cp.diff(graph.indptr) > 0).get()
    roots = roots_of(drawn, whole, lambda numbers: has_links[numbers], n_roots)
    bfs(graph, roots[0], parents=True)  # compiles
    rows, checked_s = [], 0.0
    for root in roots:
        wait()
        begin = time.perf_counter()
        found = bfs(graph, root, parents=True)
        wait()
        tree_s = time.perf_counter() - begin
        begin = time.perf_counter()
        n_links = checker.n_links(root, found.parent, found.level) if is_checked else 0
        checked_s += time.perf_counter() - begin
        del found
        begin = time.perf_counter()
        alone = bfs(graph, root)
        wait()
        rows.append((tree_s, time.perf_counter() - begin, n_links, alone.n_reached))
        del alone
    return _row(
        scale,
        factor,
        rows,
        {
            "is_validated": is_checked,
            "n_arcs": graph.n_arcs,
            "graph_gib": round(graph.n_bytes / 2**30, 2),
            "construction_s": round(construction_s, 3),
            "validation_s": round(checked_s, 3),
        },
    )


def measure_parts(
    scale: int, factor: int, n_roots: int, is_checked: bool, n_ranks: int
) -> dict[str, Any]:
    """A row: one scale, a part on each of some GPUs."""
    from benchmarks.partition.trees import on_gpus

    ends = on_gpus(graph_named(f"graph500:{scale}", factor), n_ranks, n_roots, is_checked, AT_ONCE)
    rows = []
    for each in zip(*(end["rows"] for end in ends), strict=True):
        tree_s, level_s, *facts = (max(values) for values in zip(*each, strict=True))
        rows.append((tree_s, level_s, *facts))

    def most(key: str) -> float:
        return round(float(max(end[key] for end in ends)), 3)

    return _row(
        scale,
        factor,
        rows,
        {
            "n_ranks": n_ranks,
            "is_validated": is_checked,
            "n_arcs": ends[0]["n_arcs"],
            "graph_gib": round(sum(end["graph_bytes"] for end in ends) / 2**30, 2),
            "gib_by_rank": [round(end["pool_bytes"] / 2**30, 2) for end in ends],
            "construction_s": most("construction_s"),
            "validation_s": most("validation_s"),
        },
    )


def _row(
    scale: int, factor: int, rows: list[tuple[float, ...]], about: dict[str, Any]
) -> dict[str, Any]:
    """From seconds with parents and without, links of the component and nodes reached."""
    tree_s, level_s, n_links, n_reached = (np.array(each) for each in zip(*rows, strict=True))
    row = {"scale": scale, "factor": factor, "n_roots": len(rows), **about}
    row |= {
        "without_parents_ms": round(1e3 * float(np.median(level_s)), 3),
        "n_reached": int(np.median(n_reached)),
    }
    row |= _quartiles("time_ms", 1e3 * tree_s)
    if about["is_validated"]:
        teps = n_links / tree_s
        row |= _quartiles("gteps", teps / 1e9)
        harmonic = len(teps) / (1 / teps).sum()
        # The standard deviation of a harmonic mean, as the specification has it (Norris 1940).
        spread = np.std(1 / teps, ddof=1) / np.sqrt(len(teps) - 1) * harmonic**2
        row |= {"harmonic_mean_gteps": round(float(harmonic) / 1e9, 3)}
        row |= {"harmonic_stddev_gteps": round(float(spread) / 1e9, 3)}
        without = len(teps) / (level_s / n_links).sum()
        row |= {"without_parents_gteps": round(float(without) / 1e9, 3)}
    return row


def _quartiles(name: str, values: np.ndarray) -> dict[str, float]:
    names = ("min", "firstquartile", "median", "thirdquartile", "max")
    found = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
    return {f"{which}_{name}": round(float(x), 3) for which, x in zip(names, found, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--scales", default="26", help="comma-separated")
    parser.add_argument("--factor", type=int, default=16, help="links per node")
    parser.add_argument("--roots", type=int, default=64)
    parser.add_argument("--ranks", type=int, default=1, help="GPUs, a part of the graph on each")
    parser.add_argument("--unchecked", action="store_true", help="no validation: no result")
    parser.add_argument("--subject", default="graph500", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    given = parser.parse_args()
    import cupy as cp

    rows = []
    for scale in map(int, given.scales.split(",")):
        asked = (scale, given.factor, given.roots, not given.unchecked)
        one = given.ranks == 1
        rows.append(measure(*asked) if one else measure_parts(*asked, given.ranks))
        print(rows[-1], file=sys.stderr, flush=True)
        cp.get_default_memory_pool().free_all_blocks()
        record(given.subject, rows, given.results)


if __name__ == "__main__":
    main()
