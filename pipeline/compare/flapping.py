"""What comes and goes over nights: one event with a count, and not another one each night.

A **turn** is an event by which something comes or goes: an AS, an adjacency, answers of a router.
Turns of the same thing follow one another if each takes back the one before. Events of several
links or routers of an AS are about the same thing if they share one of them. Where there are
``MIN_TURNS`` within seven nights the thing flaps, and each further turn is no news of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

N_NIGHTS = 7  # that are looked at, the last one included
MIN_TURNS = 3
FLAPS = "flapping"  # kind of event

_OPPOSITES = (
    ("vantage point lost", "vantage point gained"),
    ("AS lost", "AS gained"),
    ("AS silent", "AS answers again"),
    ("exchange lost", "exchange gained"),
    ("city lost", "city gained"),
    ("routers hidden", "routers shown"),
    ("load balancing lost", "load balancing gained"),
    ("hosts silent", "hosts answer again"),
    ("adjacency lost", "adjacency gained"),
    ("routers lost", "routers gained"),
    ("routers silent", "routers answer again"),
    ("AS split in parts", "parts of an AS joined"),
    ("links removed", "links added"),
    ("links slower", "links faster"),
    ("paths longer", "paths shorter"),
    # To and fro.
    ("ingress moved", "ingress moved"),
    ("traffic moved", "traffic moved"),
    ("routers of another owner", "routers of another owner"),
)
TAKES_BACK = dict(_OPPOSITES) | {other: one for one, other in _OPPOSITES}
_BY_ANOTHER = ("AS lost", "AS gained")  # the other AS is the one by which pairs go instead


class Turn(NamedTuple):
    """An event: its kind, the ASes that it is about, in either order.

    ``names``: of the exchange point or city, or of links, routers and vantage points by their
    addresses; none of an AS.
    """

    kind: str
    asn: int | None
    other_asn: int | None
    names: frozenset[str] = frozenset()

    @property
    def about(self) -> tuple:
        """The ASes between or in which something comes or goes, and what sort of thing."""
        other = None if self.kind in _BY_ANOTHER else self.other_asn
        ases = sorted((-1 if asn is None else asn) for asn in (self.asn, other))
        return min(self.kind, TAKES_BACK.get(self.kind, self.kind)), *ases

    def is_about_same(self, other: Turn) -> bool:
        """Whether the same thing came or went."""
        if self.about != other.about:
            return False
        return bool(self.names & other.names) or not (self.names or other.names)


def count_turns(tonight: Sequence[Turn], earlier: Sequence[Sequence[Turn]]) -> list[int]:
    """How many turns, up to this one, each event is of; 1: it takes none back.

    Parameters
    ----------
    tonight : sequence of Turn
    earlier : sequence of sequences of Turn
        Nights before it, the latest first; as many as ``N_NIGHTS`` - 1 are looked at.
    """
    nights = [
        [turn for turn in night if turn.kind in TAKES_BACK] for night in earlier[: N_NIGHTS - 1]
    ]
    return [_turns_up_to(turn, nights) for turn in tonight]


def _turns_up_to(turn: Turn, earlier: Sequence[Sequence[Turn]]) -> int:
    n, wanted = 1, TAKES_BACK.get(turn.kind)
    for night in earlier:
        kinds = {other.kind for other in night if other.is_about_same(turn)}
        if not kinds:
            continue
        if wanted not in kinds:
            break
        n, wanted = n + 1, TAKES_BACK[wanted]
    return n
