"""Answers about weighted eccentricities; in the unit of the weights, each component by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class _Answer:
    """What all answers have; ``component`` is the component that the answer itself is about.

    Attributes
    ----------
    component : int
        The largest component by nodes, named by its smallest node; of two as large the one with
        the smaller name. -1: the graph has no nodes.
    n_searches : int
        Sources that were searched, over all components.
    exact : bool
        Whether the question is answered in every component. False only if the number of searches
        was limited.
    lower, upper : float
        Bounds of the value, in the component; equal if it is known.
    components : (n_components,) int32, ascending
        Every component by its smallest node, as ``kernels.components`` names them.
    lowers, uppers : (n_components,) float64
        Bounds of the value, in each component.
    """

    component: int
    n_searches: int
    exact: bool
    lower: float
    upper: float
    components: np.ndarray
    lowers: np.ndarray
    uppers: np.ndarray


@dataclass(frozen=True, eq=False)
class WeightedDiameter(_Answer):
    """The largest eccentricity.

    Attributes
    ----------
    diameter : float
        Of the component; if it is not ``exact``, the largest known (``lower``).
    path : (n_path,) int32
        Nodes of a shortest path that long, in order; its weights, added in this order, are the
        diameter to the bit. Empty without nodes or without a search.
    """

    diameter: float
    path: np.ndarray


@dataclass(frozen=True, eq=False)
class WeightedRadius(_Answer):
    """The smallest eccentricity.

    Attributes
    ----------
    radius : float
        Of the component; if it is not ``exact``, the smallest known (``upper``).
    center : int
        A node that attains it; -1 without nodes.
    """

    radius: float
    center: int


@dataclass(frozen=True, eq=False)
class WeightedCenter(_Answer):
    """The nodes of smallest eccentricity; lower and upper are bounds of the radius.

    Attributes
    ----------
    radius : float
    nodes : (n_center,) int32, ascending
        Of the component; if it is not ``exact``, those not yet excluded.
    is_center : (n_nodes,) bool
        The same for every node, each within its own component.
    """

    radius: float
    nodes: np.ndarray
    is_center: np.ndarray


@dataclass(frozen=True, eq=False)
class WeightedPeriphery(_Answer):
    """The nodes of largest eccentricity; lower and upper are bounds of the diameter.

    Attributes
    ----------
    diameter : float
    nodes : (n_periphery,) int32, ascending
        Of the component; if it is not ``exact``, those not yet excluded.
    is_periphery : (n_nodes,) bool
        The same for every node, each within its own component.
    """

    diameter: float
    nodes: np.ndarray
    is_periphery: np.ndarray
