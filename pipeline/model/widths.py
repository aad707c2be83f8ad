"""How wide graphs are: eccentricities, diameter, radius, center and periphery, as columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.model.metrics import WidthMetric


@dataclass(frozen=True, eq=False)
class Widths:
    """Widths of some graphs, a row a graph; what travels back from a worker, and into reports.

    Values are in hops (int64), or in the unit of the weights (float64). They are about the largest
    component of each graph, of two as large the one with the smaller smallest node; the others are
    listed by the columns ``component_*``.

    Attributes
    ----------
    row : (n_graphs,) int64
        AS row of the snapshot, ascending.
    metrics : tuple of str
        What was asked for, of WIDTH_METRICS; what was not asked for may still be known.
    is_weighted : bool
    n_searches : (n_graphs,) int64
        Sources searched for all of it, over all components.
    component : (n_graphs,) int64
        Smallest node of the largest component; -1: the graph has no nodes.
    diameter_lower, diameter_upper, radius_lower, radius_upper : (n_graphs,) int64 or float64
        Proven bounds; equal where the value is exact. -1 where nothing is known.
    exact : (n_graphs,) bool
        Whether all that was asked for is known exactly, in every component.
    path_ptr : (n_graphs + 1,) int64; path : int32
        Nodes of a shortest path as long as ``diameter_lower``; empty where it was not asked for.
    center_ptr, periphery_ptr : (n_graphs + 1,) int64; center, periphery : int32
        Nodes of the largest component that attain radius and diameter, ascending; empty where
        that was not asked for or is not known exactly.
    count_ptr : (n_graphs + 1,) int64; counts : int64
        counts[count_ptr[i] + e]: nodes of the largest component with eccentricity e, where
        eccentricities were asked for and are exact; empty for weighted ones.
    eccentricity_ptr : (n_graphs + 1,) int64; eccentricity : uint8, uint16, int32 or float64
        Of every node within its own component, where eccentricities were asked for and are exact.
    component_ptr : (n_graphs + 1,) int64; component_id, component_size : int32;
    component_diameter, component_radius : int64 or float64
        Every component of two nodes or more: its smallest node, ascending, its nodes, its widths;
        -1 where a width is not known exactly.
    read_s : float
        Seconds that the task which made these waited for its graphs.
    """

    row: np.ndarray
    metrics: tuple[WidthMetric, ...]
    is_weighted: bool
    n_searches: np.ndarray
    component: np.ndarray
    diameter_lower: np.ndarray
    diameter_upper: np.ndarray
    radius_lower: np.ndarray
    radius_upper: np.ndarray
    exact: np.ndarray
    path_ptr: np.ndarray
    path: np.ndarray
    center_ptr: np.ndarray
    center: np.ndarray
    periphery_ptr: np.ndarray
    periphery: np.ndarray
    count_ptr: np.ndarray
    counts: np.ndarray
    eccentricity_ptr: np.ndarray
    eccentricity: np.ndarray
    component_ptr: np.ndarray
    component_id: np.ndarray
    component_size: np.ndarray
    component_diameter: np.ndarray
    component_radius: np.ndarray
    read_s: float = 0.0


@dataclass(frozen=True, eq=False)
class EffectiveDiameters:
    """Hops within which 90 % of all connected pairs of nodes lie, a row a graph.

    Attributes
    ----------
    row : (n_graphs,) int64
    value : (n_graphs,) float64
        Interpolated between whole hops (Leskovec et al., KDD 2005); NaN: no connected pair.
    is_estimated : (n_graphs,) bool
        Whether from some sources only, not from all.
    error : (n_graphs,) float64
        Standard error of an estimated value, hops; 0 where all pairs were counted.
    n_searches : (n_graphs,) int64
    read_s : float
    """

    row: np.ndarray
    value: np.ndarray
    is_estimated: np.ndarray
    error: np.ndarray
    n_searches: np.ndarray
    read_s: float = 0.0
