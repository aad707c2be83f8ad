"""Building and launching device code."""
