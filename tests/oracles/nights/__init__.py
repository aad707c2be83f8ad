"""Synthetic nights with planted changes, and what a comparison finds of them."""
