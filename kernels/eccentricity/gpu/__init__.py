"""Exact eccentricities on one GPU: searches, bounds and choices stay on the device."""
