"""Which routers took the place of others on routes, against the same by definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.compare.figures.hops import Swaps, find_swaps
from pipeline.compare.routes import Routes
from tests.soak import examples

START, HIDDEN = -1, -2
N_ROUTERS = 8  # ids from 0 on, as in a snapshot

# A route: routers, none twice, each with whether it follows the one before it without a gap; and
# whether the target answered right behind the last.
Night = list[tuple[list[tuple[int, bool]], bool]]
hops = st.lists(
    st.tuples(st.integers(0, N_ROUTERS - 1), st.booleans()),
    max_size=5,
    unique_by=lambda hop: hop[0],
)
nights = st.lists(st.tuples(hops, st.booleans()), min_size=2, max_size=2)


def routes_of(night: Night) -> tuple[Routes, np.ndarray]:
    ptr = np.cumsum([0, *(len(route) for route, _ in night)])
    group = np.array([router for route, _ in night for router, _ in route], np.int64)
    direct = [is_direct and i > 0 for route, _ in night for i, (_, is_direct) in enumerate(route)]
    routes = Routes(ptr, group, np.zeros(len(group), np.int64), np.array(direct, bool))
    return routes, np.array([answers for _, answers in night])


def behind(night: Night) -> dict[tuple[int, int], tuple[int, int, list]]:
    """Of each pair and router before (or the start): the router, what follows, the way there."""
    found = {}
    for pair, (route, _) in enumerate(night):
        ids = [START, *(router for router, _ in route)]
        for i, (before, router) in enumerate(pairwise(ids)):
            if i == 0 or route[i][1]:
                follows = i + 1 < len(route) and route[i + 1][1]
                way = [(one, step and k > 0) for k, (one, step) in enumerate(route[:i])]
                found[pair, before] = router, route[i + 1][0] if follows else HIDDEN, way
    return found


def by_definition(old: Night, new: Night) -> set[tuple]:
    found, others = behind(old), behind(new)
    return {
        (
            *(found[at][0], others[at][0], at[1], at[0]),
            found[at][1] != others[at][1] and HIDDEN not in (found[at][1], others[at][1]),
            found[at][2] == others[at][2],
        )
        for at in found.keys() & others.keys()
        if found[at][0] != others[at][0]
    }


def rows(swaps: Swaps) -> list[tuple]:
    columns = (swaps.old, swaps.new, swaps.before, swaps.pair, swaps.differs, swaps.came_alike)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def swaps_of(old: Night, new: Night) -> list[tuple]:
    (one, answers), (two, others) = routes_of(old), routes_of(new)
    return rows(find_swaps(one, two, (answers, others)))


@settings(max_examples=examples(400), deadline=None)
@given(old=nights, new=nights)
def test_swaps_are_those_by_definition(old, new):
    found = swaps_of(old, new)
    assert len(set(found)) == len(found)
    assert set(found) == by_definition(old, new)


def test_no_id_of_a_router_is_taken_for_an_end_or_for_silence():
    for id_ in range(4):
        beside = id_ + 10
        old = [([(20, False), (21, True), (id_, True)], True)]
        new = [([(20, False), (22, True), (beside, True)], True)]
        assert swaps_of(old, new) == [(21, 22, 20, 0, True, True)]


def test_a_target_behind_another_router_says_nothing():
    old = [([(20, False), (21, True)], True)]
    new = [([(20, False), (22, True), (23, True)], True)]
    assert swaps_of(old, new) == [(21, 22, 20, 0, False, True)]
