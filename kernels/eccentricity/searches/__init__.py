"""Bounds implied by finished searches, made by cores, a GPU or a cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Implied:
    """Bounds implied by finished searches.

    Attributes
    ----------
    sources : (n_sources,) int32
    eccentricity : (n_sources,) int32
        Hops, each within its component.
    lower, upper : (n_nodes,) uint8, uint16 or int32
        As ``EccentricityBounds.update`` takes them.
    """

    sources: np.ndarray
    eccentricity: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
