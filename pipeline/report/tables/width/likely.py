"""Ranges in which the widths of a whole AS probably lie, where traces show a part of it.

A graph of traces lacks routers and links that no trace crossed: without the routers an AS looks
narrower, without the links wider. In networks of known truth diameter and radius of the graph equal
those of the AS in about two thirds of ASes. Two lines hold what the others are: from the width d
that was measured and the number n of nodes, the range is

    low + slope d   to   high + slope d + growth log2(n / 4), the last where n exceeds 4,

each rounded to the nearest hop, and holds the truth in nine of ten ASes. That is quantile
regression [1]_: each line has one twentieth of ASes beyond it, each kind of network counting as
much as any other. Kinds that were left out are held as well (docs/accuracy.md). Real networks have
no known truth.

References
----------
.. [1] R. Koenker and G. Bassett, "Regression quantiles", Econometrica 46, 1978.
"""

from __future__ import annotations

import numpy as np

SHARE = 0.9  # of ASes, that ranges hold
_FEW = 4  # nodes from which on more of them widen the range

# (low, slope, 0) and (high, slope, growth); ``python -m tests.oracles.truth.fit_widths --into FILE
# KIND...`` writes the lines from here on.
LINES = {
    "diameter": ((0.0, 0.5, 0.0), (2.0, 0.5, 0.5)),
    "radius": ((0.0, 0.5, 0.0), (1.31, 0.69, 0.27)),
}


def features(measured: np.ndarray, n_nodes: np.ndarray) -> np.ndarray:
    """(n, 3) float64: what lines are sums of.

    Parameters
    ----------
    measured : (n,) int64
        Diameter or radius in hops.
    n_nodes : (n,) int64
        Of the AS, at least 1.
    """
    more = np.log2(np.maximum(n_nodes, _FEW) / _FEW)
    return np.column_stack([np.ones(len(measured)), measured, more])


def likely(
    name: str, lower: np.ndarray, upper: np.ndarray, n_nodes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest width that the whole AS probably has.

    Parameters
    ----------
    name : str
        ``"diameter"`` or ``"radius"``.
    lower, upper : (n,) int64
        Proven bounds of that of the graph; equal where it is known.
    n_nodes : (n,) int64

    Returns
    -------
    low, high : (n,) int64
    """
    line = LINES[name]
    low = np.floor(features(lower, n_nodes) @ line[0] + 0.5).astype(np.int64)
    high = np.ceil(features(upper, n_nodes) @ line[1] - 0.5).astype(np.int64)
    low = np.maximum(low, 0)
    return low, np.maximum(high, low)
