"""What was measured on one night only: vantage points and targets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pipeline.compare.changes import GAINED, LOST, Changes, make_changes
from pipeline.compare.evidence import View
from pipeline.compare.links import Sides
from pipeline.model.columns.keys import distinct_keys, is_among

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
    own, other = (view.vantage[view.seen.paths.vantage] for view in (here, there))
    is_common, others_common = is_among(own, other), is_among(other, own)
    target = here.pair - own * n_targets
    measured, known = np.zeros((2, n_targets), bool)
    measured[target[is_common]] = True
    known[(there.pair - other * n_targets)[others_common]] = True
    only = measured & ~known
    n_here, n_there = int(measured.sum()), int(known.sum())
    if n_here - n_there <= MIN_TARGETS * n_here and np.count_nonzero(only) <= MOST_TARGETS * n_here:
        return make_changes(0, "targets", kind=kind)
    is_lost = is_common & only[target]
    pairs = distinct_keys(here.pair[is_lost])
    before, after = (n_here, n_there) if kind == LOST else (n_there, n_here)
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
