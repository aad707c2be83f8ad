"""Ten million traces to a snapshot on two cores: time, and memory as it grows with traces.

Command: python benchmarks/bench_ten_million.py [--traces N,N,...] [--workers 2] [--files 20]
    [--tables all]
Writes benchmarks/results/ten_million.json, a row for each number of traces. The traces are those of
``synthetic.traces`` (gzipped warts); writing them is not timed. What is timed is ``ingest``, in a
process of its own that is held to ``--workers`` cores: imports, reading, election, graphs, store.
Kernels were compiled before, by ingesting a few traces. With ``--tables all`` ingest is also given
relationships and the true alias sets of all routers; traces take shortest paths, so the former do
not fit them, which is the dearest case.

Memory is the largest sum, sampled every 0.2 s, of the proportional set sizes (Pss: pages that
several processes share count once) of that process and all its children. Pages of spool files that
the system keeps in its own cache are not part of it; how large these files got is given apart.
``step_s`` and ``step_cpu_s`` are the parts of ``infer``: wall time, and processor time of all its
threads. ``read_cpu_s`` is what reading one of the files takes in this process, on one core, divided
into decoding and spooling, times the number of files. ``load_before`` is the load of the machine
(1 minute) when the ingest began: on a busy machine look at processor time.
Each row has passed a check: all traces and replies that were written, nothing rejected.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.record import record
from benchmarks.synthetic.internet import make_internet, write_as_rel, write_nodes
from benchmarks.synthetic.traces import Written, write_traces
from pipeline.model.choices import BORDERS, ROUTERS

SAMPLE_S = 0.2
TABLES = ("prefixes", "all")
AS_REL, NODES = "as-rel.txt", "aliases.nodes"


# What the steps of infer_topology call, by the name of the part that its time is noted for.
STEPS = {
    "merge addresses": ("merge_addresses",),
    "number addresses": ("Spools",),
    "destinations": ("mates_of", "find_routers"),
    "prefixes": ("find_holders", "number_unannounced"),
    "exchange points": ("find_exchange_lans", "name_lans"),
    "gateways": ("find_gateways",),
    "groups": ("group_interfaces", "trust_groups"),
    "election": ("elect_owners", "locate_private", "follow_private_links"),
    "inferred routers": ("merge_interfaces",),
    "silent routers": ("find_silent",),
    "links of nodes": ("join_links",),
    "confidence": ("rate",),
}
# Passes over the traces, in their order; the second one is for elected borders.
PASSES = ("links", "distinct paths, aims, dead ends", "RTT, ingresses, paths")


def time_steps(borders: str) -> dict[str, list[float]]:
    """Make infer_topology note the wall and processor time of each step, from now on."""
    from pipeline.infer import conclude, drawn, evidence, gathering, owned, topology
    from pipeline.infer.traces.passes import Spools

    spent = {step: [0.0, 0.0] for step in (*STEPS, *PASSES)}
    read, left = Spools.read, list(PASSES if borders == "elected" else PASSES[::2])

    def pass_of(*arguments: Any) -> Any:
        return noting(read, spent[left.pop(0)])(*arguments)

    Spools.read = pass_of  # type: ignore[method-assign]

    def noting(call: Callable[..., Any], times: list[float]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            wall, cpu = time.perf_counter(), time.process_time()
            try:
                return call(*arguments, **named)
            finally:
                times[0] += time.perf_counter() - wall
                times[1] += time.process_time() - cpu

        return timed

    for step, names in STEPS.items():
        for name in names:
            for module in (topology, evidence, gathering, owned, conclude, drawn):
                if call := getattr(module, name, None):
                    setattr(module, name, noting(call, spent[step]))
    return spent


def read_one(path: Path, scratch: Path) -> dict[str, float]:
    """Processor time of reading one file in this process: opening and decoding, spooling."""
    from pipeline.infer import Observer
    from pipeline.ingest import open_reader
    from pipeline.model.measured.reading import ReadReport

    spool_s, started = 0.0, time.process_time()
    observer = Observer(scratch)
    for batch in open_reader(path, ReadReport(str(path)))[1]:
        before = time.process_time()
        observer.add(batch)  # type: ignore[arg-type]
        spool_s += time.process_time() - before
    before = time.process_time()
    observer.close()
    ended = time.process_time()
    spool_s += ended - before
    return {"decode": ended - started - spool_s, "spool": spool_s}


def ingest_here(
    folder: Path, store: Path, borders: str, routers: str, tables: str, workers: int
) -> dict[str, Any]:
    """Ingest the files of a folder in this process; seconds of each stage, and what came out."""
    started = time.perf_counter()
    load = os.getloadavg()[0]
    from pipeline.config import IngestConfig
    from pipeline.model.progress import Progress
    from pipeline.stages.ingest import ingest
    from pipeline.store import open_snapshot

    began = {"import": started}

    def progress(now: Progress) -> None:
        began.setdefault(now.stage, time.perf_counter())

    config = IngestConfig(
        inputs=tuple(sorted(folder.glob("*.warts.gz"))),
        store=store,
        ip2as=(folder / "prefixes.pfx2as",),
        as_rel=folder / AS_REL if tables == "all" else None,
        aliases=folder / NODES if tables == "all" else None,
        borders=borders,  # type: ignore[arg-type]
        routers=routers,  # type: ignore[arg-type]
        workers=workers,
    )
    spent = time_steps(borders)
    began["prepare"] = time.perf_counter()
    summary = ingest(config, progress)
    ends = [*list(began.values())[1:], time.perf_counter()]
    failed = [report.error for report in summary.reports if report.status != "ok"]
    if failed:
        raise SystemExit(f"not read to its end: {failed[0]}")
    if any(report.rejected for report in summary.reports):
        raise SystemExit("traces were rejected")
    counts = open_snapshot(store).manifest["counts"]
    return {
        "stage_s": {
            name: round(end - start, 2)
            for (name, start), end in zip(began.items(), ends, strict=True)
        },
        "step_s": {step: round(wall, 2) for step, (wall, _) in spent.items()},
        "step_cpu_s": {step: round(cpu, 2) for step, (_, cpu) in spent.items()},
        "cpu_s": round(sum(os.times()[:4]), 1),
        "load_before": round(load, 1),
        "n_traces": summary.n_traces,
        "n_replies": sum(r.n_hops for r in summary.reports if r.format == "warts"),
        "n_addresses": counts["addresses"],
        "n_links": counts["links"],
        "n_nodes": summary.n_nodes,
        "n_edges": summary.n_edges,
        "n_ases": summary.n_ases,
        "n_ingresses": summary.n_ingresses,
    }


def tree(root: int) -> list[int]:
    """A process and all its descendants."""
    children = defaultdict(list)
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            children[int(stat.rpartition(")")[2].split()[1])].append(int(entry))
    found = [root]
    for pid in found:
        found += children[pid]
    return found


def memory_kib(pids: list[int]) -> tuple[int, int]:
    """Sum of proportional and of resident set sizes."""
    pss = rss = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:  # it has just ended
            continue
        for line in lines:
            if line.startswith("Pss:"):
                pss += int(line.split()[1])
            elif line.startswith("Rss:"):
                rss += int(line.split()[1])
    return pss, rss


def stored_bytes(folder: Path) -> int:
    """Bytes of the files below a folder that changes in the meantime."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(where, name)).st_size
            except OSError:
                continue
    return total


