"""Packages whose versions reports and ``hopscope doctor`` name, as package indexes know them."""

PACKAGES = ("numpy", "numba", "pyarrow", "dask", "distributed")
GPU_PACKAGES = ("dask-cuda", "cupy-cuda13x")
