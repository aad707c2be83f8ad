"""Whether pairs still pass where routers of one night do not answer on the other.

A pair crosses some routers on one night. On the other night it shows the same router before them
and the same router or target behind them, but none of them. With only a gap between these two the
pair passes; with other routers between, or if it no longer reaches its target, it goes elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.compare.routes import Routes
from pipeline.model.columns.keys import number_rows
from pipeline.model.columns.ragged import row_of_value

PASSES, ELSEWHERE, UNKNOWN, SHORTCUT = 1, 0, -1, 2


@dataclass(frozen=True, eq=False)
class Trips:
    """Routes of some pairs on one night, and whether their targets answered.

    Attributes
    ----------
    routes : Routes
    reached, direct : (n_pairs,) bool
        The target answered; and right behind the last router.
    """

    routes: Routes
    reached: np.ndarray
    direct: np.ndarray


def passages_of(here: Trips, there: Trips, hop: np.ndarray) -> np.ndarray:
    """What the pairs of some hops do on the other night, whose routes lack their routers.

    Unknown if no router behind is the same, and the target never answered, or lies right behind the
    AS of the hop and no longer answers: it may belong to the AS, and be as silent.

    Parameters
    ----------
    here, there : Trips
        Of the same pairs on the night of the hops, and on the other one.
    hop : (n,) int64
        Of the routes here.

    Returns
    -------
    (n,) int64
        ``PASSES``, ``ELSEWHERE`` or ``UNKNOWN``; ``SHORTCUT``: elsewhere, but between the same
        routers of its AS, which now follow one another.
    """
    own, other = here.routes, there.routes
    pair = row_of_value(own.ptr)[hop]
    last, following, before, behind = _around(own, other, hop)
    comes, goes_on = last >= own.ptr[pair], following < own.ptr[pair + 1]
    is_gap = ~there.direct[pair]
    is_gap[goes_on] = ~other.direct[behind[goes_on]]
    answers = (here.reached & there.reached)[pair]
    passes = (behind == before + 1) & is_gap & (goes_on | answers)
    ends_there = own.asn[own.ptr[pair + 1] - 1] == own.asn[hop]
    known = goes_on | answers | (here.reached[pair] & ~ends_there)
    known &= comes | goes_on
    verdict = np.where(known, np.where(passes, PASSES, ELSEWHERE), UNKNOWN)
    inside = comes & goes_on & (behind == before + 1) & ~is_gap
    of_hop = own.asn[hop[inside]]
    ends = own.asn[last[inside]], own.asn[following[inside]]
    inside[inside] &= (ends[0] == of_hop) | (ends[1] == of_hop)
    verdict[inside] = SHORTCUT
    return verdict


def behind_hops(own: Routes, other: Routes, hop: np.ndarray) -> np.ndarray:
    """(n,) int64: hop of the other night at the first router behind some hops that it has, too."""
    return _around(own, other, hop)[3]


def _around(own: Routes, other: Routes, hop: np.ndarray) -> tuple[np.ndarray, ...]:
    """Nearest hops around some that the other night has, too, and these there, (n,) int64 each.

    Before and behind; where there is none they lie outside of the route.
    """
    at = _places_in(own, other)
    pair = row_of_value(own.ptr)[hop]
    row, n = np.arange(len(at)), len(at)
    last = np.maximum.accumulate(np.where(at >= 0, row, -1))[hop]
    following = np.minimum.accumulate(np.where(at >= 0, row, n)[::-1])[::-1][hop]
    goes_on = following < own.ptr[pair + 1]
    before = np.where(last >= own.ptr[pair], at[last], other.ptr[pair] - 1)
    behind = other.ptr[pair + 1]
    behind[goes_on] = at[following[goes_on]]
    return last, following, before, behind


def _places_in(own: Routes, other: Routes) -> np.ndarray:
    """(n_hops,) int64: the first hop of the pair at the same router on the other night, or -1."""
    number, n = number_rows(
        np.concatenate([row_of_value(own.ptr), row_of_value(other.ptr)]),
        np.concatenate([own.group, other.group]),
    )
    numbers, others = np.split(number, [len(own.group)])
    first = np.full(n, -1, np.int64)
    first[others[::-1]] = np.arange(len(others))[::-1]
    return first[numbers]
