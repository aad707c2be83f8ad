"""Tasks to workers and results back, with all that may fail on the way."""
