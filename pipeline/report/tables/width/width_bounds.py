"""Bounds of widths from searches from ingresses, which give eccentricities too, and from sizes.

Let v be a node of a connected component with n nodes, diameter D, radius R, and e its eccentricity.
Then

    e <= D          D is the largest eccentricity
    R <= e          R is the least one
    D <= 2 R        any two nodes are joined through a node of the center
    (D + 1) // 2 <= R
    D <= n - 1      a shortest path has no node twice
    R <= n // 2     in a spanning tree distances are no shorter, and the middle of its longest path,
                    of n nodes at most, is at most half of it from every node

and any interval around D or R may be narrowed by this. An ingress counts only if it is known to lie
in the largest component: its search reached the number of nodes that one has, and no other
component is as large. By weight none of the last two holds: a link may weigh anything.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pipeline.model.columns.ragged import row_of_value
from pipeline.model.search.results import SearchResults, Widths


def with_searches(widths: Widths, results: SearchResults) -> Widths:
    """Widths in hops, their bounds tightened by searches from ingresses, sizes and one another.

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
        than ``diameter_lower`` now. ``exact`` where all that was requested is known now.

    Notes
    -----
    O(searches + components) time and memory.
    """
    if widths.is_weighted or len(widths.row) == 0:
        return widths
    size = _sizes(widths)
    least, most = _eccentricities(widths, results, size)
    diameter_lower = np.maximum(widths.diameter_lower, most)
    radius_upper = _at_most(_least(widths.radius_upper, least), size // 2, size)
    radius_upper = _least(radius_upper, widths.diameter_upper)
    doubled = np.where(radius_upper < 0, -1, 2 * radius_upper)
    diameter_upper = _least(widths.diameter_upper, doubled)
    halved = np.where(diameter_lower < 0, -1, (diameter_lower + 1) // 2)
    tightened = replace(
        widths,
        diameter_lower=np.maximum(diameter_lower, widths.radius_lower),
        diameter_upper=_at_most(diameter_upper, size - 1, size),
        radius_lower=np.maximum(widths.radius_lower, halved),
        radius_upper=radius_upper,
    )
    return with_exact(tightened)


def bounds_of(least: int, most: int, n_nodes: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Bounds of the diameter, then of the radius, of a connected graph of two nodes or more.

    Parameters
    ----------
    least, most : int
        Of the eccentricities that are known, one at least.
    n_nodes : int
    """
    diameter = most, min(2 * least, n_nodes - 1)
    return diameter, ((most + 1) // 2, min(least, n_nodes // 2))


def with_exact(widths: Widths) -> Widths:
    """The same, with values reported as exact that the bounds prove.

    ``exact`` where all that was requested is known: lists, and widths of every component.
    """
    graph = row_of_value(widths.component_ptr)
    is_largest = widths.component_id == widths.component[graph]
    n_graphs = len(widths.row)
    columns, is_known = {}, {}
    for name in ("diameter", "radius"):
        lower, upper = getattr(widths, f"{name}_lower"), getattr(widths, f"{name}_upper")
        met = (lower == upper) & (lower >= 0)
        columns[name] = getattr(widths, f"component_{name}").copy()
        shown = is_largest & met[graph]
        columns[name][shown] = lower[graph[shown]]
        n_open = np.bincount(graph[columns[name] < 0], minlength=n_graphs)
        is_known[name] = met & (n_open == 0)
    is_known["center"] = is_known["radius"] & (np.diff(widths.center_ptr) > 0)
    is_known["periphery"] = is_known["diameter"] & (np.diff(widths.periphery_ptr) > 0)
    is_known["eccentricities"] = np.diff(widths.eccentricity_ptr) > 0
    exact = np.logical_and.reduce([is_known[name] for name in widths.metrics])
    return replace(
        widths,
        exact=widths.exact | exact,
        component_diameter=columns["diameter"],
        component_radius=columns["radius"],
    )


def _least(upper: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The smaller of two upper bounds; -1 where there is none."""
    return np.where(upper < 0, other, np.where(other < 0, upper, np.minimum(upper, other)))


def _at_most(upper: np.ndarray, limit: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Upper bounds, -1 where there is none, no higher than a limit; only where sizes are known."""
    return np.where((upper >= 0) & (size > 0), np.minimum(upper, limit), upper)


def _sizes(widths: Widths) -> np.ndarray:
    """(n_graphs,) int64: nodes of the largest component; 0 where it is in no list.

    Such a one has no node or one, and is exact; or nothing at all is known of the graph.
    """
    size = np.zeros(len(widths.row), np.int64)
    np.maximum.at(size, row_of_value(widths.component_ptr), widths.component_size)
    return size


def _eccentricities(
    widths: Widths, results: SearchResults, size: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest that searches found in the largest component of each graph; else -1."""
    n_graphs = len(widths.row)
    graph = row_of_value(widths.component_ptr)
    is_alone = np.bincount(graph[widths.component_size == size[graph]], minlength=n_graphs) == 1
    at = np.minimum(np.searchsorted(widths.row, results.row), n_graphs - 1)
    inside = (widths.row[at] == results.row) & is_alone[at] & (results.n_reached == size[at])
    at, found = at[inside], results.eccentricity[inside].astype(np.int64)
    most = np.full(n_graphs, -1, np.int64)
    np.maximum.at(most, at, found)
    least = np.where(most >= 0, np.iinfo(np.int64).max, -1)
    np.minimum.at(least, at, found)
    return least, most
