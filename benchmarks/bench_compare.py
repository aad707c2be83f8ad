"""Two nights of a synthetic Internet compared: time and memory of `hopscope compare`.

Command: python benchmarks/bench_compare.py [--traces N] [--ases N] [--folder DIR]
Writes benchmarks/results/compare.json. The traces are those of ``synthetic.traces``; the second
night lacks a tenth of them and has others instead. On each night 3 % of all answers are lost at
random; on the second one the AS that most addresses of the first are in does not answer. Routers
are those of the synthetic Internet (``--aliases``), their owners those of the prefixes (``--borders
prefix``): electing owners among so many ASes takes hours. Making the nights is not timed, and those
that ``--folder`` holds are taken again. What is timed is a process of its own, with its page, and
its largest resident set size is recorded (the nights are made in another process: what begins as a
copy of a large one counts as large). On a busy machine (``load``) look at ``cpu_s``. Verified:
an event says of that AS, or of routers of it, that it is silent.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pyarrow.parquet as pq

from benchmarks.lib.record import record
from benchmarks.synthetic.internet import make_internet, write_nodes
from benchmarks.synthetic.traces import write_traces
from pipeline.graphs import build_graphs
from pipeline.infer import Observer, infer_topology
from pipeline.ingest import open_reader
from pipeline.ingest.tables import ALIASES, PREFIXES
from pipeline.model.columns.ragged import offsets, row_of_value
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import TraceBatch
from pipeline.store import open_snapshot, write_snapshot

OLD, NEW = "2026-01-01", "2026-01-02"
N_FILES = 11
ROUTERS = "routers.nodes"
LOSS = 0.03


def lossy(batch: TraceBatch, rng: np.random.Generator, silent: np.ndarray) -> TraceBatch:
    """Traces without some answers, and without those of some addresses (low words, sorted)."""
    at = np.minimum(np.searchsorted(silent, batch.addr[:, 1]), max(0, len(silent) - 1))
    gone = silent[at] == batch.addr[:, 1] if len(silent) else np.zeros(len(batch.addr), bool)
    kept = ~gone & (rng.random(len(batch.ttl)) >= LOSS)
    trace = row_of_value(batch.reply_ptr)[kept]
    return replace(
        batch,
        reply_ptr=offsets(np.bincount(trace, minlength=batch.n_traces)),
        ttl=batch.ttl[kept],
        addr=batch.addr[kept],
        rtt_ms=batch.rtt_ms[kept],
        kind=batch.kind[kept],
    )


def make_night(folder: Path, name: str, files: list[Path], silent: np.ndarray) -> None:
    """Write the snapshot of a night."""
    rng = np.random.default_rng(sum(name.encode()))
    observer = Observer(folder)
    for path in files:
        for batch in open_reader(path, ReadReport(str(path)))[1]:
            observer.add(lossy(batch, rng, silent))  # type: ignore[arg-type]
    prefixes, _ = PREFIXES.read_files([folder / "prefixes.pfx2as"])
    aliases, _ = ALIASES.read_files([folder / ROUTERS])
    topology = infer_topology(
        [observer.close()], prefixes=prefixes, aliases=aliases, borders="prefix", workers=2
    )
    inputs = [{"holds": "traces", "newest_s": float(name[-2:])}]
    more = {"as_names": {}, "options": {}, "counts": {}, "rejects": []}
    write_snapshot(folder / "store", name, build_graphs([topology]), inputs=inputs, **more)


def make_nights(folder: Path, n_traces: int, n_ases: int) -> int:
    """Write the snapshots of both nights; returns the AS that is silent on the second one."""
    n_all = n_traces * N_FILES // (N_FILES - 1)
    per_as = max(4, n_traces // 20 // n_ases)
    written = write_traces(
        folder, n_all, N_FILES, n_ases=n_ases, routers_per_as=per_as, processes=1
    )
    write_nodes(make_internet(n_ases, per_as), folder / ROUTERS)
    files = [Path(path) for path in written.paths]
    make_night(folder, OLD, files[:-1], np.empty(0, np.uint64))
    with open_snapshot(folder / "store", OLD) as snapshot:
        table = snapshot.addresses()
    assert table is not None
    asns, times = np.unique(table.column("asn").to_numpy(), return_counts=True)
    asn = int(asns[np.argmax(times)])
    own = table.column("asn").to_numpy() == asn
    make_night(folder, NEW, files[1:], np.sort(table.column("addr_low").to_numpy()[own]))
    return asn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=int, default=10_000_000)
    parser.add_argument("--ases", type=int, default=47_000)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        asn_path = folder / "silent.txt"
        if not asn_path.exists():
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as makers:
                made = makers.submit(make_nights, folder, given.traces, given.ases)
                asn_path.write_text(str(made.result()))
        asn = int(asn_path.read_text())
        with open_snapshot(folder / "store", OLD) as snapshot:
            n_nodes, n_ases = int(snapshot.n_nodes.sum()), snapshot.n_ases
        command = ["compare", OLD, NEW, "--store", str(folder / "store")]
        command = [sys.executable, "-m", "pipeline.cli", *command, "--out", str(folder / "out")]
        load, started = os.getloadavg()[0], time.perf_counter()
        compared = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(compared.pid, 0)
        wall_s = time.perf_counter() - started
        compared.returncode = os.waitstatus_to_exitcode(status)
        if compared.returncode:
            raise subprocess.CalledProcessError(compared.returncode, command)
        events = pq.read_table(folder / "out" / NEW / "events.parquet").to_pylist()
        told = [event for event in events if event["asn"] == asn and "silent" in event["kind"]]
        row = {
            "n_traces": given.traces,
            "n_ases": n_ases,
            "n_nodes": n_nodes,
            "wall_s": round(wall_s, 1),
            "cpu_s": round(used.ru_utime + used.ru_stime, 1),
            "peak_rss_mib": round(used.ru_maxrss / 1024),
            "n_events": len(events),
            "events": [event["text"] for event in events[:3]],
            "silent_as_told": bool(told),
            "load": round(load, 1),
        }
        record("compare", [row], folder=None)


if __name__ == "__main__":
    main()
