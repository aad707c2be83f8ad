"""Answers about weighted eccentricities; in the unit of the weights, each component by itself."""

from __future__ import annotations

from kernels.eccentricity.results import (
    CenterResult,
    DiameterResult,
    PeripheryResult,
    RadiusResult,
)


class WeightedDiameter(DiameterResult[float]):
    """The largest eccentricity by weight.

    The weights of the path, added in its order, are the diameter to the bit. It is empty without a
    search, too.
    """


class WeightedRadius(RadiusResult[float]):
    """The smallest eccentricity by weight."""


class WeightedCenter(CenterResult[float]):
    """The nodes of smallest eccentricity by weight."""


class WeightedPeriphery(PeripheryResult[float]):
    """The nodes of largest eccentricity by weight."""
