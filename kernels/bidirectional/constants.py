"""Numbers that Python and ``bidirectional.cu`` both know; handed to its compiler by -D."""

from __future__ import annotations

from kernels.shortest_paths.constants import CONTROL

__all__ = ["CONTROL"]
