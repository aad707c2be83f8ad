"""What changed between two nights: pure, on columns."""

from __future__ import annotations

import numpy as np

from pipeline.compare.ases import compare_ases, compare_figures, compare_inputs, compare_neighbors
from pipeline.compare.changes import SHIFTED, Changes, Instead
from pipeline.compare.elections import mark_chance
from pipeline.compare.events import Events, group_events
from pipeline.compare.evidence import View
from pipeline.compare.figures.delays import compare_delays
from pipeline.compare.figures.references import MIN_NIGHTS, follow
from pipeline.compare.growth import compare_growth
from pipeline.compare.hosts import compare_hosts
from pipeline.compare.ingresses import compare_ingresses
from pipeline.compare.links import Sides, compare_links, compare_routers, compare_unmapped
from pipeline.compare.matching import ends_at_target, match_pairs, match_routers, perhaps_in_no_as
from pipeline.compare.night import Night
from pipeline.compare.outages import (
    find_outages,
    join_outages,
    least_pairs,
    measure_together,
    number_outages,
    pairs_of_events,
    without_told,
)
from pipeline.compare.rerouted import (
    compare_lengths,
    compare_numbers,
    find_rerouted,
    measure_events,
)
from pipeline.compare.silence import compare_answers, describe_passed, find_passed
from pipeline.compare.sources import compare_sources
from pipeline.model.columns import concat, take
from pipeline.model.measured.references import References

__all__ = [
    "MIN_NIGHTS",
    "Changes",
    "Events",
    "Night",
    "References",
    "compare_nights",
    "follow",
]


def compare_nights(
    old: Night, new: Night, references: References | None = None
) -> tuple[Changes, Events]:
    """Compare two nights: what changed, and which changes go together.

    ``references``: baselines of RTTs and hops up to the older night (``follow``); without it, or
    from fewer than three nights, the older night itself.
    """
    usual = References.none() if references is None else references
    sides = match(old, new)
    links = concat(list(compare_links(sides)))
    found = find_rerouted(sides)
    changes = [links, compare_inputs(sides), *compare_unmapped(sides)]
    changes += [mark_chance(routers, sides, found) for routers in compare_routers(sides)]
    changes += compare_sources(sides)
    renewed = np.empty(0, np.int64)
    if found is not None:
        numbers, renewed = compare_numbers(sides, found)
        changes += [numbers, *compare_answers(sides, found)]
        changes += compare_lengths(sides, found, usual)
    changes += compare_delays(sides, usual)
    ingresses, moved = compare_ingresses(sides, found, links)
    changes += ingresses
    passed = find_passed(sides, found, reverse=False), find_passed(sides, found, reverse=True)
    changes += [describe_passed(sides, own, reverse=own is passed[1]) for own in passed]
    changes += compare_ases(sides, found, passed)
    changes += compare_neighbors(sides, links)
    changes += compare_figures(sides)
    changes += compare_growth(sides)
    of_inputs = found is None and not sides.same_inputs
    outages = find_outages(sides, found, renewed, of_kind(ingresses, SHIFTED), concat(changes))
    if found is not None:
        changes += compare_hosts(sides, found, outages.claims)
    every = concat([without_told(concat(changes), outages.rows), outages.rows])
    told = join_outages(every, outages, found)
    number, n_told = number_outages(outages.rows)
    told[told >= 0] = number[told[told >= 0]]
    told[len(every) - len(number) :] = number
    instead = Instead(renewed, moved)

    def pairs_of(changes: Changes, event: np.ndarray) -> np.ndarray:
        return pairs_of_events(changes, event, outages, found)

    def measure(keys: np.ndarray, n: int) -> np.ndarray:
        return measure_together(keys, n, found)

    n_links = max(len(old.low), len(new.low))
    grouped, events = group_events(
        every,
        instead,
        of_inputs,
        told,
        (n_told, len(number)),
        (pairs_of, measure),
        least_pairs(found, n_links),
    )
    return grouped, events if found is None else measure_events(grouped, events, found)


def of_kind(parts: list[Changes], kind: str) -> Changes:
    """Changes of one kind."""
    every = concat(parts)
    return take(every, np.flatnonzero(every.kind == kind))


def match(old: Night, new: Night) -> Sides:
    """Match routers, vantage points and targets of two nights."""
    groups = match_routers(old, new)
    in_no_as = perhaps_in_no_as(old, new, groups)
    seen, later = old.observations, new.observations
    if seen is None or later is None:
        return Sides(old, new, groups, in_no_as, None, None)
    pairs = match_pairs(seen, later)
    return Sides(
        old,
        new,
        groups,
        in_no_as,
        View(seen, groups.old, pairs.old, pairs.old_vantage, ends_at_target(old)),
        View(later, groups.new, pairs.new, pairs.new_vantage, ends_at_target(new)),
        pairs.n_targets,
    )
