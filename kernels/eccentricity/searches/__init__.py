"""What a driver asks of whatever searches for it: cores here, a GPU or a cluster elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True, eq=False)
class Implied:
    """What finished searches imply.

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


class Searches(Protocol):
    """Searches of one graph."""

    def search(self, sources: np.ndarray) -> Implied:
        """Search from at most one node of each component, all of them in one pass."""
        ...
