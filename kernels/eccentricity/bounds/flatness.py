"""Whether bounds close anything: as the first searches show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernels.eccentricity.bounds.bounds import EccentricityBounds
from kernels.eccentricity.thresholds import Thresholds


def closes_little(
    bounds: EccentricityBounds, searched: Sequence[np.ndarray], thresholds: Thresholds
) -> bool:
    """Whether the first searches closed only their own sources, of nearly equal eccentricities.

    A search from s proves e(s) + d of a node d hops away: this can close only nodes at most
    D - R away, D and R being the largest and the smallest eccentricity. If the likeliest ends
    and the likeliest centres differ by at most one hop, nearly every node needs its own search,
    and choosing the next one is wasted time.

    Parameters
    ----------
    bounds : EccentricityBounds
    searched : sequence of (n,) int32
        An empty array, then the sources of each search so far.
    thresholds : Thresholds
        ``n_first`` searches show it; False before, and after twice as many.
    """
    n_first = thresholds.n_first
    if not n_first <= len(searched) - 1 <= 2 * n_first:
        return False
    sources = np.concatenate(searched)
    own = bounds.component[sources]
    numbers = bounds.open_components()
    n_own = np.bincount(own, minlength=len(bounds.size))[numbers]
    if not len(numbers) or not (n_first <= n_own.min() <= n_own.max() <= 2 * n_first):
        return False
    least = np.full(len(bounds.size), np.iinfo(np.int32).max, np.int32)
    most = np.zeros(len(bounds.size), np.int32)
    np.minimum.at(least, own, bounds.lower[sources])
    np.maximum.at(most, own, bounds.lower[sources])
    is_wide = (most - least)[numbers].max() > 1
    return not is_wide and bounds.size[numbers].sum() - n_own.sum() == len(bounds.open_nodes())
