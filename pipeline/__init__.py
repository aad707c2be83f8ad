"""From measurements to per-AS reports; knows ``kernels``, and only ``pipeline.schedule`` knows Dask."""

__version__ = "0.1.0"
