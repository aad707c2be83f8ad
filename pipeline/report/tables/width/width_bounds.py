"""Bounds of widths from searches from ingresses, which give eccentricities too.

Let v be a node of a connected component with diameter D, radius R, and e its eccentricity. Then

    e <= D          D is the largest eccentricity
    R <= e          R is the least one
    D <= 2 R        any two nodes are joined through a node of the center
    (D + 1) // 2 <= R

and any interval around D or R may be narrowed by this. An ingress counts only if it is known to lie
in the largest component: its search reached the number of nodes that one has, and no other
component is as large.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pipeline.model.columns.ragged import row_of_value
from pipeline.model.search.results import SearchResults, Widths


def with_searches(widths: Widths, results: SearchResults) -> Widths:
    """Widths in hops, their bounds tightened by searches from ingresses of the same graphs.

    Parameters
    ----------
    widths : Widths
        Not weighted.
    results : SearchResults
        Of any graphs, in any order.

    Returns
    -------
    Widths
        Paths, centers, peripheries and eccentricities are as they were: a path may be shorter
        than ``diameter_lower`` now. ``exact`` where diameter and radius alone were requested and
        both bounds have met.

    Notes
    -----
    O(searches + components) time and memory.
    """
    if widths.is_weighted or len(widths.row) == 0:
        return widths
    least, most = _eccentricities(widths, results)
    seen = most >= 0
    if not seen.any():
        return widths
    diameter_lower = np.where(seen, np.maximum(widths.diameter_lower, most), widths.diameter_lower)
    radius_upper = np.where(seen, _least(widths.radius_upper, least), widths.radius_upper)
    halved = (diameter_lower + 1) // 2
    radius_lower = np.where(seen, np.maximum(widths.radius_lower, halved), widths.radius_lower)
    doubled = _least(widths.diameter_upper, 2 * radius_upper)
    tightened = replace(
        widths,
        diameter_lower=diameter_lower,
        diameter_upper=np.where(seen, doubled, widths.diameter_upper),
        radius_lower=radius_lower,
        radius_upper=radius_upper,
    )
    return _with_exact(tightened)


def _least(upper: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The smaller of two upper bounds; the first is -1 where there is none."""
    return np.where(upper < 0, other, np.minimum(upper, other))


def _eccentricities(widths: Widths, results: SearchResults) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest that searches found in the largest component of each graph; else -1."""
    n_graphs = len(widths.row)
    graph = row_of_value(widths.component_ptr)
    size = np.zeros(n_graphs, np.int64)  # a largest component of one node is in no list, and exact
    np.maximum.at(size, graph, widths.component_size)
    is_alone = np.bincount(graph[widths.component_size == size[graph]], minlength=n_graphs) == 1
    at = np.minimum(np.searchsorted(widths.row, results.row), n_graphs - 1)
    inside = (widths.row[at] == results.row) & is_alone[at] & (results.n_reached == size[at])
    at, found = at[inside], results.eccentricity[inside].astype(np.int64)
    most = np.full(n_graphs, -1, np.int64)
    np.maximum.at(most, at, found)
    least = np.where(most >= 0, np.iinfo(np.int64).max, -1)
    np.minimum.at(least, at, found)
    return least, most


def _with_exact(widths: Widths) -> Widths:
    """The same, with values reported as exact that the bounds now prove."""
    graph = row_of_value(widths.component_ptr)
    is_largest = widths.component_id == widths.component[graph]
    n_graphs = len(widths.row)
    exact = np.full(n_graphs, set(widths.metrics) <= {"diameter", "radius"})
    columns = {}
    for name in ("diameter", "radius"):
        lower, upper = getattr(widths, f"{name}_lower"), getattr(widths, f"{name}_upper")
        met = (lower == upper) & (lower >= 0)
        columns[name] = getattr(widths, f"component_{name}").copy()
        is_known = is_largest & met[graph]
        columns[name][is_known] = lower[graph[is_known]]
        if name in widths.metrics:
            n_open = np.bincount(graph[columns[name] < 0], minlength=n_graphs)
            exact &= met & (n_open == 0)
    return replace(
        widths,
        exact=widths.exact | exact,
        component_diameter=columns["diameter"],
        component_radius=columns["radius"],
    )
