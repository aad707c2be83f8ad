"""Answers about eccentricities; hops, each component by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.eccentricity.answers import (
    CenterAnswer,
    DiameterAnswer,
    PeripheryAnswer,
    RadiusAnswer,
)


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
        Whether of each tree that hangs on the graph only a deepest node is asked about.
    """

    sources: np.ndarray
    centres: np.ndarray
    landmarks: np.ndarray
    by_trees: bool


@dataclass(frozen=True, eq=False)
class Diameter(DiameterAnswer[int]):
    """The largest eccentricity, in hops; the path has diameter + 1 nodes.

    Attributes
    ----------
    proof : Proof
        What ``check.check_diameter`` needs.
    """

    proof: Proof


class Radius(RadiusAnswer[int]):
    """The smallest eccentricity, in hops."""


class Center(CenterAnswer[int]):
    """The nodes of smallest eccentricity, in hops."""


class Periphery(PeripheryAnswer[int]):
    """The nodes of largest eccentricity, in hops."""


@dataclass(frozen=True, eq=False)
class ShardWidths:
    """Answers to several questions about every component of every graph of a shard.

    Hops as int32, or float64 in the unit of the weights. All arrays are on the host.

    Attributes
    ----------
    questions : tuple of str
        What was asked, of ``bounds.QUESTIONS``.
    exact : (n_components,) bool
        Whether all of them are answered. False only if the number of searches was limited.
    component : (n_nodes,) int32
        Components by number, in the order of ``names``.
    names, size : (n_components,) int32
        Smallest node of each, ascending, in the shard's node ids; nodes.
    n_searches : (n_components,) int64
        Sources that were searched.
    diameter_lower, diameter_upper, radius_lower, radius_upper : (n_components,) int32 or float64
        Proven bounds, as tight as the searches made them.
    eccentricity : (n_nodes,) uint8, uint16, int32 or float64, or None
        Where ``eccentricities`` was asked; right where ``exact``.
    is_center, is_periphery : (n_nodes,) bool or None
        Where asked; each node within its own component; right where ``exact``.
    path_ptr : (n_graphs + 1,) int64 or None; path : int32 or None
        Where ``diameter`` was asked, for each graph a shortest path in its largest component
        (of two as large that with the smaller name) as long as its ``diameter_lower``.
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
