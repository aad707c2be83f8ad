"""End to end, from the store to the finished report: searches from N ingresses of one large AS.

Command: python benchmarks/bench_end_to_end.py [--routers N] [--ingresses K] [--name RESULT]
[--runs "DEVICE WORKERS PACK,..."]. Each run is the whole `analyze`: cluster start, searches,
collection, Parquet and pages; `search_s` is the part from the first submission to the last end
of a task.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pyarrow.parquet as pq

from benchmarks.lib.record import record
from pipeline.config import AnalyzeConfig, GenerateConfig
from pipeline.stages.analyze import analyze
from pipeline.stages.generate import generate_topology


def run_once(store: Path, out: Path, device: str, workers: int, pack: int | None) -> dict:
    """One complete analysis; all searches are in the same AS."""
    started = time.perf_counter()
    summary = analyze(
        AnalyzeConfig(
            store=store,
            out=out,
            device=device,  # type: ignore[arg-type]
            workers=workers,
            pack=pack,
            full=True,
        )
    )
    wall_s = time.perf_counter() - started
    if summary.failed:
        raise RuntimeError(f"searches failed: {summary.failed}")
    tasks = pq.read_table(summary.out / "tasks.parquet")
    started_s, ended_s = tasks["started"].to_pylist(), tasks["ended"].to_pylist()
    start, end = min(tasks["submitted"].to_pylist()), max(ended_s)
    return {
        "wall_s": wall_s,
        "search_s": end - start,
        "n_tasks": tasks.num_rows,
        "task_s_median": statistics.median(
            stop - begin for begin, stop in zip(started_s, ended_s, strict=True)
        ),
        "n_searches": summary.n_searches,
        "busy_share": summary.busy_share,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--routers", type=int, default=1_000_000)
    parser.add_argument("--ingresses", type=int, default=100)
    parser.add_argument(
        "--runs", default="cpu 2 auto", help="comma-separated runs: device, workers, pack"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--name", default="end_to_end")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        line = generate_topology(
            GenerateConfig(
                "ba", arguments.routers, store=store, asn=64500, ingresses=arguments.ingresses
            )
        )
        print(line, flush=True)
        for spec in arguments.runs.split(","):
            device, workers, pack = spec.split()
            size = None if pack == "auto" else int(pack)
            runs = [
                run_once(store, Path(folder) / "out", device, int(workers), size)
                for _ in range(arguments.repeats)
            ]
            runs.sort(key=lambda run: run["wall_s"])
            row = {
                "routers": arguments.routers,
                "ingresses": arguments.ingresses,
                "device": device,
                "workers": int(workers),
                "pack": pack,
                "repeats": arguments.repeats,
                **runs[len(runs) // 2],
                "search_s_median": statistics.median(run["search_s"] for run in runs),
            }
            rows.append(row)
            print(row, flush=True)
    record(arguments.name, rows)


if __name__ == "__main__":
    main()
