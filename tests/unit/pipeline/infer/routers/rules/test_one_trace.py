"""Routers with two addresses in one trace are taken apart, whichever trace it is."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.infer.routers.rules.one_trace import ONE_TRACE, take_apart
from pipeline.infer.rules import rules_without
from pipeline.infer.traces.distinct import SHIFT, AimedPaths, DistinctPaths, Tree

# Interfaces 0 and 2 were taken for one router, 1 and 3 for another, 4 is alone.
MERGED, APART = [0, 1, 0, 1, 4], [0, 1, 2, 3, 4]


def paths_of(*traces: list[int]) -> DistinctPaths:
    """The paths of these traces; -1 is a destination that is no router."""
    code = np.array([(x + 1) << SHIFT for trace in traces for x in trace], np.uint32)
    depth = np.array([level for trace in traces for level in range(len(trace))], np.uint8)
    nothing = AimedPaths(*[np.empty(0, np.int64)] * 8)
    return DistinctPaths([(Tree(code, depth), nothing)])


@pytest.mark.parametrize("place", range(3))
def test_two_addresses_of_one_trace_are_two_routers_wherever_it_is(place: int) -> None:
    traces = [[4, 1, -1], [4, 3]]
    traces.insert(place, [0, 4, 2])
    root = np.array(MERGED)
    take_apart(paths_of(*traces), root, np.array(APART), rules_without(()))
    assert root.tolist() == [0, 1, 2, 1, 4]


def test_addresses_of_different_traces_and_one_seen_twice_stay_one_router() -> None:
    root = np.array(MERGED)
    take_apart(paths_of([0, 4, 0], [2, 1], [3, -1]), root, np.array(APART), rules_without(()))
    assert root.tolist() == MERGED


def test_without_the_rule_nothing_is_taken_apart() -> None:
    root = np.array(MERGED)
    rules = rules_without([ONE_TRACE.name])
    take_apart(paths_of([0, 2]), root, np.array(APART), rules)
    assert root.tolist() == MERGED
