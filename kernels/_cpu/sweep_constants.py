"""Prefetching and costs that the steps of bit-parallel sweeps on cores share.

The steps are written three times, in ``near_steps``, ``multi_source.cpu.steps`` and
``eccentricity.searches.sweep_steps``. Their loops over arcs are alike, but one function for them,
whether inlined by numba or called, makes all of these sweeps slower by far more than 3 %.
``multi_source.cpu.steps`` counts by lane and runs on several cores: its costs are its own.
"""

from __future__ import annotations

import numpy as np

# Arcs between prefetching a row and using it: 0 takes 2.5 times as long, 16 1.2 times.
AHEAD = np.uintp(64)
SOME_ARCS = np.uintp(8)  # after this many arcs a node checks whether it has every lane
# A top-down arc reads and writes two rows; a bottom-up step looks at all nodes that lack a lane.
TOP_DOWN_ARC, BOTTOM_UP_ARC, BOTTOM_UP_NODE = 4, 1, 2
# What sums of distances keep of each node: the distances to it, their inverses in 1 / UNIT, whole
# numbers whose sums do not depend on the order, and of how many sources these are.
FAR, NEAR, HITS, N_SUMS = 0, 1, 2, 3
UNIT = 232_792_560 << 12  # below 2**40; 1 / h is exact up to h = 20
DENSE = 4  # once one node in DENSE changed, a step does not check which neighbours did
