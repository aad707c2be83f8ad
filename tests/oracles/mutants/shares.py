"""Of each room, the share of mutants that tests notice, and the survivors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracles.mutants.copies import NOTICED, SURVIVED, SURVIVED_NEAR, TIMED_OUT
from tests.oracles.mutants.rooms import Mutant
from tests.oracles.truth.tables import markdown

EVERYWHERE = "all"
COUNTED = (NOTICED, TIMED_OUT, SURVIVED, SURVIVED_NEAR)
MOST = 100  # characters of a change in a list


@dataclass(frozen=True)
class Judged:
    """What became of a mutant; ``by``: the first test that failed, or the files that took long."""

    mutant: Mutant
    fate: str
    by: str
    wall_s: float

    def as_json(self) -> dict[str, Any]:
        site = self.mutant.site
        return {
            "room": self.mutant.room,
            "place": f"{self.mutant.path}:{site.line}",
            "kind": site.kind,
            "before": site.before,
            "after": self.mutant.after,
            "fate": self.fate,
            "by": self.by,
            "wall_s": round(self.wall_s, 1),
        }

    def __str__(self) -> str:
        site = self.mutant.site
        before, after = (
            one if len(one) <= MOST else f"{one[:MOST]}..."
            for one in (site.before, self.mutant.after)
        )
        return f"{self.mutant.path}:{site.line}: {before} -> {after}"


def share(part: int, whole: int) -> tuple[float | None, float | None]:
    """A share and its standard error; None of nothing."""
    if not whole:
        return None, None
    at = part / whole
    return at, math.sqrt(at * (1 - at) / whole)


def shares_of(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Of each room and of all: numbers by fate, and the share that was noticed or timed out.

    What survived the nearest tests counts as a survivor, so that the share is one at least.
    """
    rooms = list(dict.fromkeys(one.mutant.room for one in judged))
    found = []
    for room in (*rooms, EVERYWHERE):
        fates = [one.fate for one in judged if room in (EVERYWHERE, one.mutant.room)]
        noticed, timed_out, survived, near = map(fates.count, COUNTED)
        at, error = share(noticed + timed_out, noticed + timed_out + survived + near)
        found.append(
            {
                "room": room,
                "noticed": noticed,
                "timed_out": timed_out,
                "survived": survived,
                "survived_near": near,
                "untested": len(fates) - noticed - timed_out - survived - near,
                "share": at,
                "share_error": error,
            }
        )
    return found


def table(shares: Sequence[dict[str, Any]]) -> str:
    """One row per room."""
    return markdown(
        [
            "room",
            "noticed",
            "of which by time",
            "survived",
            "the nearest tests only",
            "no tests",
            "share noticed",
        ],
        [
            [
                row["room"],
                str(row["noticed"] + row["timed_out"]),
                str(row["timed_out"]),
                str(row["survived"]),
                str(row["survived_near"]),
                str(row["untested"]),
                ""
                if row["share"] is None
                else f"{100 * row['share']:.1f} ± {100 * row['share_error']:.1f} %",
            ]
            for row in shares
        ],
    )
