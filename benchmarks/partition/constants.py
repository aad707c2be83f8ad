"""Numbers that ``partition.cu`` knows: those of ``lib.graphs.rmat``; 2 ** 32 is certainty."""

from __future__ import annotations

from benchmarks.lib.graphs import RMAT_CHANCES

FIRST, SECOND, THIRD = map(int, RMAT_CHANCES)
RMAT, ATTACHMENT, GRID, SCRAMBLED = range(4)  # kinds of graphs; RMAT of other numbers
CUT = int(0.1 * 2**32)  # of a grid's links
