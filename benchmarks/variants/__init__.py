"""Searches as papers compare them, separate from the fast path: benchmarks only.

``choices`` names them and needs no GPU; ``gpu`` places the lists and searches.
"""
