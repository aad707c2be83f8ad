"""Building and launching device code; the only place that knows how."""
