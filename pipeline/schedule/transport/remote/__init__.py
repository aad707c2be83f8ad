"""To the workers of a Dask cluster and back."""
