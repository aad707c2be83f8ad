"""Results about eccentricities, in hops (int) or by weight (float), each component by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from kernels.arguments import as_index
from kernels.csr import CSRGraph, Shard
from kernels.errors import GraphError
from kernels.printed import Printed

Value = TypeVar("Value", int, float)


@dataclass(frozen=True, eq=False, repr=False)
class WidthResult(Printed, Generic[Value]):
    """The common part of all answers; ``component`` is the one that the answer describes.

    Attributes
    ----------
    component : int
        The largest component by nodes, named by its smallest node; of two equally large ones the
        one with the smaller name. -1: the graph has no nodes.
    n_searches : int
        Sources that were searched, over all components.
    exact : bool
        Whether the question is answered in every component. False only if ``max_searches`` were
        used up.
    lower, upper : int or float
        Bounds of the value, in the component; equal if it is known.
    components : (n_components,) int32, ascending
        Every component by its smallest node, as ``kernels.components`` names them.
    lowers, uppers : (n_components,) int32 or float64
        Bounds of the value, in each component.
    max_searches : int or None
        The limit that was given.
    """

    component: int
    n_searches: int
    exact: bool
    lower: Value
    upper: Value
    components: np.ndarray
    lowers: np.ndarray
    uppers: np.ndarray
    graph: CSRGraph = field(kw_only=True, repr=False)
    max_searches: int | None = field(default=None, kw_only=True, repr=False)

    def check(self) -> None:
        """Raise CheckError unless all of this is right, on the host.

        A diameter in hops is proven by a search from each node of its ``proof``. All else is found
        again by plain searches with bounds, which may take longer than finding it.
        """
        from kernels.eccentricity.check import check_widths

        check_widths(self)


@dataclass(frozen=True, eq=False, repr=False)
class DiameterResult(WidthResult[Value]):
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


@dataclass(frozen=True, eq=False, repr=False)
class RadiusResult(WidthResult[Value]):
    """The smallest eccentricity.

    Attributes
    ----------
    radius : int or float
        Of the component; if it is not ``exact``, the smallest known (``upper``).
    center : int
        A node that attains it, or if it is not ``exact``, of no larger eccentricity; -1 without
        nodes.
    """

    radius: Value
    center: int


@dataclass(frozen=True, eq=False, repr=False)
class CenterResult(WidthResult[Value]):
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


@dataclass(frozen=True, eq=False, repr=False)
class PeripheryResult(WidthResult[Value]):
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


@dataclass(frozen=True, eq=False)
class Proof:
    """Why no two nodes are farther apart: nodes only, distances are found again by the check.

    Attributes
    ----------
    sources : (n_sources,) int32
        Nodes that were searched, in all components.
    centres : (n_components,) int32
        Centre of the ball of each component, -1 for none.
    landmarks : (n_landmarks,) int32
        Nodes, of all components, by which pairs of others are near to one another.
    by_trees : bool
        Whether only a deepest node of each pendant tree is considered.
    """

    sources: np.ndarray
    centres: np.ndarray
    landmarks: np.ndarray
    by_trees: bool


@dataclass(frozen=True, eq=False, repr=False)
class Diameter(DiameterResult[int]):
    """The largest eccentricity, in hops; the path has diameter + 1 nodes.

    Attributes
    ----------
    proof : Proof
        What ``check.check_diameter`` needs.
    """

    proof: Proof = field(repr=False)


class Radius(RadiusResult[int]):
    """The smallest eccentricity, in hops."""


class Center(CenterResult[int]):
    """The nodes of smallest eccentricity, in hops."""


class Periphery(PeripheryResult[int]):
    """The nodes of largest eccentricity, in hops."""


@dataclass(frozen=True, eq=False, repr=False)
class ShardWidths(Printed):
    """Answers to several questions about every component of every graph of a shard.

    Hops as int32, or float64 in the unit of the weights. All arrays are on the host.

    Attributes
    ----------
    questions : tuple of str
        The questions asked, of ``questions.QUESTIONS``.
    exact : (n_components,) bool
        Whether all of them are answered. False only where ``max_searches`` were used up.
    component : (n_nodes,) int32
        Components by number, in the order of ``names``.
    names, size : (n_components,) int32
        Smallest node of each, ascending, in the shard's node ids; nodes.
    n_searches : (n_components,) int64
        Sources that were searched.
    diameter_lower, diameter_upper, radius_lower, radius_upper : (n_components,) int32 or float64
        Proven bounds, as tight as the searches made them.
    eccentricity : (n_nodes,) uint8, uint16, int32 or float64, or None
        If ``eccentricities`` was requested; right where ``exact``.
    is_center, is_periphery : (n_nodes,) bool or None
        If requested; each node within its own component; right where ``exact``.
    path_ptr : (n_graphs + 1,) int64 or None; path : int32 or None
        If ``diameter`` was requested, for each graph a shortest path in its largest component
        (of two equally large ones the one with the smaller name) as long as its ``diameter_lower``.
    shard : Shard, or by weight CSRGraph
        What was searched.
    max_searches : int or None
        The limit that was given, of each component.
    """

    questions: tuple[str, ...]
    exact: np.ndarray
    component: np.ndarray
    names: np.ndarray
    size: np.ndarray
    n_searches: np.ndarray
    diameter_lower: np.ndarray
    diameter_upper: np.ndarray
    radius_lower: np.ndarray
    radius_upper: np.ndarray
    eccentricity: np.ndarray | None
    is_center: np.ndarray | None
    is_periphery: np.ndarray | None
    path_ptr: np.ndarray | None
    path: np.ndarray | None
    shard: Shard | CSRGraph = field(repr=False)
    max_searches: int | None = field(default=None, repr=False)

    def check(self) -> None:
        """Raise CheckError unless all of this is right, on the host.

        All is found again by plain searches with bounds, which may take longer than finding it.
        """
        from kernels.eccentricity.check import check_shard_widths

        check_shard_widths(self)


def checked_limit(max_searches: Any) -> int | None:
    """The limit as an int; GraphError unless it is a whole number, 0 or more."""
    if max_searches is None:
        return None
    limit = as_index(max_searches)
    if limit is None or limit < 0:
        raise GraphError(
            f"max_searches is {max_searches!r}; give a whole number, 0 or more, "
            "or None for no limit"
        )
    return limit
