"""Prefetching and costs of steps that the bit-parallel sweeps of whole graphs on one core share.

``multi_source.cpu.steps`` counts by lane and runs on several cores: its costs are its own.
"""

from __future__ import annotations

import numpy as np

AHEAD = np.uintp(64)  # arcs between prefetching a row and using it
SOME_ARCS = np.uintp(8)  # after this many arcs a node checks whether it has every lane
# A top-down arc reads and writes two rows; a bottom-up step looks at all nodes that lack a lane.
TOP_DOWN_ARC, BOTTOM_UP_ARC, BOTTOM_UP_NODE = 4, 1, 2
DENSE = 4  # once one node in DENSE changed, a step does not check which neighbours did
