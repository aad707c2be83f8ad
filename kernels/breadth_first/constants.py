"""Numbers that Python and ``breadth_first.cu`` both know; handed to its compiler by -D."""

from __future__ import annotations

CONTROL = 56  # int32 words kept for struct Control
AT_DEPTH, AT_N_REACHED, AT_IS_LEFT = 3, 4, 5  # words of it that are read on the host
# Threads per block, of which a multiprocessor has one in a small graph, else two: more threads are
# worth fewer registers for each there.
SMALL_BLOCK, LARGE_BLOCK = 896, 640
NARROW_DEGREE = 8  # most arcs of each node, on average, in a level that one block searches
CLUSTER = 8  # blocks of it; all GPUs that have clusters have these
CLUSTER_BLOCK = 512  # threads of each
CLUSTER_ROOM = 64  # nodes that a block keeps of each other one
