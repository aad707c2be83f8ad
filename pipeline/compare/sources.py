"""What was measured on one night only: vantage points and targets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pipeline.compare.changes import GAINED, LOST, Changes, make_changes
from pipeline.compare.evidence import View
from pipeline.compare.links import Sides

# Share of targets by which their number must change: where as many come as go, it is the list.
MIN_TARGETS = 0.05
# Likewise, that must be gone, if as many came: else hardly a target is compared.
MOST_TARGETS = 0.3


def compare_sources(sides: Sides) -> Iterator[Changes]:
    """Vantage points of one night, and targets of one if they are many."""
    old, new = sides.old_view, sides.new_view
    if old is None or new is None:
        return
    for here, there, kind in ((old, new, LOST), (new, old, GAINED)):
        yield _vantages(here, there, kind)
        yield _targets(here, there, kind, sides.n_targets)


def _vantages(here: View, there: View, kind: str) -> Changes:
    paths, vantages = here.seen.paths, here.seen.vantages
    n_pairs = np.bincount(paths.vantage, minlength=len(vantages))
    measured = np.unique(there.vantage[np.unique(there.seen.paths.vantage)])
    only = np.flatnonzero((n_pairs > 0) & ~np.isin(here.vantage, measured))
    n_traces = np.bincount(paths.vantage, paths.n_traces, len(vantages)).astype(np.int64)
    return make_changes(
        len(only),
        "vantage point",
        kind=kind,
        asn=vantages.asn[only],
        addr_high=vantages.addr_high[only],
        addr_low=vantages.addr_low[only],
        vantage=here.vantage[only],
        n_traces=n_traces[only],
        n_pairs=n_pairs[only],
        n_vantages=1,
    )


def _targets(here: View, there: View, kind: str, n_targets: int) -> Changes:
    """One row for all targets that vantage points of both nights measured on this night alone.

    Some always change: there is none unless they became fewer, or most of them are others.
    """
    common = np.intersect1d(here.pair // n_targets, there.pair // n_targets)
    is_common = np.isin(here.pair // n_targets, common)
    target = np.unique(here.pair[is_common] % n_targets)
    others = np.unique(there.pair[np.isin(there.pair // n_targets, common)] % n_targets)
    only = np.setdiff1d(target, others, assume_unique=True)
    n_less = len(target) - len(others)
    if n_less <= MIN_TARGETS * len(target) and len(only) <= MOST_TARGETS * len(target):
        return make_changes(0, "targets", kind=kind)
    is_lost = is_common & np.isin(here.pair % n_targets, only)
    pairs = np.unique(here.pair[is_lost])
    before, after = (len(target), len(others)) if kind == LOST else (len(others), len(target))
    return make_changes(
        1,
        "targets",
        kind=kind,
        old=before,
        new=after,
        n_pairs=len(pairs),
        n_traces=here.seen.paths.n_traces[is_lost].sum(),
        n_vantages=len(np.unique(pairs // n_targets)),
    )
