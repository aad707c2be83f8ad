"""Numbers that Python and ``breadth_first.cu`` both know; handed to its compiler by -D."""

from __future__ import annotations

CONTROL = 36  # int32 words kept for struct Control
AT_DEPTH, AT_N_REACHED = 3, 4  # words of it that are copied to the host
# Threads per block, of which a multiprocessor has one in a small graph, else two: more threads are
# worth fewer registers for each there.
SMALL_BLOCK, LARGE_BLOCK = 896, 640
NARROW_DEGREE = 8  # most arcs of each node, on average, in a level that one block searches
