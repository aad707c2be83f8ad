"""Numbers that ``partition.cu`` knows: those of ``lib.graphs.rmat``; 2 ** 32 is certainty."""

from __future__ import annotations

FIRST, SECOND, THIRD = (int(share * 2**32) for share in (0.57, 0.57 + 0.19, 0.57 + 0.19 + 0.19))
