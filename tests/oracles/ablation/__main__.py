"""Leave out each rule in turn and print what it gains: see the package."""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.lib.record import RESULTS, record
from pipeline.errors import PipelineError, UsageError
from pipeline.generate.networks.plan import KINDS
from pipeline.infer.rules import RULES
from tests.oracles.ablation.gains import find_gains, means_of
from tests.oracles.ablation.judging import ALL_RULES, TOGETHER, Outcome, Task
from tests.oracles.ablation.tables import families_table, full_table, sentences
from tests.oracles.networks.seeds import parse_seeds
from tests.oracles.truth.command import WAYS
from tests.oracles.truth.side_by_side import each
from tests.oracles.truth.sources import ON_DISK, find_sources

USUAL = "inferred-routers"  # what is known: no more than traces and prefixes
WITH_FILES = "registries-inferred-routers"
# Minutes a network by themselves; they are judged where they are named.
LARGE = ("large_exchange", "big", "big_one_vantage", "big_internet")
ALL = (
    *(kind for kind in KINDS if kind not in LARGE),
    ON_DISK,
    *(f"{kind}:{WITH_FILES}" for kind in ("ixp", "harsh", "realistic", "siblings")),
    *(f"{kind}:true-aliases" for kind in ("harsh", "realistic")),
)
# Smaller networks than the kinds are by themselves: the same laws, a fourth of the time.
_STUBS = ("n_stub=30", "n_vantage_points=6")
SMALLER = {kind: _STUBS for kind in KINDS if kind not in LARGE} | {
    kind: (*_STUBS, f"methods={law['methods'][:1]}")
    for kind, law in KINDS.items()
    if len(law.get("methods", ())) > 1
}
SMALLER["brite"] = ("n_transit=8", "transit=(4, 12)", "n_vantage_points=6")


def find_tasks(words: Sequence[str], seeds: Sequence[int], rules: tuple[str, ...]) -> list[Task]:
    """Networks of families, the first of each before the second ones.

    So those judged in some time are of all families.

    Raises
    ------
    UsageError
        If there is no such kind, folder, field or way.
    """
    fields = [word for word in words if "=" in word]
    named = [word for word in words if word not in fields]
    turns: list[tuple[int, Task]] = []
    for word in itertools.chain(*(ALL if one == "all" else (one,) for one in named)):
        name, _, way = word.partition(":")
        if (way or USUAL) not in WAYS:
            raise UsageError(f"{word}: no way {way}; there are {', '.join(WAYS)}")
        called, options = WAYS[way or USUAL]
        label = called.removeprefix("elected, ") if way not in ("", USUAL) else ""
        said = {word.partition("=")[0] for word in fields}
        small = (word for word in SMALLER.get(name, ()) if word.partition("=")[0] not in said)
        own = (*small, *fields) if name in KINDS else ()
        found = find_sources([name, *own], seeds)
        turns += [(i, Task(source, rules, options, label)) for i, source in enumerate(found)]
    return [task for _, task in sorted(turns, key=lambda turn: turn[0])]


def _rules(names: Sequence[str] | None) -> list[dict[str, str]]:
    """What is left out: names, what the rules say, and where their weights come from."""
    known = {rule.name: rule for rule in RULES}
    groups = [name.split(TOGETHER) for name in names or known]
    if unknown := [name for group in groups for name in group if name not in known]:
        raise UsageError(f"no rule {', '.join(unknown)}; there are {', '.join(known)}")
    return [
        {
            "name": TOGETHER.join(group),
            "says": "; ".join(known[name].says for name in group),
            "origin": "; ".join(str(known[name].origin) for name in group),
        }
        for group in groups
    ]


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracles.ablation",
        description="Judge networks with each rule of inference left out.",
    )
    parser.add_argument(
        "families",
        nargs="+",
        metavar="FAMILY[:WAY]|FIELD=VALUE",
        help=f"{', '.join(KINDS)}, {ON_DISK}, a folder, or all (but {', '.join(LARGE)}); what is "
        f"known of it, of {', '.join(WAYS)} (default: {USUAL}); fields of plans to change",
    )
    parser.add_argument("--seeds", type=parse_seeds, default=list(range(1, 11)), metavar="A-B")
    parser.add_argument(
        "--rules",
        nargs="+",
        metavar="NAME",
        help=f"default: every rule; A{TOGETHER}B: both at once",
    )
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes")
    parser.add_argument(
        "--minutes", type=float, metavar="N", help="print what is done after so long"
    )
    parser.add_argument(
        "--json",
        type=Path,
        default=RESULTS / "ablation.json",
        metavar="FILE",
        help="default: benchmarks/results/ablation.json",
    )
    return parser.parse_intermixed_args(words)


def _within(outcomes: Iterable[Outcome], n: int, minutes: float | None) -> Iterator[Outcome]:
    """Outcomes as they come, told to the terminal; until the time is over."""
    started = time.monotonic()
    for done, one in enumerate(outcomes, start=1):
        print(f"{done} of {n}: {one.family}, {one.name}, {one.wall_s:.1f} s", file=sys.stderr)
        for rule, reason in one.failed.items():
            what = f"without {rule}" if rule != ALL_RULES else "cannot be judged"
            print(f"{one.family}, {one.name}: {what}: {reason}", file=sys.stderr)
        yield one
        if minutes is not None and time.monotonic() - started > 60 * minutes:
            print(
                f"{n - done} networks were left out: {minutes:g} minutes are over", file=sys.stderr
            )
            return


def main(words: Sequence[str] | None = None) -> int:
    """Print the table and write the JSON file; the exit status."""
    given = _arguments(words)
    try:
        rules = _rules(given.rules)
        names = tuple(rule["name"] for rule in rules)
        tasks = find_tasks(given.families, given.seeds, names)
    except PipelineError as error:
        print(error, file=sys.stderr)
        return 2
    outcomes = list(_within(each(Task.run, tasks, given.workers), len(tasks), given.minutes))
    judged = [one for one in outcomes if ALL_RULES in one.figures]
    if not judged:
        print("no network could be judged", file=sys.stderr)
        return 2
    rows, means = find_gains(judged, names), means_of(judged)
    print(f"{families_table(means)}\n\n{full_table(rows)}\n")
    print("\n".join(sentences(rows)))
    with contextlib.redirect_stdout(io.StringIO()):  # the rows are in the table
        record(
            given.json.stem,
            [row.as_json() for row in rows if row.n_changed or not row.is_judged],
            given.json.parent,
            seeds=f"{min(given.seeds)}-{max(given.seeds)}",
            families=means,
            rules=rules,
            failed=[
                {"family": one.family, "network": one.name, "rule": rule, "reason": reason}
                for one in outcomes
                for rule, reason in one.failed.items()
            ],
        )
    print(f"written: {given.json}", file=sys.stderr)
    return 1 if any(one.failed for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
