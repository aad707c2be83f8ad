"""Numbers that ``sweep.cu`` knows too; see ``steps``."""

from __future__ import annotations

from kernels.types import N_FARTHEST

__all__ = ["ARCS_AT", "HEAD", "LANES_AT", "LISTED_AT", "NODES_AT", "N_FARTHEST", "UNIT"]

# Places in a message: nodes of a frontier, their arcs, nodes of each lane, how many are listed.
NODES_AT, ARCS_AT, LANES_AT, LISTED_AT = 0, 1, 2, 66
HEAD = 80  # int64 before its list, so that it begins at a whole line of 128 bytes
UNIT = 2048  # nodes that are looked at together for farthest ones
