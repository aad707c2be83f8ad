"""Prefetching and costs of steps that the bit-parallel sweeps of whole graphs on one core share.

``multi_source.cpu.steps`` counts by lane and runs on several cores: its costs are its own.
"""

from __future__ import annotations

import numpy as np

AHEAD = np.uintp(64)  # arcs between asking for a row and using it
SOME_ARCS = np.uintp(8)  # after this many a node looks whether it has every lane
# A top-down arc reads and writes two rows; a bottom-up step looks at all nodes that miss a lane.
TOP_DOWN_ARC, BOTTOM_UP_ARC, BOTTOM_UP_NODE = 4, 1, 2
DENSE = 4  # a step asks no neighbour whether it changed once every DENSE-th node did
