"""Traces as warts: columns to bytes, plain and as gzip, on one core.

Command: python benchmarks/bench_warts.py [--traces N]
Repeats the traces of data/samples/lab (six replies on average), each to another destination, in
batches as a reader gives them. Verifies that our reader gives back what went in. Writes
benchmarks/results/warts_2_cores.json: `cpu_s` of the process, `traces_per_s` of it, `bytes`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.record import record
from pipeline.ingest import open_reader
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import TraceBatch
from pipeline.writers import warts

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples" / "lab"
BATCH = 15_000  # traces
COLUMNS = [field.name for field in fields(TraceBatch) if field.name not in ("part", "probing")]


def lab() -> list[TraceBatch]:
    """Traces of the lab, IPv4, by ICMP Paris."""
    found = []
    for path in sorted(SAMPLES.glob("*.icmp-paris.warts.gz")):
        found += list(open_reader(path, ReadReport(str(path)))[1])
    return [batch for batch in found if isinstance(batch, TraceBatch)]


def repeated(some: list[TraceBatch], n_traces: int) -> TraceBatch:
    """At least this many traces, by repeating some."""
    one: dict[str, Any] = {
        name: np.concatenate([getattr(batch, name) for batch in some])
        for name in COLUMNS
        if name != "reply_ptr"
    }
    lengths = np.concatenate([np.diff(batch.reply_ptr) for batch in some])
    n = -(-n_traces // len(lengths))
    columns: dict[str, Any] = {name: np.concatenate([column] * n) for name, column in one.items()}
    columns["dst_addr"][:, 1] += np.arange(len(columns["dst_addr"]), dtype=np.uint64)
    return TraceBatch(reply_ptr=np.concatenate([[0], np.cumsum(np.tile(lengths, n))]), **columns)


def measured(batch: TraceBatch, n: int, name: str, folder: Path) -> dict[str, Any]:
    path = folder / name
    began = time.process_time()
    lost = warts.write_file([batch] * n, path)
    cpu_s = time.process_time() - began
    assert not lost
    return {
        "file": name,
        "n_traces": n * batch.n_traces,
        "n_replies": n * batch.n_replies,
        "cpu_s": round(cpu_s, 2),
        "traces_per_s": round(n * batch.n_traces / cpu_s),
        "bytes": path.stat().st_size,
    }


def verify(batch: TraceBatch, folder: Path) -> None:
    warts.write_file([batch], folder / "x.warts")
    found = list(open_reader(folder / "x.warts", ReadReport("x"))[1])
    for name in COLUMNS:
        if name != "reply_ptr":
            mine = np.concatenate([getattr(each, name) for each in found])
            np.testing.assert_array_equal(mine, getattr(batch, name), name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=1_000_000)
    given = parser.parse_args()
    batch = repeated(lab(), BATCH)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        verify(batch, folder)  # compiles, too
        n = max(1, given.traces // batch.n_traces)
        rows = [measured(batch, n, each, folder) for each in ("x.warts", "x.warts.gz")]
    record("warts_2_cores", rows)


if __name__ == "__main__":
    main()
