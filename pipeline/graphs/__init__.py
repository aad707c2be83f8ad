"""Topologies to one graph per AS."""

from pipeline.graphs.build import build_graphs
from pipeline.graphs.combine import asns_of

__all__ = ["asns_of", "build_graphs"]
