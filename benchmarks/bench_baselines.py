"""What baselines of earlier nights add to a comparison: time and memory by the number of traces.

Command: python benchmarks/bench_baselines.py [--traces N,N...] [--nights N]
Writes benchmarks/results/baselines.json, a row for each number of traces, each in a process of its
own. Nights are made in memory: 100 vantage points, to each of which targets lie in a tree of
routers, three targets to a last router; 25 traces for each router of the network; a tenth of the
targets is others each night, and RTTs vary. Made nights are not timed. Timed is processor time: of
one more night that baselines follow (``follow``), of a comparison with the night before alone, and
of one with the baselines. Peaks are of the resident set: before baselines are there, with them,
and of both nights compared. Verified: baselines hold a row for each pair of the last night, and
``n_reference_nights`` nights.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.record import record
from pipeline.compare import Night, References, compare_nights, follow
from pipeline.model.addresses import V4_PREFIX
from pipeline.model.columns.keys import distinct_keys, pair_keys, split_key
from pipeline.model.measured.observations import FIRST, Observations, Paths, Steps, Vantages

N_VANTAGES, DEPTH, PER_ROUTER = 100, 5, 25
N_ASES = 1000


def make_night(n_traces: int, number: int) -> Night:
    """A night of this many traces; of the same ``n_traces`` the networks are the same."""
    network, luck = np.random.default_rng(n_traces), np.random.default_rng([n_traces, number])
    n_nodes, n_targets = max(N_ASES, n_traces // PER_ROUTER), n_traces // N_VANTAGES
    sizes = [max(1, n_targets // 3**level) for level in range(DEPTH, 0, -1)]
    n_steps, first = sum(sizes), 0
    before, far = np.empty((2, N_VANTAGES, n_steps), np.int32)
    for level, size in enumerate(sizes):
        rows = slice(first, first + size)
        above = network.integers(0, sizes[level - 1], (N_VANTAGES, size)) if level else 0
        before[:, rows] = above + first - sizes[level - 1] if level else FIRST
        far[:, rows] = network.integers(0, n_nodes, size)
        first += size
    own = np.repeat(np.arange(N_VANTAGES), n_steps)
    before = np.where(before == FIRST, FIRST, before + np.arange(N_VANTAGES)[:, None] * n_steps)
    before, far = before.ravel().astype(np.int32), far.ravel()
    hops = np.repeat(np.arange(1, DEPTH + 1), sizes)
    rtt = np.tile(10.0 * hops, N_VANTAGES) + luck.exponential(0.3, len(far))
    steps = Steps(
        own.astype(np.int32),
        before,
        np.where(before == FIRST, FIRST, far[before]).astype(np.int32),
        far,
        np.zeros(len(far), bool),
        np.ones(len(far), np.int32),
        rtt.astype(np.float32),
    )
    target = np.arange(n_targets) + number * (n_targets // 10)
    ends = n_steps - sizes[-1] + target % sizes[-1]
    vantage = np.repeat(np.arange(N_VANTAGES), n_targets)
    paths = Paths(
        vantage.astype(np.int32),
        np.zeros(len(vantage), np.uint64),
        np.tile(V4_PREFIX + (20 << 24) + target.astype(np.uint64), N_VANTAGES),
        (np.tile(ends, N_VANTAGES) + vantage * n_steps).astype(np.int32),
        np.ones(len(vantage), np.int32),
        np.full(len(vantage), DEPTH + 1, np.uint8),
        np.full(len(vantage), 10.0 * DEPTH + 5, np.float32),
        np.ones(len(vantage), bool),
        np.ones(len(vantage), bool),
    )
    lows = V4_PREFIX + (10 << 24) + np.arange(n_nodes, dtype=np.uint64)
    addr = np.column_stack([np.zeros(n_nodes, np.uint64), lows])
    inner = steps.near != FIRST
    low, high = split_key(
        distinct_keys(pair_keys(*(ends[inner].astype(np.int64) for ends in (steps.near, far))))
    )
    apart = low != high
    places = np.uint64(1) + np.arange(N_VANTAGES, dtype=np.uint64)
    return Night(
        name=f"2026-01-{number + 1:02}",
        asn=np.arange(1, N_ASES + 1),
        node_ptr=np.linspace(0, n_nodes, N_ASES + 1).astype(np.int64),
        addr=addr,
        addr_node=np.arange(n_nodes),
        low=low[apart],
        high=high[apart],
        ingress=np.empty(0, np.int64),
        neighbor_ptr=np.zeros(1, np.int64),
        neighbor_asn=np.empty(0, np.int64),
        component=np.arange(n_nodes),
        name_addr=addr,
        observations=Observations(
            Vantages(np.zeros(N_VANTAGES, np.uint64), V4_PREFIX + places, np.ones(N_VANTAGES, int)),
            steps,
            paths,
        ),
    )


def measure(n_traces: int, n_nights: int) -> dict[str, Any]:
    """One row of the table."""
    compiled, usual = make_night(10_000, 0), References.none()
    for _ in range(3):
        usual = follow(usual, compiled)
    compare_nights(compiled, make_night(10_000, 1), usual)
    usual = References.none()
    for number in range(n_nights):
        night = make_night(n_traces, number)
        started = time.process_time()
        usual = follow(usual, night)
        followed_s = time.process_time() - started
    followed_mib = peak_mib()
    assert usual.n_nights == n_nights
    assert np.count_nonzero(usual.is_pair & (usual.n_absent == 0)) == n_traces
    new = make_night(n_traces, n_nights)
    seconds = []
    for known in (None, usual):
        started = time.process_time()
        compare_nights(night, new, known)
        seconds.append(round(time.process_time() - started, 2))
    return {
        "n_traces": n_traces,
        "nights_before": n_nights,
        "n_series": len(usual),
        "references_mib": round(sum(each.nbytes for each in columns_of(usual)) / 2**20),
        "follow_cpu_s": round(followed_s, 2),
        "compare_alone_cpu_s": seconds[0],
        "compare_cpu_s": seconds[1],
        "peak_follow_mib": followed_mib,
        "peak_all_mib": peak_mib(),
        "load": round(os.getloadavg()[0], 1),
    }


def columns_of(references: References) -> list[np.ndarray]:
    return [each for each in vars(references).values() if isinstance(each, np.ndarray)]


def peak_mib() -> int:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", default="250000,500000,1000000")
    parser.add_argument("--nights", type=int, default=7)
    given = parser.parse_args()
    rows = []
    for n_traces in map(int, given.traces.split(",")):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as one:
            rows.append(one.submit(measure, n_traces, given.nights).result())
        record("baselines", rows)


if __name__ == "__main__":
    main()
