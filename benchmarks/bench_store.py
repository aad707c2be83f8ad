"""The store: write 10,000 ASes, open them, fetch one among them, read all of them at once.

Command: python benchmarks/bench_store.py [--ases N] [--links N] [--row-groups N,N...]
Writes benchmarks/results/store.json. AS sizes follow a Pareto law; every graph that is
fetched is compared with its graph_hash before anything is timed. "warm": files in the page cache;
each fetch decodes its row groups again (the cache of decoded row groups is off, except in
`neighbor_ms`, which fetches ASes in their order). "cold": the page cache is dropped for these
files (posix_fadvise) before each open and fetch.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.record import record
from pipeline.graphs import build_graphs
from pipeline.model.graphs import GraphSet
from pipeline.model.topology import Topology
from pipeline.store import columns, open_snapshot, write_snapshot


def made_up_topology(n_ases: int, n_links: int, seed: int = 1) -> Topology:
    """Links within ASes of very different sizes, a tenth of them between ASes."""
    rng = np.random.default_rng(seed)
    share = rng.pareto(1.2, n_ases) + 0.05
    size = np.maximum(2, share / share.sum() * n_links / 2).astype(np.int64)
    first = np.append(0, np.cumsum(size))
    near = rng.integers(0, first[-1], n_links)
    of = np.searchsorted(first, near, side="right") - 1
    far = first[of] + (rng.random(n_links) ** 2 * size[of]).astype(np.int64)
    across = rng.random(n_links) < 0.1
    far[across] = rng.integers(0, first[-1], np.count_nonzero(across))
    addr = np.zeros((first[-1], 2), np.uint64)
    addr[:, 1] = 0xFFFF_0000_0000 + np.sort(rng.integers(0, 2**32, first[-1]).astype(np.uint64))
    return Topology(
        node_asn=np.repeat(np.arange(n_ases) + 1, size),
        near=near,
        far=far,
        node_addr=addr,
        weight=rng.gamma(2, 3, n_links).astype(np.float32),
        weight_unit="ms",
    )


def timed(call, *given) -> tuple[float, object]:
    """Milliseconds of one call, and what it returned."""
    started = time.perf_counter()
    result = call(*given)
    return (time.perf_counter() - started) * 1e3, result


def forget(path: Path) -> None:
    """Make the kernel drop its cached pages of all files in a folder."""
    for file in path.iterdir():
        descriptor = os.open(file, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def measure(graphs: GraphSet, row_group: int, n_fetches: int) -> dict:
    """One row of figures for one row group size."""
    columns.ROW_GROUP = row_group
    cache_bytes, columns.CACHE_BYTES = columns.CACHE_BYTES, 0
    rng = np.random.default_rng(2)
    rows = rng.integers(0, graphs.n_ases, n_fetches).tolist()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder)
        nothing = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
        write_ms, path = timed(lambda: write_snapshot(store, "a", graphs, **nothing))
        snapshot = open_snapshot(store)
        for row in rows[:100]:
            snapshot.graph(row, check=True)
        open_ms = statistics.median(timed(open_snapshot, store)[0] for _ in range(15))
        fetch = sorted(timed(snapshot.graph, row)[0] for row in rows)
        everything = np.arange(graphs.n_ases)
        scan_ms = min(timed(snapshot.shard, everything)[0] for _ in range(3))
        cold = []
        for row in rows[:15]:
            forget(path)
            cold.append(timed(lambda row=row: open_snapshot(store).graph(row))[0])
        columns.CACHE_BYTES = cache_bytes
        in_order = [timed(snapshot.graph, row)[0] for row in range(min(2000, graphs.n_ases))]
        n_bytes = sum(file.stat().st_size for file in path.iterdir())
        arcs_bytes = sum(file.stat().st_size for file in path.glob("arcs-*"))
        n_files = len(list(path.iterdir()))
    return {
        "row_group": row_group,
        "n_ases": graphs.n_ases,
        "n_nodes": int(graphs.node_ptr[-1]),
        "n_arcs": len(graphs.indices),
        "n_files": n_files,
        "size_mb": round(n_bytes / 1e6, 1),
        "arcs_mb": round(arcs_bytes / 1e6, 1),
        "write_s": round(write_ms / 1e3, 2),
        "open_ms": round(open_ms, 2),
        "fetch_ms_median": round(statistics.median(fetch), 3),
        "fetch_ms_p95": round(fetch[int(0.95 * len(fetch))], 3),
        "neighbor_ms": round(statistics.fmean(in_order), 3),
        "cold_open_and_fetch_ms": round(statistics.median(cold), 2),
        "scan_s": round(scan_ms / 1e3, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ases", type=int, default=10_000)
    parser.add_argument("--links", type=int, default=12_000_000)
    parser.add_argument(
        "--row-groups", default="50000,250000,1000000", help="rows per row group, comma-separated"
    )
    parser.add_argument("--fetches", type=int, default=1000)
    arguments = parser.parse_args()
    topology = made_up_topology(arguments.ases, arguments.links)
    build_graphs([made_up_topology(10, 100)])  # compile
    build_ms, graphs = timed(build_graphs, [topology])
    rows: list[dict] = [{"build_s": round(build_ms / 1e3, 2), "n_links": arguments.links}]
    row_groups = map(int, arguments.row_groups.split(","))
    rows += [measure(graphs, row_group, arguments.fetches) for row_group in row_groups]
    record("store", rows, load_average=os.getloadavg()[0])


if __name__ == "__main__":
    main()
