"""Numbers that Python and ``bidirectional.cu`` both know; handed to its compiler by -D."""

from __future__ import annotations

from kernels.shortest_paths.constants import CONTROL

__all__ = ["CONTROL", "HOPS", "INVALID_WEIGHT", "LOST"]

HOPS = 7  # place of the number of hops in the state of a search by hops
INVALID_WEIGHT, LOST = 1, 2  # faults of a search by weight
