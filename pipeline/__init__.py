"""From measurements to per-AS reports; only ``pipeline.schedule`` knows Dask."""

__version__ = "0.1.0"
