"""The diameter of a connected graph by few searches, whose distance rows are kept.

After searches from s_1 .. s_k let L be the longest distance found. Any node z bounds the distance
of every pair: d(x, y) <= d(x, z) + d(z, y) (Potamias et al.: Fast shortest path distance estimation
in large networks, CIKM 2009). So L is the diameter if, for every pair x, y, some s_i has d(s_i, x)
+ d(s_i, y) <= L, or x or y has an eccentricity of at most L by the triangle inequality (Takes,
Kosters, CIKM 2011). Taking for s_i the one centre c alone is winnowing: see ``bounds``.

Searches alternate: from a *far* node x, of a pair that is left, which makes all distances of x
known; then from a *central* one, on a shortest path from x to the farthest node y that is left for
x. That d(x, y) <= L is known by now, but not why: any node z of the path has
d(x, z) + d(z, y) = d(x, y) <= L, and keeps neighbours of x and y near to one another too. Of the
nodes of the path, the one whose eccentricity may be smallest is taken. On hierarchies of ASes,
road-like and router graphs this takes 3 to 25 searches where choosing by bounds alone takes ten
times as many.

The remaining pairs are listed, by all kept searches, only once that takes a fraction of the time
that searches took so far; as long as they are too many for that, further searches leave fewer.

On short graphs often only a few dozen nodes lie outside the ball around the centre after two
searches. Sweeps from all of those end it (``farthest``): one takes as long as four searches.

If it takes too long, what was found is handed over: to sweeps from every node where all of them
cost less than the beginning of the general solver, else to that. The answer is exact either way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.breadth_first.cpu_bytes import CACHED_NODES
from kernels.csr import CSRGraph
from kernels.eccentricity.reductions.row_searches import (
    ANSWERED,
    IN_PIECES,
    LEFT_TO_SWEEP,
    SEARCH_NS_ARC,
    SEARCH_NS_NODE,
    TOO_LONG,
    WITH_PAIRS,
    run,
    walk,
)
from kernels.types import NODE

N_KEPT = 64  # searches: one byte per node each
MOST_ENDS = 1024  # that are swept from


@dataclass(frozen=True, eq=False)
class Kept:
    """Results of the search with distance rows.

    Attributes
    ----------
    is_answered : bool
        Whether the longest distance found is the diameter.
    is_to_sweep : bool
        Whether sweeping from every node costs least now.
    sources : (n_searches,) int32
    ends : (n_ends,) int32
        Nodes from which sweeps were made: none is farther from any node than the length of the
        path.
    centre : int
        The one of ``sources`` that by itself keeps the most pairs near.
    lower, upper : (n_nodes,) uint8 or uint16
        Bounds of eccentricities, equal at the sources.
    level : (n_nodes,) uint8 or uint16
        From the centre.
    path : (longest + 1,) int32
        A shortest path of the longest distance found.
    pairs, apart : (2, n_pairs) int32, (n_pairs,) int32, or None
        Pairs that may be farther apart, and their upper bounds; None: not known.
    spent_ns : float
        Estimated cost of all this, by the searches made.
    """

    is_answered: bool
    is_to_sweep: bool
    sources: np.ndarray
    ends: np.ndarray
    centre: int
    lower: np.ndarray
    upper: np.ndarray
    level: np.ndarray
    path: np.ndarray
    pairs: np.ndarray | None
    apart: np.ndarray | None
    spent_ns: float


def search_keeping(graph: CSRGraph, sweeps: bool = True) -> Kept | None:
    """Search until the diameter is known or another method is likely to be faster.

    Parameters
    ----------
    graph : CSRGraph
    sweeps : bool
        Whether sweeps may be made.

    Returns
    -------
    Kept or None
        None for a graph in several pieces, with more than CACHED_NODES nodes or none, or too long
        for levels of two bytes.
    """
    n_nodes = graph.n_nodes
    if n_nodes == 0 or n_nodes > CACHED_NODES:
        return None
    for kind in (np.uint8, np.uint16):
        levels = np.empty((N_KEPT, n_nodes), kind)
        lower, upper = np.empty((2, n_nodes), kind)
        sources, ends = np.empty(N_KEPT, NODE), np.empty(MOST_ENDS if sweeps else 0, NODE)
        end = run(graph.indptr, graph.indices, levels, lower, upper, sources, ends)
        if end.outcome == IN_PIECES:
            return None
        if end.outcome != TOO_LONG:
            search_ns = SEARCH_NS_ARC * graph.n_arcs + SEARCH_NS_NODE * n_nodes
            pairs = apart = None
            if (n := end.n_pairs) > 0:  # 0: answered; less: not known
                pairs, apart = np.stack([end.first[:n], end.second[:n]]), end.apart[:n]
            return Kept(
                is_answered=end.outcome == ANSWERED,
                is_to_sweep=end.outcome == LEFT_TO_SWEEP,
                sources=sources[: end.n_searches],
                ends=ends[: end.n_ends],
                centre=end.centre,
                lower=lower,
                upper=upper,
                level=levels[end.centre],
                path=walk(graph.indptr, graph.indices, levels[end.best]),
                pairs=pairs,
                apart=apart,
                spent_ns=WITH_PAIRS * search_ns * end.n_searches,
            )
    return None
