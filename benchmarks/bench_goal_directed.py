"""Searches from one node to another, compared with the whole search and with other programs.

Command: python benchmarks/bench_goal_directed.py [--graphs NAME,NAME] [--pairs N]
[--device cpu,gpu] [--programs NAME,NAME] [--subject RESULT]

In hops and by weight (whole numbers from 1 to 1,024, seeded): the whole search from the source, the
search that stops at the target, and the one from both ends. Random pairs, the same for all; each is
timed once for each way, on arrays that lie on the device already, after a call that is not timed.
Lengths are compared with those of the whole search, and the first paths are certified. ``ratio`` is
the median time of the whole search over that of the way.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.bench_trees import GRAPHS, WEIGHTS
from benchmarks.lib.graphs import with_weights
from benchmarks.lib.record import RESULTS, record
from benchmarks.lib.timing import OtherWork, Timing, time_calls, waiter
from benchmarks.peers.trees import PROGRAMS, able_to
from kernels import CSRGraph, bfs, shortest_path, sssp
from kernels.csr import to_host
from kernels.host import compile_cpu

N_CERTIFIED = 1  # pairs
MOST_S = 20.0  # of all pairs of one way; fewer pairs then
Row = dict[str, Any]
WHOLE, STOPPED, BOTH_ENDS = "whole", "stops at the target", "from both ends"


def ways_of(graph: CSRGraph, weighted: bool) -> dict[str, Callable[[int, int], Any]]:
    if weighted:
        return {
            WHOLE: lambda source, target: sssp(graph, source),
            STOPPED: lambda source, target: sssp(graph, source, target),
            BOTH_ENDS: lambda source, target: shortest_path(graph, source, target, weighted=True),
        }
    return {
        WHOLE: lambda source, target: bfs(graph, source),
        STOPPED: lambda source, target: bfs(graph, source, target),
        BOTH_ENDS: lambda source, target: shortest_path(graph, source, target),
    }


def length_of(found: Any, way: str, weighted: bool, target: int) -> float:
    """Of the shortest path; inf without one."""
    if way == BOTH_ENDS:
        return float(found.length)
    value = float(to_host((found.distance if weighted else found.level)[target : target + 1])[0])
    return value if value >= 0 else np.inf


def rows_of(
    name: str, graph: CSRGraph, pairs: list[tuple[int, int]], programs: list[str], weighted: bool
) -> Iterator[Row]:
    """One row per way, and per other program that searches from both ends."""
    row = {"graph": name, "n_nodes": graph.n_nodes, "n_arcs": graph.n_arcs}
    row |= {"device": graph.device, "by": "hopscope", "weighted": weighted}
    expected: dict[tuple[int, int], float] = {}
    whole_ms = 0.0
    for way, call in ways_of(graph, weighted).items():
        for source, target in pairs:
            found = call(source, target)
            if len(expected) < N_CERTIFIED or way != WHOLE:
                length = length_of(found, way, weighted, target)
                if expected.setdefault((source, target), length) != length:
                    raise AssertionError(f"{name}, {way}, {source} to {target}: {length}")
            if (source, target) in pairs[:N_CERTIFIED]:
                found.check()
            del found
            if way == WHOLE and len(expected) == N_CERTIFIED:
                break
        timing = timed(call, pairs, graph.device)
        whole_ms = whole_ms or timing.median_ms
        ratio = round(whole_ms / timing.median_ms, 3)
        yield row | {"way": way} | timing.columns() | {"ratio": ratio}
    for by, peer, why in able_to("path_by_weight" if weighted else "path", graph, programs):
        if peer is None:
            yield row | {"by": by, "note": why}
            continue
        theirs = row | {"by": by, "way": BOTH_ENDS if peer.is_two_ended else STOPPED}
        timing = timed(peer.path_by_weight if weighted else peer.path, pairs, graph.device)
        ratio = round(whole_ms / timing.median_ms, 3)
        yield theirs | timing.columns() | {"ratio": ratio}


def timed(call: Callable[[int, int], Any], pairs: list[tuple[int, int]], device: str) -> Timing:
    """Each pair once, as far as MOST_S reach."""
    call(*pairs[0])
    wait = waiter(device)
    return time_calls(
        call, pairs, wait=wait, budget_s=MOST_S, at_least=min(5, len(pairs)), at_most=len(pairs)
    )


def main() -> None:
    def names(text: str) -> list[str]:
        return text.split(",")

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--graphs", type=names, default=list(GRAPHS), help="comma-separated")
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--device", type=names, default=["cpu"], help="cpu,gpu")
    parser.add_argument("--programs", type=names, default=[kind.name for kind in PROGRAMS])
    parser.add_argument("--subject", default="goal_directed", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    arguments = parser.parse_args()
    compile_cpu(["searches", "weights", "paths"])
    others, rows = OtherWork(), []
    for name in arguments.graphs:
        graph = with_weights(GRAPHS[name](), most=WEIGHTS)
        drawn = np.random.default_rng(1).integers(0, graph.n_nodes, (arguments.pairs, 2))
        pairs = [(int(source), int(target)) for source, target in drawn]
        for device in arguments.device:
            here = graph.to(device)
            for weighted in (False, True):
                for row in rows_of(name, here, pairs, arguments.programs, weighted):
                    rows.append(row)
                    print(json.dumps(row), file=sys.stderr, flush=True)
    record(arguments.subject, rows, arguments.results, cores_of_others=others.n_cores())


if __name__ == "__main__":
    main()
