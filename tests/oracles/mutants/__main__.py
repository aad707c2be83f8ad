"""Draw mutants, judge them, print shares and survivors; write the JSON file."""

from __future__ import annotations

import argparse
import contextlib
import io
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.lib.record import REPOSITORY, RESULTS, record
from tests.oracles.mutants import __doc__ as about
from tests.oracles.mutants.copies import SURVIVED, SURVIVED_NEAR, Copy
from tests.oracles.mutants.rooms import ROOMS, Mutant, sample
from tests.oracles.mutants.shares import Judged, shares_of, table

NEAREST = 0.75  # of the time, for the nearest tests of all mutants


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracles.mutants",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "rooms", nargs="*", metavar="ROOM", help=f"folders of modules; default: {', '.join(ROOMS)}"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--count", type=int, default=300, metavar="N", help="of all rooms together")
    parser.add_argument("--minutes", type=float, metavar="M", help="end after this long")
    parser.add_argument(
        "--json",
        type=Path,
        default=RESULTS / "mutants.json",
        metavar="FILE",
        help="default: benchmarks/results/mutants.json",
    )
    parser.add_argument(
        "--compiled",
        type=lambda word: Path(word).resolve(),
        metavar="FOLDER",
        help="keep here what numba compiles, for later runs; default: nowhere",
    )
    return parser.parse_intermixed_args(words)


def _judged(copy: Copy, mutants: Sequence[Mutant], until: float, widen_at: float) -> list[Judged]:
    """All by their nearest tests, then survivors by all others of their rooms; while time is left.

    No mutant begins after ``widen_at`` by its nearest tests, none after ``until`` by others.
    """
    judged = list(_reported(copy, mutants, slice(1), widen_at, until))
    found = dict.fromkeys(one.mutant for one in judged if one.fate == SURVIVED_NEAR)
    wider = {one.mutant: one for one in _reported(copy, list(found), slice(1, None), until, until)}
    return [wider.get(one.mutant, one) for one in judged]


def _reported(
    copy: Copy, mutants: Sequence[Mutant], stages: slice, until: float, end: float
) -> Iterator[Judged]:
    for done, mutant in enumerate(mutants):
        started = time.monotonic()
        if started > until:
            left = len(mutants) - done
            print(f"{left} mutants were left out: the time is over", file=sys.stderr)
            return
        fate, by = copy.judge(mutant, stages, end)
        one = Judged(mutant, fate, by, time.monotonic() - started)
        print(f"{done + 1}, {one.wall_s:.0f} s: {fate}: {one}", file=sys.stderr, flush=True)
        yield one


def main(words: Sequence[str] | None = None) -> int:
    """Print the table and write the JSON file; the exit status."""
    given = _arguments(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # or temporary folders would stay
    started = time.monotonic()
    rooms = [room.strip("/") for room in given.rooms] or list(ROOMS)
    if unknown := [room for room in rooms if not (REPOSITORY / room).is_dir()]:
        print(f"not a folder of the project: {', '.join(unknown)}", file=sys.stderr)
        return 2
    seconds = 60 * given.minutes if given.minutes is not None else float("inf")
    until, widen_at = started + seconds, started + NEAREST * seconds
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy.of(REPOSITORY, Path(folder), given.compiled)
        mutants = sample(copy.root, rooms, given.count, given.seed)
        judged = _judged(copy, mutants, until, widen_at)
        for name in copy.failing:
            print(f"fails without any change, left out: {name}", file=sys.stderr)
    shares = shares_of(judged)
    survivors = [one for one in judged if one.fate in (SURVIVED, SURVIVED_NEAR)]
    print(table(shares), *map(str, survivors), sep="\n")
    with contextlib.redirect_stdout(io.StringIO()):  # what matters of the rows is above
        record(
            given.json.stem,
            [one.as_json() for one in judged],
            given.json.parent,
            seed=given.seed,
            left_out_tests=copy.failing,
            shares=shares,
        )
    print(f"written: {given.json}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
