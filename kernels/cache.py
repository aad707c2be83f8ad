"""What functions that numba compiles outside this package may ask of a processor's caches."""

from __future__ import annotations

from kernels._cpu.lanes import prefetch

__all__ = ["prefetch"]
