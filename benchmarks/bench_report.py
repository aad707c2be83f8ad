"""The report of 47,000 ASes: seconds, megabytes and memory of tables and pages.

Command: python benchmarks/bench_report.py [--ases N] [--links N] [--processes N]
Writes benchmarks/results/report.json. The snapshot is a real one (built, written, opened), AS
sizes follow a Pareto law, an AS of n routers has some 12 * sqrt(n) ingresses; the searches are made
beforehand by the kernels and are not timed. `wall_s` is write_reports as a whole: components,
Parquet, JSON and one page per AS; `cpu_s` is what it and its processes computed, which differs on
a busy machine. `pages_mb_small_drawings` leaves out the drawings (with their tables) of graphs of
more than 50 nodes; the index of addresses, `addresses/`, is not among the pages.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pyarrow.parquet as pq

from benchmarks.bench_store import made_up_topology
from benchmarks.lib.record import record
from kernels import msbfs_shard
from pipeline.graphs import build_graphs
from pipeline.model.search.results import Measurement, SearchResults
from pipeline.model.topology import IngressTable, Topology
from pipeline.report import write_reports
from pipeline.report.pages.ases.side_by_side import n_processes
from pipeline.store import Snapshot, open_snapshot, write_snapshot

SHARD_ASES = 2000  # searched together


def with_ingresses(topology: Topology, seed: int = 2) -> Topology:
    """The topology, with ingresses drawn in each AS; a tenth of them candidates."""
    rng = np.random.default_rng(seed)
    size = np.bincount(topology.node_asn)[topology.node_asn]
    node = np.flatnonzero(rng.random(len(size)) < 12 / np.sqrt(size))
    neighbors = rng.integers(1, 5, len(node))
    candidate = rng.random(len(node)) < 0.1
    neighbor_ptr = np.append(0, np.cumsum(neighbors))
    step = np.append(0, np.cumsum(rng.integers(1, 100_000, neighbors.sum())))  # lists ascend
    direct = np.where(candidate, 0, rng.integers(1, 5000, len(node)))
    ingresses = IngressTable(
        node=node,
        neighbor_ptr=neighbor_ptr,
        neighbor_asn=step[1:] - np.repeat(step[neighbor_ptr[:-1]], neighbors),
        n_direct=direct,
        n_after_gap=rng.integers(0, 50, len(node)),
        candidate=candidate,
        neighbor_n_direct=shared_out(direct, neighbors),
    )
    return dataclasses.replace(topology, ingresses=ingresses)


def shared_out(n_direct: np.ndarray, neighbors: np.ndarray) -> np.ndarray:
    """Traces of each neighbour: as many of each, the first has what is left."""
    each = np.repeat(n_direct // neighbors, neighbors)
    each[np.append(0, np.cumsum(neighbors)[:-1])] += n_direct % neighbors
    return each


def search(snapshot: Snapshot) -> Measurement:
    """Search from every ingress of every AS, many ASes at once."""
    parts: list[dict[str, np.ndarray]] = []
    for start in range(0, snapshot.n_ases, SHARD_ASES):
        rows = np.arange(start, min(start + SHARD_ASES, snapshot.n_ases))
        table = snapshot.ingresses(rows)
        row, node = table.row[~table.candidate], table.node[~table.candidate]
        ptr = np.searchsorted(row, np.append(rows, rows[-1] + 1))
        found = msbfs_shard(snapshot.shard(rows), node.astype(np.int32), ptr.astype(np.int64))
        parts.append(
            {
                "row": row,
                "source": node,
                "n_reached": found.n_reached,
                "eccentricity": found.eccentricity,
                "n_levels": np.diff(found.hop_ptr),
                "hop_counts": found.hop_counts,
                "n_farthest": np.diff(found.farthest_ptr),
                "farthest": found.farthest,
            }
        )
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    results = SearchResults(
        hop_ptr=np.append(0, np.cumsum(columns.pop("n_levels"))),
        farthest_ptr=np.append(0, np.cumsum(columns.pop("n_farthest"))),
        **columns,
    )
    n_ases = snapshot.n_ases
    return Measurement(
        rows=np.arange(n_ases),
        results=results,
        failed={},
        n_tasks=np.ones(n_ases, np.int64),
        n_retries=np.zeros(n_ases, np.int64),
        wall_s=np.full(n_ases, np.nan),
        device=["cpu"] * n_ases,
        tasks={},
    )


def megabytes(folder: Path) -> tuple[float, float]:
    """MB (10**6 bytes) of the files below a folder: their lengths, and what they occupy."""
    stats = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return sum(s.st_size for s in stats) / 1e6, sum(s.st_blocks for s in stats) * 512 / 1e6


def large_drawings_mb(folder: Path, max_nodes: int = 50) -> float:
    """MB of the section that draws the graph, on pages of ASes with more nodes."""
    ases = pq.read_table(folder / "ases.parquet", columns=["asn", "n_nodes"]).to_pydict()
    n_bytes = 0
    for asn, n_nodes in zip(ases["asn"], ases["n_nodes"], strict=True):
        if n_nodes > max_nodes:
            page = (folder / "as" / f"{asn}.html").read_bytes()
            section = re.search(rb"<section id=graph>.*?</section>\s*", page, re.DOTALL)
            n_bytes += len(section[0]) if section else 0
    return n_bytes / 1e6


def cpu_seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--ases", type=int, default=47_000)
    parser.add_argument("--links", type=int, default=3_000_000)
    parser.add_argument("--processes", type=int, help="that write pages; default: one per core")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        store, out = Path(scratch) / "store", Path(scratch) / "out"
        graphs = build_graphs([with_ingresses(made_up_topology(given.ases, given.links))])
        names = {int(asn): f"NETWORK-{asn} Some Company of Some Length Ltd" for asn in graphs.asn}
        write_snapshot(
            store, "bench", graphs, as_names=names, inputs=[], options={}, counts={}, rejects=[]
        )
        with open_snapshot(store) as snapshot:
            measurement = search(snapshot)
            before, cpu_before = resource.getrusage(resource.RUSAGE_SELF), cpu_seconds()
            began = time.time()
            summary = write_reports(
                snapshot,
                measurement,
                out,
                options={},
                warnings=[],
                started=began,
                processes=given.processes,
            )
            wall_s = time.time() - began
            cpu_s = cpu_seconds() - cpu_before
            after = resource.getrusage(resource.RUSAGE_SELF)
        processes = n_processes(summary.totals["n_ases"], given.processes)
        pages = megabytes(summary.path / "as")
        whole = megabytes(summary.path)
        large_drawings = large_drawings_mb(summary.path)
        record(
            "report",
            [
                {
                    "n_ases": summary.totals["n_ases"],
                    "n_routers": summary.totals["n_nodes"],
                    "n_ingresses": summary.totals["n_ingresses"],
                    "n_pages": summary.n_pages,
                    "wall_s": round(wall_s, 1),
                    "cpu_s": round(cpu_s, 1),
                    "processes": processes,
                    "pages_mb": round(pages[0], 1),
                    "pages_mb_small_drawings": round(pages[0] - large_drawings, 1),
                    "pages_on_disk_mb": round(pages[1], 1),
                    "all_files_mb": round(whole[0], 1),
                    "all_files_on_disk_mb": round(whole[1], 1),
                    "mean_page_bytes": round(pages[0] * 1e6 / max(summary.n_pages, 1)),
                    "peak_rss_before_mb": round(before.ru_maxrss * 1024 / 1e6),
                    "peak_rss_mb": round(after.ru_maxrss * 1024 / 1e6),
                    "peak_rss_of_others_mb": round(
                        resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
                    ),
                }
            ],
        )


if __name__ == "__main__":
    main()
