"""Judge a part of the mutants, in a copy of the project of its own."""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.lib.record import REPOSITORY
from tests.oracles.mutants.copies import SURVIVED_NEAR, Copy
from tests.oracles.mutants.rooms import Mutant
from tests.oracles.mutants.shares import Judged

NEAREST = 0.75  # of the time, for the nearest tests of all mutants


@dataclass(frozen=True)
class Outcome:
    """What became of a part, and the tests that fail without any change."""

    judged: list[Judged]
    failing: list[str]


@dataclass(frozen=True)
class Part:
    """Mutants of one process.

    ``started`` and ``until`` are by ``time.time``, which processes share; ``compiled`` is a folder
    to keep what numba compiles, one in it for each part: numba's files have no lock.
    """

    mutants: tuple[Mutant, ...]
    started: float
    until: float
    compiled: Path | None
    number: int

    def judge(self) -> Outcome:
        """All by their nearest tests, then survivors by all others of their rooms; in time.

        No mutant begins by its nearest tests after ``NEAREST`` of the time, none by others after
        all of it.
        """
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # or temporary folders would stay
        now, began = time.monotonic(), time.time()
        until = now + self.until - began
        widen_at = now + self.started - began + NEAREST * (self.until - self.started)
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            kept = self.compiled / str(self.number) if self.compiled else None
            copy = Copy.of(REPOSITORY, Path(folder), kept)
            nearest = list(_reported(copy, self.mutants, slice(1), widen_at, until))
            left = dict.fromkeys(one.mutant for one in nearest if one.fate == SURVIVED_NEAR)
            others = _reported(copy, list(left), slice(1, None), until, until)
            wider = {one.mutant: one for one in others}
        return Outcome([wider.get(one.mutant, one) for one in nearest], list(copy.failing))


def _reported(
    copy: Copy, mutants: Sequence[Mutant], stages: slice, until: float, end: float
) -> Iterator[Judged]:
    for done, mutant in enumerate(mutants):
        started = time.monotonic()
        if started > until:
            left = len(mutants) - done
            sys.stderr.write(f"{left} mutants were left out: the time is over\n")
            return
        fate, by = copy.judge(mutant, stages, end)
        one = Judged(mutant, fate, by, time.monotonic() - started)
        sys.stderr.write(f"{done + 1}, {one.wall_s:.0f} s: {fate}: {one}\n")
        yield one
