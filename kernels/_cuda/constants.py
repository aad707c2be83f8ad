"""Numbers that Python and all device code know; the loader hands them to the compiler by -D."""

from __future__ import annotations

from kernels.types import UNREACHED

__all__ = ["COOPERATIVE_BLOCK", "SEGMENT", "UNREACHED", "WARP"]

WARP = 32  # threads
# Threads per block of kernels with barriers of the whole grid: few, large blocks make cheap ones.
COOPERATIVE_BLOCK = 448
# From this degree on a node is a hub: its arcs are cut into segments of this size, one per warp, so
# that a node with a million neighbours is the work of four thousand warps.
SEGMENT = 256
