"""From measurements to per-AS reports; only ``pipeline.schedule`` uses Dask."""

from pipeline.processes.compiled import use_compile_cache

__version__ = "0.1.0"

use_compile_cache()
