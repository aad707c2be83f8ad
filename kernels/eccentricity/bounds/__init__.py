"""Bounds of every eccentricity: what is open, what a search proves; runs no search."""
