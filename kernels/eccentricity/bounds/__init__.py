"""Bounds of every eccentricity: what is still open, and what a search proves; runs no search."""
