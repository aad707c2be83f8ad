"""Draw mutants, judge them, print shares and survivors; write the JSON file."""

from __future__ import annotations

import argparse
import contextlib
import io
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.lib.record import REPOSITORY, RESULTS, record
from tests.oracles.mutants import __doc__ as about
from tests.oracles.mutants.copies import SURVIVED, SURVIVED_NEAR
from tests.oracles.mutants.judging import Part
from tests.oracles.mutants.rooms import ROOMS, sample
from tests.oracles.mutants.shares import shares_of, table
from tests.oracles.truth.side_by_side import each


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
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes")
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


def main(words: Sequence[str] | None = None) -> int:
    """Print the table and write the JSON file; the exit status."""
    given = _arguments(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # or temporary folders would stay
    started = time.time()
    rooms = [room.strip("/") for room in given.rooms] or list(ROOMS)
    if unknown := [room for room in rooms if not (REPOSITORY / room).is_dir()]:
        print(f"not a folder of the project: {', '.join(unknown)}", file=sys.stderr)
        return 2
    mutants = sample(REPOSITORY, rooms, given.count, given.seed)
    until = started + 60 * given.minutes if given.minutes is not None else float("inf")
    parts = [
        Part(tuple(mutants[k :: given.workers]), started, until, given.compiled, k)
        for k in range(given.workers)
    ]
    done = list(each(Part.judge, parts, given.workers))
    judged = [one for part in done for one in part.judged]
    failing = sorted({name for part in done for name in part.failing})
    for name in failing:
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
            left_out_tests=failing,
            shares=shares,
        )
    print(f"written: {given.json}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