def watch(command: list[str], store: Path) -> tuple[str, dict[str, float]]:
    """Run a command to its end; what it printed, its wall time and its peaks."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        peaks = {"peak_pss_mib": 0.0, "peak_rss_mib": 0.0, "peak_scratch_mib": 0.0}
        peak_at = 0.0
        while process.poll() is None:
            pss, rss = memory_kib(tree(process.pid))
            now = (pss / 1024, rss / 1024, stored_bytes(store) / 2**20)
            if now[0] > peaks["peak_pss_mib"]:
                peak_at = time.perf_counter() - started
            for name, value in zip(peaks, now, strict=True):
                peaks[name] = max(peaks[name], value)
            time.sleep(SAMPLE_S)
        wall_s = time.perf_counter() - started
        assert process.stdout is not None  # PIPE was given
        text = process.stdout.read()
    if process.returncode != 0:
        raise SystemExit(f"ingest ended with {process.returncode}")
    rounded = {name: round(value) for name, value in peaks.items()}
    return text, {"wall_s": round(wall_s, 1), **rounded, "peak_at_s": round(peak_at, 1)}


def measure(
    folder: Path, written: Written, borders: str, routers: str, tables: str, workers: int, **size
) -> dict[str, Any]:
    """Ingest a written measurement in a fresh process."""
    if tables == "all":
        internet = make_internet(**size)
        write_as_rel(internet, folder / AS_REL)
        write_nodes(internet, folder / NODES)
    with tempfile.TemporaryDirectory(dir=folder) as store:
        options = [borders, routers, tables, str(workers)]
        command = [sys.executable, __file__, "--ingest", str(folder), store, *options]
        text, measured = watch(command, Path(store))
    result = json.loads(text.splitlines()[-1])
    if (result["n_traces"], result["n_replies"]) != (written.n_traces, written.n_replies):
        raise SystemExit(
            f"written were {written.n_traces} traces, {written.n_replies} replies; "
            f"read {result['n_traces']} and {result['n_replies']}"
        )
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        read = read_one(written.paths[0], Path(scratch))
    n_files = len(written.paths)
    return {
        "n_traces": written.n_traces,
        "n_replies": written.n_replies,
        "n_files": n_files,
        "stored_mib": round(written.n_stored / 2**20),
        "borders": borders,
        "routers": routers,
        "tables": tables,
        "workers": workers,
        "read_cpu_s": {part: round(n_files * cpu_s, 1) for part, cpu_s in read.items()},
        **measured,
        "traces_per_s": round(written.n_traces / measured["wall_s"]),
        **{name: value for name, value in result.items() if name not in ("n_traces", "n_replies")},
    }


def main() -> None:
    if sys.argv[1:2] == ["--ingest"]:
        folder, store, borders, routers, tables, workers = sys.argv[2:]
        cores = sorted(os.sched_getaffinity(0))[: int(workers)]
        os.sched_setaffinity(0, cores)
        options = borders, routers, tables, int(workers)
        print(json.dumps(ingest_here(Path(folder), Path(store), *options)))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--traces", default="1000000,10000000", help="numbers of traces, comma-separated"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--ases", type=int, default=300)
    parser.add_argument("--routers-per-as", type=int, default=1000)
    parser.add_argument("--borders", choices=BORDERS, default="elected")
    parser.add_argument("--routers", choices=ROUTERS, default="inferred")
    parser.add_argument("--tables", choices=TABLES, default="prefixes")
    parser.add_argument(
        "--folder", type=Path, help="folder for traces (10 million: 4 GB, scratch included)"
    )
    parser.add_argument("--name", default="ten_million", help="name of the results file")
    arguments = parser.parse_args()
    rows = []
    options = arguments.borders, arguments.routers, arguments.tables, arguments.workers
    size = {"n_ases": arguments.ases, "routers_per_as": arguments.routers_per_as}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        small = {"n_ases": 10, "routers_per_as": 100}
        few = write_traces(Path(folder), 2_000, 2, **small, processes=1)
        measure(Path(folder), few, *options, **small)
    for n_traces in map(int, arguments.traces.split(",")):
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            started = time.perf_counter()
            written = write_traces(Path(folder), n_traces, arguments.files, **size)
            write_s = round(time.perf_counter() - started, 1)
            print(f"{n_traces} traces written in {write_s} s", file=sys.stderr, flush=True)
            row = measure(Path(folder), written, *options, **size)
            rows.append(row | {"write_s": write_s})
    record(arguments.name, rows, **size)


if __name__ == "__main__":
    main()
