"""What searches from many nodes found, whether on one graph, a shard or the parts of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.printed import Printed


@dataclass(frozen=True, eq=False, repr=False)
class SourceRows(Printed):
    """One row per source in the order given; on the host.

    Attributes
    ----------
    hop_ptr : (n_sources + 1,) int64; hop_counts : (hop_ptr[-1],) int64
        hop_counts[hop_ptr[i] + h] nodes lie at h hops of source i.
    eccentricity : (n_sources,) int32; n_reached : (n_sources,) int64
    farthest_ptr : (n_sources + 1,) int64; farthest : (farthest_ptr[-1],) int32
        Up to 10 smallest nodes of the last level, ascending, in the ids of the graph.
    """

    hop_ptr: np.ndarray
    hop_counts: np.ndarray
    eccentricity: np.ndarray
    n_reached: np.ndarray
    farthest_ptr: np.ndarray
    farthest: np.ndarray
