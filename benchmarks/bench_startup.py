"""Overhead of a command: imports, help, and an analysis of few routers.

    python benchmarks/bench_startup.py
    python benchmarks/bench_startup.py --repository ../before --subject startup_2_cores_before

Every command is its own process; medians of ``--repeats``, after one that is not counted. What
is timed is the repository named, by this Python: two checkouts can be compared in alternation
(``--repository A --repository B``: rows of both).

The analysis is of 20 ASes of 100 routers each: a single task of some milliseconds; ``analyze`` with
a cluster (``--device``, ``--workers``), ``analyze, short`` without either option. ``first_task_s``
is from the start of the process to the start of its first task, ``start_up_s`` all of the time
except the task's, ``after_task_s`` what comes after its end (report, end of the cluster and the
process).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pyarrow.parquet as pq

from benchmarks.lib.record import REPOSITORY, record
from benchmarks.lib.timing import OtherWork

HELP = ("ingest", "analyze", "run", "generate", "doctor")
# Prints the system's clock when each line is reached: the first by the interpreter itself.
PHASES = """
import sys, time
from pathlib import Path
marks = [time.time()]
import pipeline.cli
marks.append(time.time())
import pipeline.stages.analyze
marks.append(time.time())
print(*marks)
"""
GENERATE = "generate top-down --routers 2000 --ases 20 --ingresses 5 --snapshot small --store"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repository", type=Path, action="append", metavar="DIR")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--workers", type=int, help="of the cluster [2 on cores, one per GPU]")
    parser.add_argument("--subject", default="startup")
    given = parser.parse_args()
    cluster = ["--device", given.device]
    if given.workers is not None or given.device == "cpu":
        cluster += ["--workers", str(given.workers or 2)]
    repositories = [path.resolve() for path in given.repository or [REPOSITORY]]
    others = OtherWork()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        _run(repositories[0], "-m", "pipeline.cli", *GENERATE.split(), str(store))
        runs: dict[tuple[int, str], list[dict[str, float]]] = {}
        for repeat in range(given.repeats + 1):
            for number, repository in enumerate(repositories):
                for what, figures in _measure(repository, store, cluster):
                    if repeat:
                        runs.setdefault((number, what), []).append(figures)
    rows = [
        {
            "what": what,
            "repository": repositories[number].name,
            "commit": _commit(repositories[number]),
            **{key: _median(figures[key] for figures in all_of) for key in all_of[0]},
            "largest_s": round(max(max(figures.values()) for figures in all_of), 3),
        }
        for (number, what), all_of in sorted(runs.items(), key=lambda item: item[0][::-1])
    ]
    record(
        given.subject, rows, repeats=given.repeats, other_processes_kept_busy_cores=others.n_cores()
    )


def _measure(
    repository: Path, store: Path, cluster: list[str]
) -> list[tuple[str, dict[str, float]]]:
    found = [
        ("python, nothing imported", {"wall_s": _run(repository, "-c", "pass")[0]}),
        ("import pipeline.cli", {"wall_s": _run(repository, "-c", "import pipeline.cli")[0]}),
        ("--help", {"wall_s": _run(repository, "-m", "pipeline.cli", "--help")[0]}),
    ]
    for command in HELP:
        wall_s, _ = _run(repository, "-m", "pipeline.cli", command, "--help")
        found.append((f"{command} --help", {"wall_s": wall_s}))
    found.append(("analyze", _analyze(repository, store, cluster)))
    return [*found, ("analyze, short", _analyze(repository, store, []))]


def _analyze(repository: Path, store: Path, cluster: list[str]) -> dict[str, float]:
    """Phases of one analysis, seconds."""
    started = time.time()
    words = ("analyze", "--store", store, "--full", *cluster)
    with tempfile.TemporaryDirectory() as out:
        wall_s, _ = _run(repository, "-m", "pipeline.cli", *map(str, words), "--out", out)
        tasks = pq.read_table(Path(out) / "small" / "tasks.parquet").to_pydict()
    clock = time.time()
    _, marks = _run(repository, "-c", PHASES)
    interpreter, cli, stage = (float(mark) - clock for mark in marks.split())
    first, last = min(tasks["started"]), max(tasks["ended"])
    return {
        "wall_s": wall_s,
        "interpreter_s": interpreter,
        "import_cli_s": cli - interpreter,
        "import_stage_s": stage - cli,
        "submitted_s": min(tasks["submitted"]) - started,
        "first_task_s": first - started,
        "task_s": last - first,
        "after_task_s": started + wall_s - last,
        "start_up_s": wall_s - (last - first),
    }


def _run(repository: Path, *words: str) -> tuple[float, str]:
    """Seconds from start to end of a process, and what it wrote to stdout."""
    paths = os.pathsep.join(filter(None, (str(repository), os.environ.get("PYTHONPATH"))))
    with tempfile.TemporaryFile("w+") as stdout:  # a pipe would end with the last child
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, *words],
            cwd=repository,
            env=os.environ | {"PYTHONPATH": paths},
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        wall_s = time.perf_counter() - started
        stdout.seek(0)
        return wall_s, stdout.read()


def _commit(repository: Path) -> str:
    command = ["git", "-C", str(repository), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _median(values) -> float:
    return round(statistics.median(values), 3)


if __name__ == "__main__":
    main()
