"""Numbers that Python and ``breadth_first.cu`` both know; handed to its compiler by -D."""

from __future__ import annotations

CONTROL = 24  # int32 words kept for struct Control
AT_DEPTH, AT_N_REACHED = 3, 4  # words of it that are copied to the host
