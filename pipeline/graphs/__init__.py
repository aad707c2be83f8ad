"""Topologies to one graph an AS."""

from pipeline.graphs.build import build_graphs

__all__ = ["build_graphs"]
