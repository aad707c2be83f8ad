"""Dtypes and sentinels shared by all kernels; import these, never redefine them."""

from __future__ import annotations

import numpy as np

NODE = np.dtype(np.int32)  # node id, 0 .. n_nodes-1
OFFSET = np.dtype(np.int64)  # position in ``indices``; n_arcs may exceed 2**31
LEVEL = np.dtype(np.int32)  # hops from the source
WEIGHT = np.dtype(np.float32)
DISTANCE = np.dtype(np.float64)  # sums of weights
MARK = np.dtype(np.bool_)
UNREACHED = -1  # level or parent of a node that no path reaches
N_FARTHEST = 10  # nodes of the last level that a search reports, the smallest ids first
