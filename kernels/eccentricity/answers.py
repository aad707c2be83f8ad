"""What answers about eccentricities have, whether in hops (int) or by weight (float)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

Value = TypeVar("Value", int, float)


@dataclass(frozen=True, eq=False)
class Answer(Generic[Value]):
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
    lower, upper : int or float
        Bounds of the value, in the component; equal if it is known.
    components : (n_components,) int32, ascending
        Every component by its smallest node, as ``kernels.components`` names them.
    lowers, uppers : (n_components,) int32 or float64
        Bounds of the value, in each component.
    """

    component: int
    n_searches: int
    exact: bool
    lower: Value
    upper: Value
    components: np.ndarray
    lowers: np.ndarray
    uppers: np.ndarray


@dataclass(frozen=True, eq=False)
class DiameterAnswer(Answer[Value]):
    """The largest eccentricity.

    Attributes
    ----------
    diameter : int or float
        Of the component; if it is not ``exact``, the largest known (``lower``).
    path : (n_path,) int32
        Nodes of a shortest path that long, in order; empty without nodes.
    """

    diameter: Value
    path: np.ndarray


@dataclass(frozen=True, eq=False)
class RadiusAnswer(Answer[Value]):
    """The smallest eccentricity.

    Attributes
    ----------
    radius : int or float
        Of the component; if it is not ``exact``, the smallest known (``upper``).
    center : int
        A node that attains it; -1 without nodes.
    """

    radius: Value
    center: int


@dataclass(frozen=True, eq=False)
class CenterAnswer(Answer[Value]):
    """The nodes of smallest eccentricity; lower and upper are bounds of the radius.

    Attributes
    ----------
    radius : int or float
    nodes : (n_center,) int32, ascending
        Of the component; if it is not ``exact``, those not yet excluded.
    is_center : (n_nodes,) bool
        The same for every node, each within its own component.
    """

    radius: Value
    nodes: np.ndarray
    is_center: np.ndarray


@dataclass(frozen=True, eq=False)
class PeripheryAnswer(Answer[Value]):
    """The nodes of largest eccentricity; lower and upper are bounds of the diameter.

    Attributes
    ----------
    diameter : int or float
    nodes : (n_periphery,) int32, ascending
        Of the component; if it is not ``exact``, those not yet excluded.
    is_periphery : (n_nodes,) bool
        The same for every node, each within its own component.
    """

    diameter: Value
    nodes: np.ndarray
    is_periphery: np.ndarray
