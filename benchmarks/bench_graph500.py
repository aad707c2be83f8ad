"""Graph500: breadth-first search with parents from 64 roots, its validation, its way of counting.

Command: python benchmarks/bench_graph500.py [--scales 26,28] [--factor N] [--roots N] [--unchecked]
[--subject RESULT] [--results FOLDER]

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
from benchmarks.partition.drawn import Drawn, drawn_part, graph_named, split_of
from kernels import CSRGraph, bfs
from kernels.partition.split import BLOCK


class Checker:
    """Validates trees of one graph on the current GPU."""

    def __init__(self, drawn: Drawn, order: np.ndarray):
        import cupy as cp

        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        self._drawn, self._place, self._cp = drawn, cp.asarray(place), cp

    def n_links(self, root: int, parent: Any, level: Any) -> int:
        """Links of the list in the component; AssertionError unless the tree is right."""
        from benchmarks.partition import drawn as room
        from kernels._cuda.loader import load_kernel

        cp, n = self._cp, self._drawn.n_nodes
        own = cp.full(n, -1, np.int32)
        own[root] = 0
        if int(parent[root]) != root:
            raise AssertionError(f"root {root} has the parent {int(parent[root])}")
        step, depth, n_reached = load_kernel(room.__file__, "next_levels"), 0, 1
        while True:
            depth += 1
            n_found = cp.zeros(1, np.uint64)
            step((4096,), (256,), (np.int64(n), parent, own, np.int32(depth), n_found))
            if not int(n_found[0]):
                break
            n_reached += int(n_found[0])
        if n_reached != int(cp.count_nonzero(parent >= 0)):
            raise AssertionError(f"root {root}: parents of some nodes do not lead to the root")
        if not bool((own == level).all()):
            raise AssertionError(f"root {root}: levels are not those of the tree")
        is_link, counts = cp.zeros(-(-n // 32), np.uint32), cp.zeros(2, np.uint64)
        args = (np.int32(BLOCK), self._place, parent, own, is_link, counts[:1], counts[1:])
        check = load_kernel(room.__file__, "check_links")
        check((4096,), (256,), (*self._drawn.arguments(), *args))
        wrong, inside = (int(each) for each in counts.get())
        if wrong:
            raise AssertionError(
                f"root {root}: {wrong} links join nodes that are not a level apart"
            )
        seen = int(sum(int(cp.count_nonzero(is_link & np.uint32(1 << k))) for k in range(32)))
        if seen != n_reached - 1:
            raise AssertionError(f"root {root}: {n_reached - 1 - seen} parents are not linked")
        return inside


def measure(scale: int, factor: int, n_roots: int, is_checked: bool) -> dict[str, Any]:
    """A row: one scale on the current GPU."""
    import cupy as cp

    drawn = graph_named(f"graph500:{scale}", factor)
    wait = cp.cuda.Device().synchronize
    begin = time.perf_counter()
    whole, n_arcs = split_of(drawn, 1)
    part = drawn_part(drawn, whole, n_arcs, 0)
    wait()
    construction_s = time.perf_counter() - begin
    graph = CSRGraph(part.indptr[: drawn.n_nodes + 1], part.indices, trusted=True)
    checker = Checker(drawn, whole.order)
    tried = np.random.default_rng(2).permutation(min(drawn.n_nodes, 64 * n_roots))
    tried = (tried * (drawn.n_nodes // len(tried))).astype(np.int64)
    has_links = cp.diff(graph.indptr)[cp.asarray(tried)].get() > 0
    roots = tried[has_links][:n_roots].tolist()
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
    tree_s, level_s, n_links, n_reached = (np.array(each) for each in zip(*rows, strict=True))
    row = {
        "scale": scale,
        "factor": factor,
        "n_roots": len(roots),
        "is_validated": is_checked,
        "n_arcs": graph.n_arcs,
        "graph_gib": round(graph.n_bytes / 2**30, 2),
        "construction_s": round(construction_s, 3),
        "validation_s": round(checked_s, 3),
        "without_parents_ms": round(1e3 * float(np.median(level_s)), 3),
        "n_reached": int(np.median(n_reached)),
    }
    row |= _quartiles("time_ms", 1e3 * tree_s)
    if is_checked:
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
    parser.add_argument("--unchecked", action="store_true", help="no validation: no result")
    parser.add_argument("--subject", default="graph500", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    given = parser.parse_args()
    import cupy as cp

    rows = []
    for scale in map(int, given.scales.split(",")):
        rows.append(measure(scale, given.factor, given.roots, not given.unchecked))
        print(rows[-1], file=sys.stderr, flush=True)
        cp.get_default_memory_pool().free_all_blocks()
        record(given.subject, rows, given.results)


if __name__ == "__main__":
    main()
