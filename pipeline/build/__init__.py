"""Topologies to one graph an AS."""

from pipeline.build.graphs import build_graphs

__all__ = ["build_graphs"]
