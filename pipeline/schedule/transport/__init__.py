"""Tasks to workers and results back, including all failures on the way."""
