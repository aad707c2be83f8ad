"""Numbers that Python and ``multi_source.cu`` both know; handed to its compiler by -D."""

from __future__ import annotations

from kernels.types import N_FARTHEST

__all__ = ["AT_DEPTH", "AT_IS_ENDED", "CONTROL", "N_FARTHEST"]

CONTROL = 32  # int32 words kept for struct Control
AT_DEPTH, AT_IS_ENDED = 3, 4  # words of it that are copied to the host
