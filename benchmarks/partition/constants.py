"""Numbers that ``partition.cu`` knows: those of ``lib.graphs.rmat``; 2 ** 32 is certainty."""

from __future__ import annotations

from benchmarks.lib.graphs import RMAT_CHANCES

FIRST, SECOND, THIRD = map(int, RMAT_CHANCES)
