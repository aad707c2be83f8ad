"""Nights of a store: opened to be compared, their references, and which are kept."""
