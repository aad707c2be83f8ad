"""Numbers that Python and ``shortest_paths.cu`` both know; handed to its compiler by -D."""

from __future__ import annotations

CONTROL = 28  # int32 words kept for struct Control
# Words of it that are copied to the host; the first is two.
AT_FARTHEST, AT_IS_INVALID, AT_N_REACHED = 8, 13, 14
TREE_CONTROL = 6  # int32 words kept for struct TreeControl
