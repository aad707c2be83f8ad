"""Readers, from stored bytes to columns, on one core: files repeated to some number of traces.

Command: python benchmarks/bench_ingest.py [--traces N] [--edges N] [--subject RESULT] [FILE...]
Writes benchmarks/results/ingest.json. FILE is any file of traces; without one, the measurements in
data/samples/lab are taken, one of each format. A file is repeated by appending it to itself (gzip
members in a row), read once before the clock runs, and then ``--repeats`` times. Rates
are of the median of processor time, so that a busy machine does not change them; one thread does
it all, pinned to one core. The edge list is that of a preferential attachment graph, plain and
compressed by gzip. What is timed: opening, hashing, decompressing, decoding, counting.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.graph_files import write_edge_list
from benchmarks.lib.graphs import attachment
from benchmarks.lib.record import record
from pipeline.ingest import open_reader
from pipeline.model.measured.reading import ReadReport

LAB = Path(__file__).resolve().parents[1] / "data" / "samples" / "lab"


def read(path: Path) -> tuple[ReadReport, float, float]:
    """Read a file to its end; its report, seconds of processor and of wall time."""
    report = ReadReport(str(path))
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in open_reader(path, report)[1]:
        pass
    return report, time.process_time() - cpu, time.perf_counter() - wall


def default_files() -> list[Path]:
    """The largest sample of each ending, so that the demo's own data are measured."""
    largest: dict[str, Path] = {}
    for path in sorted(LAB.glob("*.*.*.gz"), key=lambda path: path.stat().st_size):
        largest[path.suffixes[-2]] = path
    return list(largest.values())


def measure(path: Path, n_traces: int, n_repeats: int, folder: Path) -> dict[str, object]:
    once = read(path)[0]
    if once.n_records == 0:
        raise SystemExit(f"{path}: holds no trace")
    n_copies = -(-n_traces // once.n_records)
    repeated = folder / path.name
    stored = path.read_bytes()
    with repeated.open("wb") as file:
        for _ in range(n_copies):
            file.write(stored)
    report = read(repeated)[0]
    if report.n_records != n_copies * once.n_records or report.rejected:
        raise SystemExit(f"{path}: repeated {n_copies} times it gives {report.n_records} traces")
    runs = [read(repeated)[1:] for _ in range(n_repeats)]
    repeated.unlink()
    cpu_s = statistics.median(cpu for cpu, _ in runs)
    return {
        "format": report.format,
        "file": path.name,
        "n_copies": n_copies,
        "n_traces": report.n_records,
        "n_replies": report.n_hops,
        "n_unanswered": report.notes["unanswered hops"],
        "stored_bytes": report.size_bytes,
        "cpu_s": round(cpu_s, 3),
        "max_cpu_s": round(max(cpu for cpu, _ in runs), 3),
        "wall_s": round(statistics.median(wall for _, wall in runs), 3),
        "traces_per_s": round(report.n_records / cpu_s),
        "replies_per_s": round(report.n_hops / cpu_s),
        "hops_per_s": round((report.n_hops + report.notes["unanswered hops"]) / cpu_s),
        "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def measure_edges(n_edges: int, n_repeats: int, folder: Path) -> list[dict[str, object]]:
    """A row for a plain edge list, and one for a compressed one."""
    graph = attachment(n_edges // 2 + 2)
    rows = []
    for name in ("edges.txt", "edges.txt.gz"):
        path = folder / name
        write_edge_list(graph, path, "preferential attachment")
        report = read(path)[0]
        if report.n_records != graph.n_edges or report.rejected or report.notes:
            raise SystemExit(f"{name}: {report.n_records} edges, not {graph.n_edges}")
        runs = [read(path)[1:] for _ in range(n_repeats)]
        cpu_s = statistics.median(cpu for cpu, _ in runs)
        rows.append(
            {
                "format": report.format,
                "file": name,
                "n_edges": report.n_records,
                "stored_bytes": report.size_bytes,
                "cpu_s": round(cpu_s, 3),
                "wall_s": round(statistics.median(wall for _, wall in runs), 3),
                "edges_per_s": round(report.n_records / cpu_s),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Rate of each reader, on one core.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument(
        "--traces", type=int, default=200_000, help="minimum number of traces per file"
    )
    parser.add_argument(
        "--edges", type=int, default=2_000_000, help="number of edges of the edge list"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--subject", default="ingest", help="name of the results file")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            measure(path, arguments.traces, arguments.repeats, Path(folder))
            for path in (arguments.files or default_files() if arguments.traces else [])
        ]
        if arguments.edges:
            rows += measure_edges(arguments.edges, arguments.repeats, Path(folder))
    record(arguments.subject, rows)


if __name__ == "__main__":
    main()
