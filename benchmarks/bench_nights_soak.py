"""Many nights in a row on one cluster: what grows, what is lost, whether each night is exact.

Command: python benchmarks/bench_nights_soak.py [--nights N] [--keep N] [--sampled N] [--device D]
Writes benchmarks/results/nights_soak_<cores>_cores.json. One scheduler and one worker run from the
first night to the last, and one client process (this one), which for each night ingests traces of a
small synthetic Internet, analyzes them (on ``--device``), compares with the night before, and
removes nights older than the last ``--keep``. Each night other links of the Internet are cut, drawn
by seed; one night in ten is like the one before.

After each night: memory (unique set size, what would be free if the process ended), open files and
threads of client, scheduler and worker; what the worker holds on a GPU; disk space and files of
store, reports and temporary files (hard links count once). A row for each figure: the median of the
first nights after ``n_warm`` in ``first``, that of the last nights in ``last``, ``growth`` between
the two, and every ``n_nights / 20``-th value. ``flat``: it grew by at most 10 %, or by less than
what a process or a disk gives away at once (``SLACK``).

Sampled nights are made again by commands of their own, ``hopscope run --full`` on cores in a new
store, and tables must agree, without a GPU also pages. Exit status 1: a figure grew, a worker was
lost, or a file differs.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.lib.footprint import gpu_bytes, observe
from benchmarks.lib.record import record
from benchmarks.synthetic.internet import Internet, make_internet, write_pfx2as
from benchmarks.synthetic.traces import Vantages
from kernels import CSRGraph, components
from pipeline.config import AnalyzeConfig, IngestConfig
from pipeline.stages.analyze import analyze
from pipeline.stages.compare import compare_with_night_before
from pipeline.stages.ingest import ingest

REPOSITORY = Path(__file__).resolve().parents[1]
FIRST_NIGHT = datetime.date(2026, 1, 1)
MAX_GROWTH = 0.10
# Steps smaller than these say nothing: an arena of the allocator, a connection that is closing.
SLACK = {"mb": 8.0, "fds": 2, "threads": 2, "files": 4}
QUIET = 10  # one night in this many is like the one before
N_CUT = 3  # links of the others
OF_RUNS = ["device", "n_tasks", "n_retries", "wall_s", "n_reused", "reused_from"]
# Of several longest paths any may be found; bounds tighten in the order of answers.
OF_DEVICES = [
    f"{prefix}{name}"
    for prefix in ("", "weighted_")
    for name in ("n_width_searches", "diameter_path", "diameter_path_addrs", "diameter_path_at")
]
# How often the same came and went on the nights before, and that it is then said to flap.
OF_NIGHTS = {"events.parquet": ["n_turns", "kind", "text"]}
NOT_COMPARED = {"tasks.parquet"}  # what ran where and when
START_S = 60.0
# Dask forgets the events of a client an hour after it left: here nights take seconds.
FORGET = {"DASK_DISTRIBUTED__SCHEDULER__EVENTS_CLEANUP_DELAY": "1s"}


@dataclass(frozen=True)
class Places:
    """Folders of a soak."""

    root: Path

    @property
    def store(self) -> Path:
        return self.root / "store"

    @property
    def out(self) -> Path:
        return self.root / "out"

    @property
    def scratch(self) -> Path:
        return self.root / "scratch"

    @property
    def inputs(self) -> Path:
        return self.root / "inputs"

    @property
    def prefixes(self) -> Path:
        return self.inputs / "prefixes.pfx2as"

    @property
    def watched(self) -> dict[str, Path]:
        """The folders that nights must not fill, by name."""
        return {"store": self.store, "out": self.out, "scratch": self.scratch}


def night_name(number: int) -> str:
    """The date of a night, counted from 0."""
    return str(FIRST_NIGHT + datetime.timedelta(days=number))


def without_links(internet: Internet, arcs: np.ndarray) -> Internet:
    """The same routers and addresses, without some links, given by one of their arcs each."""
    tails = np.repeat(np.arange(internet.n_routers), np.diff(internet.indptr))
    network = internet.addr // 4
    kept = ~np.isin(network, network[arcs])  # a link is a /30
    degree = np.bincount(tails[kept], minlength=internet.n_routers)
    return replace(
        internet,
        indptr=np.append(0, np.cumsum(degree)).astype(np.int64),
        head=internet.head[kept],
        addr=internet.addr[kept],
        delay_us=internet.delay_us[kept],
    )


def of_night(internet: Internet, seed: int, number: int) -> Internet:
    """The Internet of a night: some links are cut, and every router can be reached."""
    drawn = number - 1 if number % QUIET == QUIET - 1 else number
    rng = np.random.default_rng([seed, drawn])
    while True:
        cut = without_links(internet, rng.integers(0, len(internet.head), N_CUT))
        if _is_connected(cut):
            return cut


def _is_connected(internet: Internet) -> bool:
    n = internet.n_routers
    tail = np.repeat(np.arange(n), np.diff(internet.indptr))
    tail, head = np.divmod(np.unique(tail * n + internet.head), n)  # two may have several links
    indptr = np.append(0, np.cumsum(np.bincount(tail, minlength=n)))
    return components(CSRGraph(indptr, head.astype(np.int32))).n_components == 1


def write_night(internet: Internet, places: Places, given: argparse.Namespace, number: int) -> Path:
    """Traces of a night in a file; files of all but the night before are removed."""
    path = places.inputs / f"{night_name(number)}.warts.gz"
    vantages = Vantages(of_night(internet, given.seed, number), given.vantages)
    vantages.write(path, np.arange(given.traces, dtype=np.int64), given.traces)
    (places.inputs / f"{night_name(number - 2)}.warts.gz").unlink(missing_ok=True)
    return path


@contextlib.contextmanager
def cluster(places: Places) -> Iterator[tuple[str, dict[str, psutil.Process]]]:
    """Scheduler and worker as processes of their own: the address, and both by name."""
    started: dict[str, psutil.Process] = {}
    address_file = places.scratch / "scheduler.json"
    common = ["--scheduler-file", str(address_file), "--dashboard-address", "127.0.0.1:0"]
    local = ["--nthreads", "1", "--no-nanny", "--local-directory", str(places.scratch)]
    words = {
        "scheduler": ["scheduler", "--host", "127.0.0.1", "--port", "0", *common],
        "worker": ["worker", "--host", "127.0.0.1", *common, *local],
    }
    try:
        for name, more in words.items():
            with (places.root / f"{name}.log").open("wb") as log:
                started[name] = psutil.Popen(
                    [sys.executable, "-m", "dask", *more],
                    cwd=REPOSITORY,
                    env=os.environ | FORGET,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            _wait_for(address_file)
        yield json.loads(address_file.read_text())["address"], started
    finally:
        for process in reversed(started.values()):
            process.terminate()
            process.wait(START_S)


def _wait_for(path: Path) -> None:
    """Wait until the scheduler has written its file, which is empty at first."""
    until = time.monotonic() + START_S
    while not (path.exists() and path.read_bytes().rstrip().endswith(b"}")):
        if time.monotonic() > until:
            raise TimeoutError(f"the scheduler did not start within {START_S:.0f} s")
        time.sleep(0.1)


def run_nights(
    internet: Internet, places: Places, given: argparse.Namespace
) -> tuple[list[dict[str, float]], dict[str, int]]:
    """All nights on one cluster: figures after each, and counts of the whole soak."""
    rows, totals = [], {"n_lost_workers": 0, "n_sampled": 0, "n_files_equal": 0}
    sampled = set(np.linspace(given.nights - 1, 1, given.sampled).astype(int).tolist())
    with cluster(places) as (address, started):
        processes = {"client": psutil.Process()} | started
        for number in range(given.nights):
            if number % 10 == 0 or given.nights < 20:
                print(f"night {number} of {given.nights}", file=sys.stderr, flush=True)
            traces = write_night(internet, places, given, number)
            row = one_night(traces, address, places, given, number)
            totals["n_lost_workers"] += int(row.pop("n_lost_workers"))
            row |= observe(processes, places.watched)
            if given.device == "gpu":
                row["worker_gpu_mb"] = gpu_bytes().get(started["worker"].pid, 0) / 1e6
            rows.append(row)
            dead = [name for name, process in started.items() if not process.is_running()]
            if dead:
                raise RuntimeError(f"{dead[0]} ended in night {number}: see {places.root}/*.log")
            if number in sampled:
                totals["n_files_equal"] += check_night(places, given, number)
                totals["n_sampled"] += 1
    return rows, totals


def one_night(
    traces: Path, address: str, places: Places, given: argparse.Namespace, number: int
) -> dict[str, float]:
    """Ingest, analyze, compare and remove old nights, as the nightly run does."""
    name, began = night_name(number), time.perf_counter()
    ingested = ingest(
        IngestConfig((traces,), places.store, snapshot=name, ip2as=(places.prefixes,), workers=1)
    )
    if not ingested.complete:
        raise RuntimeError(f"night {number}: {ingested.warnings[0]}")
    summary = analyze(
        AnalyzeConfig(
            store=places.store,
            out=places.out,
            snapshot=name,
            metrics=tuple(given.metrics.split(",")),
            device=given.device,
            scheduler=address,
            keep_nights=given.keep,
        )
    )
    if not summary.complete:
        raise RuntimeError(f"night {number}: {len(summary.failed)} ASes failed")
    compared = compare_with_night_before(places.store, places.out, name).summary
    return {
        "wall_s": time.perf_counter() - began,
        "n_searches": summary.n_searches,
        "n_searches_reused": summary.reused["n_searches"],
        "n_events": 0 if compared is None else compared.n_events,
        "n_lost_workers": len(summary.cluster.get("lost_workers", [])),
    }


def check_night(places: Places, given: argparse.Namespace, number: int) -> int:
    """Make a night and the one before it again, with commands; files that agree.

    Raises
    ------
    AssertionError
        If a file differs.
    """
    with tempfile.TemporaryDirectory(dir=places.root, prefix="fresh-") as folder:
        fresh = Places(Path(folder))
        old, new = night_name(number - 1), night_name(number)
        common = ["--store", fresh.store, "--out", fresh.out]
        for name in (old, new):
            words = ["run", places.inputs / f"{name}.warts.gz", "--snapshot", name, *common]
            words += ["--ip2as", places.prefixes, "--metrics", given.metrics, "--full"]
            _command(*words, "--device", "cpu", "--workers", "1")
        _command("compare", old, new, *common)
        return compare_reports(places.out / new, fresh.out / new, given.device == "cpu")


def _command(*words: object) -> None:
    command = [sys.executable, "-m", "pipeline.cli", *map(str, words)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"hopscope {words[0]} ended with {done.returncode}: {done.stderr}")


def compare_reports(one: Path, other: Path, same_device: bool = True) -> int:
    """Compare all tables and pages of two reports of a night; files that agree.

    Reports of different devices: tables alone, without ``OF_DEVICES``, which pages show.

    Raises
    ------
    AssertionError
        If a file differs, or only one report has it.
    """
    names = [_compared(folder, same_device) for folder in (one, other)]
    marks = OF_RUNS if same_device else [*OF_RUNS, *OF_DEVICES]
    if names[0] != names[1]:
        raise AssertionError(f"not the same files: {sorted(names[0] ^ names[1])[:3]}")
    for name in sorted(names[0]):
        if name.endswith(".parquet"):
            tables = [pq.read_table(folder / name) for folder in (one, other)]
            apart = (*marks, *OF_NIGHTS.get(name, ()))
            tables = [t.drop_columns([c for c in apart if c in t.column_names]) for t in tables]
            found = _columns_that_differ(*tables)
        else:
            same = (one / name).read_bytes() == (other / name).read_bytes()
            found = [] if same else ["its bytes"]
        if found:
            what = f"{name} differs from that of a run by itself: {', '.join(found)}"
            raise AssertionError(f"{one.name}: {what}")
    return len(names[0])


def _columns_that_differ(one: pa.Table, other: pa.Table) -> list[str]:
    if one.schema.names != other.schema.names:
        return ["its columns"]
    return [name for name in one.column_names if not one[name].equals(other[name])]


def _compared(folder: Path, with_pages: bool) -> set[str]:
    found = list(folder.rglob("*.parquet"))
    found += [path for path in folder.glob("as/*") if with_pages]
    return {str(path.relative_to(folder)) for path in found} - NOT_COMPARED


def judge(
    rows: Sequence[Mapping[str, float]], n_warm: int, slacks: Mapping[str, float] = SLACK
) -> list[dict]:
    """A row for each figure: what it was at first and at last, and whether it is flat.

    Parameters
    ----------
    rows : sequence of mappings
        Figures after each night.
    n_warm : int
        Nights that fill caches and the store, which are not compared.
    slacks : mapping of str to float
        By the unit of a figure: smaller steps say nothing.
    """
    span = max(1, (len(rows) - n_warm) // 5)
    every = max(1, len(rows) // 20)
    found = []
    for figure in rows[0]:
        values = [row[figure] for row in rows]
        first = statistics.median(values[n_warm : n_warm + span])
        last = statistics.median(values[-span:])
        slack = slacks.get(figure.rpartition("_")[2])
        row = {"figure": figure, "first": round(first, 2), "last": round(last, 2)}
        row |= {"largest": round(max(values), 2)}
        if slack is not None:
            row["growth"] = round(last / first - 1, 4) if first else 0.0
            row["flat"] = last - first <= max(MAX_GROWTH * first, slack)
        found.append(row | {"values": " ".join(f"{value:.4g}" for value in values[::every])})
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--nights", type=int, default=200)
    parser.add_argument("--keep", type=int, default=7, help="nights that stay in store and reports")
    parser.add_argument("--sampled", type=int, default=8, help="nights that are made again")
    parser.add_argument("--ases", type=int, default=12)
    parser.add_argument("--routers", type=int, default=40, help="of an AS, on average")
    parser.add_argument("--vantages", type=int, default=8)
    parser.add_argument("--traces", type=int, default=6_000, help="of a night")
    parser.add_argument("--metrics", default="hops,diameter")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu", help="of searches")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where store and reports are kept")
    parser.add_argument("--name", help="name of the results file")
    parser.add_argument("--results", type=Path, help="folder of the results file")
    given = parser.parse_args(arguments)
    n_warm = max(given.keep + 1, given.nights // 10)
    if given.nights < n_warm + 2:
        fewest = f"give at least {n_warm + 2} with --keep {given.keep}"
        parser.error(f"--nights {given.nights}: {fewest}")
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="hopscope-soak-") as made:
        places = Places(given.folder or Path(made))
        for folder in (places.inputs, places.scratch):
            folder.mkdir(parents=True, exist_ok=True)
        # What any process leaves among temporary files is counted.
        os.environ["TMPDIR"] = tempfile.tempdir = str(places.scratch)
        try:
            internet = make_internet(given.ases, given.routers, given.seed)
            write_pfx2as(internet, places.prefixes)
            nights, totals = run_nights(internet, places, given)
        finally:
            del os.environ["TMPDIR"]
            tempfile.tempdir = None
    rows = judge(nights, n_warm)
    grown = [row["figure"] for row in rows if row.get("flat") is False]
    record(
        given.name or f"nights_soak_{len(os.sched_getaffinity(0))}_cores",
        rows,
        folder=given.results,
        n_nights=given.nights,
        n_warm=n_warm,
        keep_nights=given.keep,
        wall_s=round(time.perf_counter() - began, 1),
        grown=grown,
        **totals,
    )
    return 1 if grown or totals["n_lost_workers"] else 0


if __name__ == "__main__":
    sys.exit(main())
