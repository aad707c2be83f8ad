"""Diameters and radii of every AS of an Internet, all of them at once on one device.

    python benchmarks/bench_shard_widths.py --subject shard_widths_h200

The shard of all ASes is on the device when the clock starts; answers are on the host when it stops.
Some ASes, the largest among them, are answered again on a core; their diameters are certified where
that takes few searches, else their paths are. Radii of ASes so large that a core takes minutes are
not answered again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bench_shard import N_ASES, N_ROUTERS, shard_of
from benchmarks.diameter.graphs import verified
from benchmarks.lib.record import record
from benchmarks.lib.timing import time_calls, waiter
from kernels import Shard, radius
from kernels.csr import Device
from kernels.eccentricity.questions import QUESTIONS, Question
from kernels.eccentricity.results import ShardWidths
from kernels.eccentricity.shard import widths
from pipeline.generate.internet import generate_internet
from pipeline.schedule.cluster.gpus import visible_gpus

N_CHECKED = 20
MOST_NODES = 200_000  # of an AS whose radius a core finds again: some take thousands of searches


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ases", type=int, default=N_ASES)
    parser.add_argument("--routers", type=int, default=N_ROUTERS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--questions", default="diameter,radius", help=",".join(QUESTIONS))
    parser.add_argument("--device", choices=("cpu", "gpu"), help="default: gpu if there is one")
    parser.add_argument("--subject", help="name of the results file")
    parser.add_argument("--folder", type=Path, help="folder of the results file")
    given = parser.parse_args()
    device: Device = given.device or ("gpu" if visible_gpus() else "cpu")
    asked = given.questions.split(",")
    questions: list[Question] = [question for question in QUESTIONS if question in asked]
    shard = shard_of(generate_internet(given.ases, given.routers, m=2, seed=given.seed))
    here = shard.to(device)
    found = widths(here, questions)
    check(shard, found)
    row = {
        "n_ases": given.ases,
        "n_nodes": shard.n_nodes,
        "n_arcs": shard.n_arcs,
        "questions": ",".join(questions),
        "n_searches": int(found.n_searches.sum()),
        "largest_diameter": int(found.diameter_lower.max()),
        "device": device,
    }
    row |= time_calls(widths, [(here, questions)], wait=waiter(device)).columns()
    record(given.subject or f"shard_widths_{device}", [row], given.folder)


def check(shard: Shard, found: ShardWidths) -> None:
    """Compare some ASes, the largest too, with what a core finds and a certificate proves."""
    if not found.exact.all():
        raise AssertionError(f"{np.count_nonzero(~found.exact)} components are not exact")
    sizes = np.diff(shard.node_ptr)
    chosen = np.random.default_rng(5).choice(len(sizes), min(N_CHECKED, len(sizes)), replace=False)
    for i in {*chosen.tolist(), int(np.argmax(sizes))}:
        graph = shard.graph(i)
        alone = verified(graph)
        at = int(np.searchsorted(found.names, alone.component + shard.node_ptr[i]))
        answers = {"diameter": (found.diameter_lower[at], found.diameter_upper[at])}
        expected = {"diameter": alone.diameter}
        if "radius" in found.questions and graph.n_nodes <= MOST_NODES:
            answers["radius"] = (found.radius_lower[at], found.radius_upper[at])
            expected["radius"] = radius(graph).radius
        for name, value in expected.items():
            if name in found.questions and answers[name] != (value, value):
                raise AssertionError(f"AS row {i}: {name} {answers[name]}, on a core {value}")


if __name__ == "__main__":
    main()
