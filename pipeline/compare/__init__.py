"""What changed between two nights: pure, on columns."""

from __future__ import annotations

from pipeline.compare.changes import Changes
from pipeline.compare.evidence import View
from pipeline.compare.links import Sides, compare_links, compare_routers
from pipeline.compare.matching import match_pairs, match_routers
from pipeline.compare.night import Night
from pipeline.model.columns import concat

__all__ = ["Changes", "Night", "compare_nights"]


def compare_nights(old: Night, new: Night) -> Changes:
    """Compare two nights.

    Parameters
    ----------
    old, new : Night

    Returns
    -------
    Changes
    """
    sides = match(old, new)
    return concat([*compare_links(sides), *compare_routers(sides)])


def match(old: Night, new: Night) -> Sides:
    """Match routers, vantage points and targets of two nights."""
    groups = match_routers(old, new)
    seen, later = old.observations, new.observations
    if seen is None or later is None:
        return Sides(old, new, groups, None, None)
    pairs = match_pairs(seen, later)
    return Sides(
        old,
        new,
        groups,
        View(seen, groups.old, pairs.old, pairs.old_vantage),
        View(later, groups.new, pairs.new, pairs.new_vantage),
    )
