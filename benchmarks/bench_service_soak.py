"""Many nights of ``hopscope serve``, started by new data, some killed: what grows, what is lost.

Command: python benchmarks/bench_service_soak.py [--nights N] [--minutes M] [--kills N]
[--kills-within N] [--keep N]
Writes benchmarks/results/service_soak_<cores>_cores.json. One ``hopscope serve`` with a Prefect
server and a worker runs from the first night to the last. For each night traces of a small
synthetic Internet (those of bench_nights_soak.py: other links are cut each night) are put into the
folder that it watches, which starts a nightly run: ingest, analyze, compare, notices to a program,
old nights removed. In some nights, drawn by seed (among the first N of ``--kills-within``), one of
the run, the worker, the server or ``serve`` is killed at a random moment; then a run is started by
hand until the night has its report, as docs/nightly.md says. A ``serve`` that is gone is started
again, as a service would be.

After each night: memory (unique set size), open files and threads of serve, server and worker;
space and files of store, reports and temporary files, as in bench_nights_soak.py. Prefect's
database keeps a history, and is not judged: ``prefect_kb_a_night`` says how much.

Exit status 1: a figure grew, a night has no report, or was not compared with the one before it, or
something is left over (``faults`` says what).
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import psutil

from benchmarks.bench_nights_soak import REPOSITORY, Places, judge, night_name, write_night
from benchmarks.lib.footprint import observe, space
from benchmarks.lib.record import record
from benchmarks.synthetic.internet import make_internet, write_pfx2as

HOST = "127.0.0.1"
READY_S, NIGHT_S, ANSWER_S, BEGIN_S, LOOK_S = 300.0, 600.0, 120.0, 20.0, 0.5
MIN_JUDGED = 50  # nights: of fewer the medians of the first and the last ones are those of a few
# Connections of the server to its database come and go, ten and more files at once.
SLACK = {"mb": 16.0, "fds": 16, "threads": 4, "files": 8}
KILLED = ("run", "worker", "server", "serve")
# How to find each among the processes below serve: words of its command line.
WORDS = {
    "run": ("prefect.engine",),
    "worker": ("-m", "prefect", "worker"),
    "server": ("flows.processes.local_server",),
}
IN_PROGRESS = ["PENDING", "RUNNING", "CANCELLING", "SCHEDULED"]
PROGRAM = '#!/bin/sh\ncp "$1" "{folder}/$(date +%s%N).json"\n'


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


class Service:
    """``hopscope serve`` on some folders, and what its API says."""

    def __init__(self, places: Places, given: argparse.Namespace):
        self._places = places
        self.ports = free_port(), free_port()
        self.home = places.root / "prefect"
        self.notices = places.root / "notices"
        self.log = places.root / "serve.log"
        self.arriving = places.root / "arriving"
        self.n_starts = 0
        self.process: psutil.Popen | None = None
        for folder in (self.notices, self.arriving):
            folder.mkdir()
        program = places.root / "tell.sh"
        program.write_text(PROGRAM.format(folder=self.notices))
        program.chmod(0o755)
        plain = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "HOPSCOPE_"))}
        self._environment = plain | {
            "PREFECT_HOME": str(self.home),
            "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
            "PYTHONPATH": os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")]),
            "TMPDIR": str(places.scratch),
            "HOPSCOPE_INPUTS": str(self.arriving),
            "HOPSCOPE_IP2AS": str(places.prefixes),
            "HOPSCOPE_METRICS": given.metrics,
            "HOPSCOPE_DEVICE": "cpu",
            "HOPSCOPE_WORKERS": "1",
            "HOPSCOPE_KEEP_NIGHTS": str(given.keep),
            "HOPSCOPE_MAX_DATA_AGE": "1000000",
            "HOPSCOPE_NOTIFY_COMMAND": str(program),
        }

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        self.n_starts += 1
        reports, prefect = self.ports
        words = ["--store", str(self._places.store), "--out", str(self._places.out)]
        words += ["--port", str(reports), "--prefect-port", str(prefect)]
        words += ["--watch", str(self.arriving), "--watch-settle", "1"]
        with self.log.open("ab") as log:
            begin = log.tell()
            self.process = psutil.Popen(
                [sys.executable, "-m", "flows.serve", *words],
                cwd=self._places.root,
                env=self._environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

        def is_ready() -> bool:
            with self.log.open("rb") as log:
                log.seek(begin)
                return b"Stop with Ctrl-C" in log.read()

        self.until(is_ready, READY_S, "serve is not ready", keep=False)

    def stop(self) -> None:
        if self.process is not None and self.process.is_running():
            self.process.terminate()
            self.process.wait(READY_S)

    def until(
        self, is_so: Callable[[], object], limit_s: float, fault: str, *, keep: bool = True
    ) -> None:
        """Wait; a ``serve`` that is gone is started again where it is to be kept."""
        end = time.monotonic() + limit_s
        while True:
            with contextlib.suppress(OSError, urllib.error.URLError):
                if is_so():
                    return
            if time.monotonic() > end:
                raise TimeoutError(f"{fault} after {limit_s:.0f} s: see {self._places.root}")
            if self.process is not None and self.process.poll() is not None:
                if not keep:
                    raise RuntimeError(f"serve ended: see {self.log}")
                self.start()
            time.sleep(LOOK_S)

    def api(self, path: str, body: dict | None = None, method: str = "POST") -> Any:
        """The answer; a server that is away or busy is asked again, as its clients do."""
        end = time.monotonic() + ANSWER_S
        while True:
            try:
                return self._answer(path, body, method)
            except OSError:
                if time.monotonic() > end:
                    raise
            if self.process is not None and self.process.poll() is not None:
                self.start()
            time.sleep(LOOK_S)

    def _answer(self, path: str, body: dict | None, method: str) -> Any:
        url = f"http://{HOST}:{self.ports[1]}/api{path}"
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(url, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def deployment(self) -> str:
        return str(self.api("/deployments/name/nightly/nightly", None, "GET")["id"])

    def in_progress(self) -> int:
        """Nightly runs that wait for the worker, begin or work now, without planned ones."""
        wanted = {"state": {"type": {"any_": IN_PROGRESS}}}
        runs = self.api("/flow_runs/filter", {"flow_runs": wanted})
        return sum(not run["auto_scheduled"] for run in runs)

    def process_of(self, name: str) -> psutil.Process | None:
        """serve itself, or the largest process of a kind below it: others only wait for its end."""
        if self.process is None or name == "serve":
            return self.process
        found: dict[int, psutil.Process] = {}
        with contextlib.suppress(psutil.Error):
            for child in self.process.children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    words = child.cmdline()
                    if all(word in words for word in WORDS[name]):
                        found[child.memory_info().rss] = child
        return found[max(found)] if found else None


def one_night(
    service: Service, traces: Path, name: str, report: Path, kill: tuple[str, float] | None
) -> int:
    """New data, a run, perhaps a kill: until the night has its report; how often it was killed."""
    service.until(lambda: service.in_progress() == 0, NIGHT_S, "a run does not end")
    deployment = service.deployment()
    service.api(f"/deployments/{deployment}", {"parameters": {"snapshot": name}}, "PATCH")
    for old in service.arriving.iterdir():
        old.unlink()
    coming = service.arriving / ".coming"
    coming.write_bytes(traces.read_bytes())
    coming.rename(service.arriving / traces.name)
    service.until(service.in_progress, NIGHT_S, f"no run of {name} begins")
    n_killed = 0
    if kill is not None:
        what, moment_s = kill
        time.sleep(moment_s)
        end = time.monotonic() + BEGIN_S
        while (victim := service.process_of(what)) is None and time.monotonic() < end:
            time.sleep(0.05)
        if victim is not None:
            with contextlib.suppress(psutil.Error):
                victim.send_signal(signal.SIGKILL)
                n_killed = 1
                if what == "serve":
                    victim.wait(READY_S)
    is_done = (report / "index.html").is_file

    def is_made() -> bool:
        if service.in_progress():
            return False
        if is_done():
            return True
        service.api(f"/deployments/{deployment}/create_flow_run", {"state": {"type": "SCHEDULED"}})
        return False

    service.until(is_made, NIGHT_S, f"{name} has no report")
    return n_killed


def faults_of(places: Places, service: Service, nights: int, keep: int) -> list[str]:
    """What is missing or left over at the end."""
    from pipeline.report.compared import compared_in
    from pipeline.stages.doctor import examine
    from pipeline.store import snapshot_names

    kept = [night_name(number) for number in range(max(0, nights - keep), nights)]
    found = []
    if sorted(snapshot_names(places.store)) != kept:
        found.append(f"snapshots are {snapshot_names(places.store)}, not {kept}")
    for before, name in itertools.pairwise(kept):
        if (old := compared_in(places.out / name).old) != before:
            found.append(f"{name} was compared with {old!r}, not with {before}")
    found += [f"{each.subject}: {each.text}" for each in examine(places.store) if not each.ok]
    if left := [path.name for path in places.out.glob(".measured*")]:
        found.append(f"left among reports: {left[:3]}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--nights", type=int, default=200)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--kills-within", type=int, help="of the first nights; default: of all")
    parser.add_argument("--keep", type=int, default=7, help="nights that stay in store and reports")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="after which no other night begins"
    )
    parser.add_argument("--ases", type=int, default=12)
    parser.add_argument("--routers", type=int, default=40, help="of an AS, on average")
    parser.add_argument("--vantages", type=int, default=8)
    parser.add_argument("--traces", type=int, default=6_000, help="of a night")
    parser.add_argument("--metrics", default="hops,diameter")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where store and reports are kept")
    parser.add_argument("--name", help="name of the results file")
    parser.add_argument("--results", type=Path, help="folder of the results file")
    given = parser.parse_args(arguments)
    n_within = min(given.nights, given.kills_within or given.nights)
    if given.kills > n_within:
        parser.error(f"--kills {given.kills}: one a night at most, of {n_within}")
    draw = random.Random(given.seed)
    killed = sorted(draw.sample(range(n_within), given.kills))
    kills = {
        night: (KILLED[i % len(KILLED)], draw.uniform(0.2, 8.0)) for i, night in enumerate(killed)
    }
    began = time.perf_counter()
    rows: list[dict[str, float]] = []
    history_kb: list[float] = []
    n_killed = 0
    with tempfile.TemporaryDirectory(prefix="hs-") as made:  # sockets lie below it
        places = Places(given.folder or Path(made))
        for folder in (places.inputs, places.scratch):
            folder.mkdir(parents=True, exist_ok=True)
        internet = make_internet(given.ases, given.routers, given.seed)
        write_pfx2as(internet, places.prefixes)
        service = Service(places, given)
        try:
            service.start()
            for number in range(given.nights):
                if rows and time.perf_counter() - began > 60 * given.minutes:
                    break
                name, since = night_name(number), time.perf_counter()
                print(f"night {number} of {given.nights}", file=sys.stderr, flush=True)
                traces = write_night(internet, places, given, number)
                n_killed += one_night(service, traces, name, places.out / name, kills.get(number))
                for each in ("server", "worker"):
                    service.until(lambda each=each: service.process_of(each), READY_S, each)
                there = {each: service.process_of(each) for each in ("serve", "server", "worker")}
                processes = {each: found for each, found in there.items() if found is not None}
                row = {"wall_s": time.perf_counter() - since}
                rows.append(row | observe(processes, places.watched))
                history_kb.append(space(service.home)[0] / 1e3)
            faults = faults_of(places, service, len(rows), given.keep)
        finally:
            service.stop()
        n_nights = len(rows)
        prefect_kb = (history_kb[-1] - history_kb[0]) / max(n_nights - 1, 1)
        n_notices = len(list(service.notices.iterdir()))
    n_warm = min(max(given.keep + 1, n_nights // 10), max(n_nights - 2, 0))
    judged = judge(rows, n_warm, SLACK)
    is_long = n_nights >= MIN_JUDGED
    grown = [row["figure"] for row in judged if row.get("flat") is False] if is_long else []
    record(
        given.name or f"service_soak_{len(os.sched_getaffinity(0))}_cores",
        judged,
        folder=given.results,
        n_nights=n_nights,
        n_nights_asked=given.nights,
        n_kills=n_killed,
        n_starts_of_serve=service.n_starts,
        n_notices=n_notices,
        keep_nights=given.keep,
        prefect_kb_a_night=round(prefect_kb),
        wall_s=round(time.perf_counter() - began, 1),
        grown=grown,
        faults=faults,
    )
    for line in (*faults, *grown):
        print(line, file=sys.stderr)
    return 1 if grown or faults else 0


if __name__ == "__main__":
    sys.exit(main())
