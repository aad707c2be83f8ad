"""Each mechanism of the transport against its fault: by Dask alone, without it, and with it.

``python benchmarks/bench_transport_faults.py [CASE...] [--repeats N]``

Every run is a process of its own with one or two workers, ended after ``cases.LIMIT_S`` seconds:
then it hangs. The ways are

- ``Dask``: ``Client.submit`` with two retries and ``as_completed`` on a ``LocalCluster`` whose
  workers are forked as ours are, with Dask's own settings, and ``Dask, set`` with those that it has
  for such faults (``cases.SETTINGS``);
- ``without``: our transport with one mechanism switched off (``switches.switch_off``);
- ``with``: all of it.

Limits are about a tenth of those of a run. ``n_lost``: tasks of which nothing is heard;
``n_begun_again``: how often a task that had begun was begun again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dataclasses import asdict

from benchmarks.lib.record import REPOSITORY, record
from benchmarks.lib.timing import OtherWork
from benchmarks.transport.cases import CASES, LIMIT_S, LIMITS, SETTINGS
from benchmarks.transport.switches import CODE, n_lines

STARTS_S = 60.0  # seconds for a process to import and to start its cluster


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--subject", default="transport_faults")
    parser.add_argument("--table", type=Path, nargs="+", metavar="JSON", help="only print a table")
    given = parser.parse_args(arguments)
    if given.table:
        print(table(given.table))
        return
    if unknown := set(given.case) - CASES.keys():
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    others = OtherWork()
    rows: list[dict[str, Any]] = []
    for name in given.case or CASES:
        case = CASES[name]
        for way in case.ways:
            found = [run(name, way) for _ in range(given.repeats)]
            base = {"case": name, "mechanism": case.mechanism, "fault": case.fault, "way": way}
            rows.append(base | combined(found))
        with contextlib.redirect_stdout(sys.stderr):  # after each case: a later one may hang
            _record(given, rows, others)


def _record(given: argparse.Namespace, rows: list[dict[str, Any]], others: OtherWork) -> None:
    record(
        given.subject,
        rows,
        repeats=given.repeats,
        limit_s=LIMIT_S,
        limits=asdict(LIMITS),
        dask_settings=SETTINGS,
        lines_of_code={mechanism: n_lines(mechanism) for mechanism in CODE if CODE[mechanism]},
        other_processes_kept_busy_cores=others.n_cores(),
    )


def table(files: list[Path]) -> str:
    """The rows of some results as Markdown: a fault a line, a way a column."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in [row for file in files for row in json.loads(file.read_text())["rows"]]:
        cells.setdefault((row["mechanism"], row["fault"]), {})[row["way"]] = _cell(row)
    there = {way for found in cells.values() for way in found}
    ways = [way for way in WAYS if way in there]
    lines = ["| mechanism | fault | " + " | ".join(ways) + " |", "|---" * (len(ways) + 2) + "|"]
    for names, found in cells.items():
        lines.append("| " + " | ".join([*names, *(found.get(way, "") for way in ways)]) + " |")
    return "\n".join(lines)


# Client.cancel, and what an answer took: of the withdrawal of tasks, which is gone (ADR 0017).
WAYS = ("Dask", "Dask, set", "without", "Client.cancel", "with")
SHOWN = {
    "n_lost": "{} lost",
    "n_failed_without_fault": "{} failed without a fault",
    "n_runs_unjust": "in {} runs some failed without a fault",
    "n_begun_again": "{} begun again",
    "n_workers_replaced": "{} workers replaced",
    "ms_a_task": "{} ms a task",
    "s_an_answer": "{} s an answer",
    "n_searches": "{} searches",
    "first_results_s": "{} s until results",
}


def _cell(row: dict[str, Any]) -> str:
    wall = f"{row['wall_s']:.1f} s" if row["ends"] else "hangs"
    return ", ".join(
        [wall, *(text.format(row[key]) for key, text in SHOWN.items() if row.get(key))]
    )


def run(case: str, way: str) -> dict[str, Any]:
    """The figures of one run."""
    words = [sys.executable, "-m", "benchmarks.transport.cases", case, way]
    paths = os.pathsep.join(filter(None, (str(REPOSITORY), os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(
        words,
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    said = ""
    try:
        for line in process.stdout or ():
            if line.startswith("ROW "):
                return json.loads(line[4:])
            said += line
        raise RuntimeError(f"{case} {way}: no figures; {said}")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=STARTS_S)


def combined(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians of the figures of all runs; how many of them ended, and failed what has no fault."""
    row: dict[str, Any] = {"ends": sum(each["ends"] for each in found), "n_runs": len(found)}
    if len(found) > 1:
        row["n_runs_unjust"] = sum(each["n_failed_without_fault"] > 0 for each in found)
    for key in found[-1].keys() - {"ends"}:
        values = [each.get(key) for each in found]
        is_number = all(isinstance(value, int | float) for value in values)
        row[key] = statistics.median(values) if is_number else values[-1]
    return row


if __name__ == "__main__":
    main()
