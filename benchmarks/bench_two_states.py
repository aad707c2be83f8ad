"""The same figures for two versions of this project, measured alternately on one machine.

Command: python benchmarks/bench_two_states.py BEFORE [--after PATH] [--figures NAME,NAME]
[--device cpu|gpu] [--clock wall|processor] [--rounds N] [--atlas FILE] [--subject RESULT]

BEFORE is a checkout of another state (``git worktree add BEFORE COMMIT``). Each round measures a
figure once in each state, every time in a fresh process; the states take turns to begin, so that a
machine which slows down slows both. Inputs are made once and are the same for both. A process calls
what it measures until it is warm, then takes the median of some calls
(``benchmarks/lib/figures.py``). ``--clock processor`` takes the time that all cores worked for it,
which other programs on the machine change less.

Reported of each figure: the median of its rounds in both states, their ratio (above 1: slower now),
and the spread of the rounds of each state, (largest - least) / median. ``is_within`` says that the
medians differ by at most 3 %, or by no more than the larger spread.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.figures import CLOCKS, FIGURES, make_inputs
from benchmarks.lib.record import REPOSITORY, record
from benchmarks.lib.timing import OtherWork
from pipeline.schedule.cluster.gpus import visible_gpus

NOISE = 0.03  # medians may differ by this share


def measured(state: Path, figure: str, inputs: Path, device: str, clock: str) -> float:
    """Milliseconds of a figure, in a process that imports nothing but this state."""
    command = [sys.executable, str(REPOSITORY / "benchmarks" / "lib" / "figures.py")]
    environment = dict(os.environ)
    # Paths of the environment come after the state's: packages may be there.
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(state), environment.get("PYTHONPATH")))
    )
    done = subprocess.run(
        [*command, figure, str(inputs), device, str(state), clock],
        cwd=state,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{figure} in {state} failed:\n{done.stderr[-3000:]}")
    return float(json.loads(done.stdout.splitlines()[-1])["ms"])


def commit_of(state: Path) -> str:
    """The commit of a checkout, or the one noted next to it if there is no git."""
    written = state / "COMMIT"
    if written.exists():
        return written.read_text().strip()
    command = ["git", "-C", str(state), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def compare(before: list[float], after: list[float]) -> dict[str, Any]:
    """Medians, ratio and spreads of the rounds of both states; ms."""
    middle = statistics.median(before), statistics.median(after)
    spread = tuple((max(some) - min(some)) / statistics.median(some) for some in (before, after))
    ratio = middle[1] / middle[0]
    return {
        "before_ms": round(middle[0], 4),
        "after_ms": round(middle[1], 4),
        "ratio": round(ratio, 3),
        "before_spread": round(spread[0], 3),
        "after_spread": round(spread[1], 3),
        "is_within": abs(ratio - 1) <= max(NOISE, *spread),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, nargs="?")
    parser.add_argument("--after", type=Path, default=REPOSITORY)
    parser.add_argument("--figures", help="names: " + ", ".join(FIGURES))
    parser.add_argument("--device", choices=("cpu", "gpu"), help="default: gpu if there is one")
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--atlas", type=Path, help="RIPE Atlas results for the figure ingest-atlas")
    parser.add_argument("--subject", default="two_states", help="name of the results file")
    parser.add_argument("--folder", type=Path, help="folder of the results file")
    given = parser.parse_args()
    device = given.device or ("gpu" if visible_gpus() else "cpu")
    names = given.figures.split(",") if given.figures else list(FIGURES)
    if not given.figures and given.atlas is None:
        names.remove("ingest-atlas")
    unknown = sorted(set(names) - set(FIGURES))
    if unknown:
        parser.error(f"no such figures: {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    if given.before is None:  # make bench runs every program
        print("nothing is measured: give a checkout of another state, see --help")
        return
    states = [given.before.resolve(), given.after.resolve()]
    rows: list[dict[str, Any]] = []
    others = OtherWork()
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder)
        make_inputs(names, inputs, given.atlas)
        called: set[str] = set()
        for name in names:
            times: list[list[float]] = [[], []]
            if FIGURES[name][0] not in called:
                called.add(FIGURES[name][0])
                for state in states:  # compiles what this call needs
                    measured(state, name, inputs, device, given.clock)
            for i in range(given.rounds):
                for which in (0, 1) if i % 2 == 0 else (1, 0):
                    ms = measured(states[which], name, inputs, device, given.clock)
                    times[which].append(ms)
            row = {"figure": name, "device": device, "rounds": given.rounds, **compare(*times)}
            print(json.dumps(row), flush=True)
            rows.append(row)
    commits = {"before": commit_of(states[0]), "after": commit_of(states[1])}
    facts = {"states": commits, "clock": given.clock, "other_cores_busy": others.n_cores()}
    record(given.subject, rows, given.folder, **facts)


if __name__ == "__main__":
    main()
