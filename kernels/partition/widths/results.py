"""What ranks know about the widths of a graph in parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class PartWidths:
    """Answers to several questions about every component; hops.

    The same on all ranks, except what is said to be the rank's own; on the host. Nodes are by the
    graph's own numbers.

    Attributes
    ----------
    questions : tuple of str
        Of ``eccentricity.questions.QUESTIONS``.
    names, size : (n_components,) int32 and int64
        Smallest node of each component, ascending, and how many it has.
    largest : int
        Number of the largest component; the first of two equally large ones.
    exact : (n_components,) bool
        Whether all questions are answered. False only if the number of searches was limited.
    n_searches : (n_components,) int64
        Sources that were searched.
    diameter_lower, diameter_upper, radius_lower, radius_upper : (n_components,) int32
        Proven bounds, as tight as the searches made them.
    path : (n_path,) int32 or None
        Where ``diameter`` was asked, a shortest path in the largest component, as long as its
        ``diameter_lower``; certified.
    nodes : (n_own,) int32
        Own nodes, ascending, as the following.
    component : (n_own,) int32
        By number.
    eccentricity : (n_own,) int32 or None
        If requested; right where ``exact``.
    is_center, is_periphery : (n_own,) bool or None
        If requested; right where ``exact``.
    """

    questions: tuple[str, ...]
    names: np.ndarray
    size: np.ndarray
    largest: int
    exact: np.ndarray
    n_searches: np.ndarray
    diameter_lower: np.ndarray
    diameter_upper: np.ndarray
    radius_lower: np.ndarray
    radius_upper: np.ndarray
    path: np.ndarray | None
    nodes: np.ndarray
    component: np.ndarray
    eccentricity: np.ndarray | None
    is_center: np.ndarray | None
    is_periphery: np.ndarray | None
