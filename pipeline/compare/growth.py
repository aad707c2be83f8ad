"""ASes that grew or shrank: by more routers, links or ingresses than come and go by chance.

What is seen on one of two nights alone comes and goes: another target, a lost reply. That adds as
much as it takes away, so the two counts are compared as those of changed pairs are (Q. McNemar,
*Note on the sampling error of the difference between correlated proportions or percentages*,
Psychometrika 12, 1947): of n things that only one of the nights shows, as many are new as are gone,
give or take the square root of n.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pipeline.compare.changes import GREW, SHRANK, Changes, make_changes
from pipeline.compare.links import Sides
from pipeline.compare.night import Night

MIN_SHARE = 0.1  # of what there was before
MIN_COUNT = 5
_Z = 3.29  # of one in a thousand


def compare_growth(sides: Sides) -> Iterator[Changes]:
    """Counts of ASes of both nights that went up or down, of each sort."""
    asn = np.intersect1d(sides.old.asn, sides.new.asn)
    old, new = (
        _things(night, groups, sides.groups.n)
        for night, groups in ((sides.old, sides.groups.old), (sides.new, sides.groups.new))
    )
    for what in old:
        (keys, of), (other_keys, of_other) = old[what], new[what]
        n_gone = _counted(asn, of[~np.isin(keys, other_keys, assume_unique=True)])
        n_new = _counted(asn, of_other[~np.isin(other_keys, keys, assume_unique=True)])
        before, after = _counted(asn, of), _counted(asn, of_other)
        by = np.abs(n_new - n_gone)
        least = np.maximum(MIN_COUNT, MIN_SHARE * before)
        is_sure = (by - 1) >= _Z * np.sqrt(n_new + n_gone)
        which = np.flatnonzero(is_sure & (by >= least))
        yield make_changes(
            len(which),
            what,
            kind=np.where(n_new[which] > n_gone[which], GREW, SHRANK).astype(object),
            asn=asn[which],
            old=before[which],
            new=after[which],
            reason=np.array(
                [
                    f"{gained:,} on the newer night alone, {lost:,} on the older one"
                    for gained, lost in zip(n_new[which], n_gone[which], strict=True)
                ],
                object,
            ),
        )


def _things(
    night: Night, groups: np.ndarray, n_groups: int
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Routers, links within ASes and ingresses of a night: distinct keys, and the AS of each."""
    nodes = np.arange(night.n_nodes)
    inside = night.asn_of(night.low) == night.asn_of(night.high)
    low, high = groups[night.low[inside]], groups[night.high[inside]]
    links = np.minimum(low, high) * np.int64(n_groups) + np.maximum(low, high)
    found = {
        "routers": (groups, nodes),
        "links": (links, night.low[inside]),
        "ingresses": (groups[night.ingress], night.ingress),
    }
    distinct = {}
    for what, (keys, node) in found.items():
        own, first = np.unique(keys, return_index=True)
        distinct[what] = own, night.asn_of(node[first])
    return distinct


def _counted(asn: np.ndarray, of: np.ndarray) -> np.ndarray:
    """(n_ases,) int64: how often each AS is among some, which may be of others too."""
    of = of[np.isin(of, asn)]
    return np.bincount(np.searchsorted(asn, of), minlength=len(asn)).astype(np.int64)
