"""Searches of a whole run on GPUs and cores; the only code that uses Dask."""
