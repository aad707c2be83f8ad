"""Drawings of the graphs of ASes, in layers by hops."""
