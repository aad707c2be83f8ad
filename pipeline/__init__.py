"""From measurements to per-AS reports; only ``pipeline.schedule`` uses Dask."""

import kernels  # noqa: F401  first of all: sets what numba compiles for, and where it keeps that

__version__ = "0.2.0.dev0"
