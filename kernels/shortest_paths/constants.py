"""Numbers that Python and ``shortest_paths.cu`` both know; handed to its compiler by -D."""

from __future__ import annotations

CONTROL = 28  # int32 words kept for struct Control
AT_FARTHEST, AT_IS_INVALID, AT_N_REACHED = 8, 13, 14  # words of it that come home; the first is two
TREE_CONTROL = 6  # int32 words kept for struct TreeControl
