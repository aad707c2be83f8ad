"""Changes between two nights: one row for each link, router, AS, ... that differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from pipeline.model.columns import Flat, schema_of
from pipeline.model.topology import NO_ASN

# Kinds of links and routers. What cannot be observed is distinguished from what is gone.
ADDED, REMOVED = "added", "removed"
UNSEEN, NOT_BEFORE = "not observable", "not observable before"
MOVED, INPUT = "moved to another owner", "input changed"
MERGED, SPLIT = "merged", "split"
# Kinds of the rest.
LOST, GAINED, SHIFTED = "lost", "gained", "moved"
RENUMBERED, QUIET, LOUD = "renumbered", "silent", "answers again"
LONGER, SHORTER = "longer", "shorter"
HIDDEN, SHOWN = "hidden", "shown"
PARTED, JOINED = "split in parts", "parts joined"
SLOWER, FASTER = "slower", "faster"
CHANGED = "changed"  # a figure of an AS
GREW, SHRANK = "grew", "shrank"  # counts of an AS

# Why traffic was lost or gained.
MOST_MOVED = "most of the pairs that enter there on either night"
OTHER_END = (
    "where most pairs of another ingress, most of whose pairs moved, enter on the other night"
)

# Why a link of few vantage points is slower or faster.
ALL_AGREE = "from each of few vantage points by about as much"

WIDTHS = ("diameter", "radius")  # figures that links within the AS explain

# Vantage points or ASes; more at once are one event, else they would hide the others.
MAX_SINGLE = 5

NO_ROW = -1


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes, one row each.

    Attributes
    ----------
    what : (n,) object
        ``link``, ``router``, ``AS``, ...
    kind : (n,) object
        One of the words above.
    asn, other_asn : (n,) int64
        For a link, the ASes of its near and far router on the night that has it. For what moved,
        the old and the new owner. ``NO_ASN`` for none.
    addr_high, addr_low, other_high, other_low : (n,) uint64
        Addresses likewise; 0 for none.
    group, other_group : (n,) int64
        Groups of routers likewise, ``NO_ROW`` for none; for events, not for files.
    vantage : (n,) int64
        Common number of the vantage point that it is; for a link, of the one without a counterpart
        that crossed it to most targets; ``NO_ROW`` for none. For events, not for files.
    n_traces, n_pairs, n_vantages : (n,) int64
        Traces, pairs of vantage point and target, and vantage points that it touches, on the night
        that has it.
    n_turned, n_silent, n_elsewhere, n_no_target, n_no_vantage, n_as_target : (n,) int64
        What became of these pairs (``evidence``).
    old, new : (n,) float64
        Values, NaN for none.
    reason : (n,) object
        Why it is of this kind.
    event : (n,) int64
        Row of the event that it is part of, ``NO_ROW`` for none.
    """

    what: Annotated[np.ndarray, Flat(object)]
    kind: Annotated[np.ndarray, Flat(object)]
    asn: Annotated[np.ndarray, Flat(np.int64)]
    other_asn: Annotated[np.ndarray, Flat(np.int64)]
    addr_high: Annotated[np.ndarray, Flat(np.uint64)]
    addr_low: Annotated[np.ndarray, Flat(np.uint64)]
    other_high: Annotated[np.ndarray, Flat(np.uint64)]
    other_low: Annotated[np.ndarray, Flat(np.uint64)]
    group: Annotated[np.ndarray, Flat(np.int64)]
    other_group: Annotated[np.ndarray, Flat(np.int64)]
    vantage: Annotated[np.ndarray, Flat(np.int64)]
    n_traces: Annotated[np.ndarray, Flat(np.int64)]
    n_pairs: Annotated[np.ndarray, Flat(np.int64)]
    n_vantages: Annotated[np.ndarray, Flat(np.int64)]
    n_turned: Annotated[np.ndarray, Flat(np.int64)]
    n_silent: Annotated[np.ndarray, Flat(np.int64)]
    n_elsewhere: Annotated[np.ndarray, Flat(np.int64)]
    n_no_target: Annotated[np.ndarray, Flat(np.int64)]
    n_no_vantage: Annotated[np.ndarray, Flat(np.int64)]
    n_as_target: Annotated[np.ndarray, Flat(np.int64)]
    old: Annotated[np.ndarray, Flat(np.float64)]
    new: Annotated[np.ndarray, Flat(np.float64)]
    reason: Annotated[np.ndarray, Flat(object)]
    event: Annotated[np.ndarray, Flat(np.int64)]

    def __len__(self) -> int:
        return len(self.what)


@dataclass(frozen=True, eq=False)
class Instead:
    """Routers and links in whose place pairs see others on the other night; for events.

    Attributes
    ----------
    routers : (n_routers,) int64
        Groups of routers that are gone, and of the new ones in their place; ascending.
    links : (n_links,) int64
        Links into an AS (``pair_keys`` of groups) by which pairs enter on either night, and on the
        other one by an ingress that moved; ascending.
    """

    routers: np.ndarray
    links: np.ndarray

    @classmethod
    def nothing(cls) -> Instead:
        """Of nights without traces."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64))


_DEFAULTS: dict[str, Any] = {
    "asn": NO_ASN,
    "other_asn": NO_ASN,
    "group": NO_ROW,
    "other_group": NO_ROW,
    "vantage": NO_ROW,
    "event": NO_ROW,
    "old": np.nan,
    "new": np.nan,
    "reason": "",
}


def make_changes(n: int, what: str, **columns: Any) -> Changes:
    """Changes of one sort; columns that are not given hold nothing.

    Parameters
    ----------
    n : int
        Rows.
    **columns
        (n,) arrays, or one value for all rows.
    """
    given = {"what": what} | columns
    made = {}
    for name, column in schema_of(Changes).flat.items():
        values = given.pop(name, _DEFAULTS.get(name, 0))
        made[name] = np.empty(n, column.dtype)
        made[name][:] = values
    if given:
        raise TypeError(f"changes have no column {', '.join(given)}")
    return Changes(**made)
