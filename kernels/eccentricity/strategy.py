"""Which reductions a search for eccentricities uses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Strategy:
    """Which reductions are used; answers never depend on it, only the time does.

    Attributes
    ----------
    winnow : bool
        Search only outside a ball around a centre, for diameters.
    """

    winnow: bool = True
