"""Diameter, radius, center, periphery and eccentricities of a graph in parts."""

from __future__ import annotations

from kernels.partition.widths.bounds import Searches, part_widths
from kernels.partition.widths.results import PartWidths

__all__ = ["PartWidths", "Searches", "part_widths"]
