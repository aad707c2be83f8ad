"""Searches as papers compare them, beside the fast path and apart from it: benchmarks only.

``choices`` names them and needs no GPU; ``gpu`` places the lists and searches.
"""
