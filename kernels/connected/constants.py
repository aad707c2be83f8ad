"""Numbers that Python and ``connected.cu`` know; the loader hands them to the compiler by -D."""

from __future__ import annotations

SAMPLE = 256  # nodes whose labels show which part is the largest
