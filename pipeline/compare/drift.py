"""Figures of ASes that drift: a little each night, which no comparison with one night shows.

A figure drifts if over the last seven nights and this one it went in one direction, in at least
``MIN_STEPS`` steps and never back, and differs from the median of the seven by at least
``MIN_SHARE`` of it, and a count by at least ``MIN_COUNT``; a single step that makes half of the
difference is a change of one night, which comparing with the night before tells. A drift is
reported on the first night on which this is so, and not again while it goes on (``MEMORY``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from pipeline.compare.changes import Changes, make_changes
from pipeline.compare.events import DRIFTS, Events
from pipeline.model.columns import concat
from pipeline.model.topology import NO_ASN

N_NIGHTS = 7  # whose median is the usual value
MIN_STEPS = 3
MEMORY = 3  # nights for which a drift that pauses is the same one
MIN_SHARE = 0.1
MIN_COUNT = 5.0
COUNTS = ("routers", "links", "ingresses")
DRIFTED = "drifted"  # kind of change
REASON = f"old is the median of the last {N_NIGHTS} nights"


def find_drifts(asn: np.ndarray, values: Mapping[str, np.ndarray]) -> Iterator[Changes]:
    """Figures that drift since this night, of each sort.

    Parameters
    ----------
    asn : (n_ases,) int64
    values : mapping of str to (n_nights, n_ases) float64
        By figure; the oldest night first, this one last, NaN where it is unknown. Seven nights
        before this one are needed, and ``MEMORY`` more to know what was so before.
    """
    for what, nights in values.items():
        if len(nights) <= N_NIGHTS:
            continue
        is_so, usual = _drifts(nights[-N_NIGHTS - 1 :], what)
        for back in range(1, min(MEMORY, len(nights) - N_NIGHTS - 1) + 1):
            is_so &= ~_drifts(nights[-N_NIGHTS - 1 - back : -back], what)[0]
        which = np.flatnonzero(is_so)
        yield make_changes(
            len(which),
            what,
            kind=DRIFTED,
            asn=asn[which],
            old=usual[which],
            new=nights[-1][which],
            reason=np.full(len(which), REASON, object),
        )


def _drifts(nights: np.ndarray, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Whether each figure drifts up to the last of eight nights, and its usual value."""
    known = ~np.isnan(nights).any(axis=0)
    filled = np.where(known, nights, 0.0)
    usual = np.median(filled[:-1], axis=0)
    steps = np.diff(filled, axis=0)
    n_up, n_down = (steps > 0).sum(axis=0), (steps < 0).sum(axis=0)
    away = np.abs(filled[-1] - usual)
    least = np.maximum(MIN_SHARE * np.abs(usual), MIN_COUNT if what in COUNTS else 0.0)
    is_gradual = 2 * np.abs(steps).max(axis=0) < np.abs(filled[-1] - filled[0])
    one_way = (np.maximum(n_up, n_down) >= MIN_STEPS) & (np.minimum(n_up, n_down) == 0)
    return known & one_way & is_gradual & (away >= least) & (away > 0), usual


def with_drifts(changes: Changes, events: Events, drifts: Changes) -> tuple[Changes, Events]:
    """Changes and events with what drifts; an event for each AS, after all that traces show."""
    if not len(drifts):
        return changes, events
    asns, first, part = np.unique(drifts.asn, return_index=True, return_inverse=True)
    n = len(asns)
    none, unknown = np.zeros(n, np.int64), np.full(n, np.nan)
    more = Events(
        kind=np.full(n, DRIFTS, object),
        asn=asns,
        other_asn=np.full(n, NO_ASN),
        n_changes=np.bincount(part, minlength=n),
        n_links=none,
        n_traces=none,
        n_pairs=none,
        n_vantages=none,
        first=len(changes) + first,
        longer_by=unknown,
        lower=unknown,
        upper=unknown,
    )
    drifts = replace(drifts, event=len(events) + part)
    return concat([changes, drifts]), concat([events, more])
