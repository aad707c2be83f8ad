"""Sweeps, landmarks and the choice between them: each against distances found otherwise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import components, diameter, eccentricities
from kernels.eccentricity import Strategy
from kernels.eccentricity import solver as driver
from kernels.eccentricity import strategy as policy
from kernels.eccentricity.check import check_diameter
from kernels.eccentricity.questions import QUESTIONS
from kernels.eccentricity.reductions.landmarks import ROOM, choose_landmarks, far_pairs
from kernels.eccentricity.searches.cpu import CoreSearches
from kernels.eccentricity.solver import EccentricitySolver
from kernels.eccentricity.strategy import Account, Facts, choose_step
from kernels.eccentricity.thresholds import CORE, Thresholds
from kernels.types import NODE
from tests.oracles.paths import bfs_levels
from tests.shapes import graph_of, grid, path, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import graphs
from tests.unit.kernels.eccentricity.bounds.test_bounds import check_answer, check_bounds

PROPERTY = settings(max_examples=examples(200), deadline=None)


def numbered(graph) -> tuple[np.ndarray, int]:
    found = components(graph)
    return np.searchsorted(found.ids, found.component).astype(np.int32), found.n_components


def searches_of(graph) -> CoreSearches:
    return CoreSearches(graph, *numbered(graph))


def check_implied(found, hops) -> None:
    """Eccentricities are right, and bounds are the tightest that these searches imply."""
    np.testing.assert_array_equal(found.eccentricity, hops[found.sources].max(axis=1))
    lower, upper = np.zeros(len(hops), int), np.full(len(hops), 10**6)
    for source in found.sources:
        reached = hops[source] >= 0
        e, d = hops[source].max(), hops[source][reached]
        lower[reached] = np.maximum(lower[reached], np.maximum(d, e - d))
        upper[reached] = np.minimum(upper[reached], e + d)
    reached = upper < 10**6
    np.testing.assert_array_equal(found.lower[reached], lower[reached])
    np.testing.assert_array_equal(found.upper[reached], upper[reached])
    assert (found.lower[~reached] == 0).all()


@PROPERTY
@given(graph=graphs(), data=st.data())
def test_a_sweep_finds_what_single_searches_imply(graph, data):
    hops = bfs_levels(graph, range(graph.n_nodes))
    node = st.integers(0, graph.n_nodes - 1)
    sources = np.array(data.draw(st.lists(node, min_size=1, unique=True)), NODE)
    unknown = np.zeros(graph.n_nodes, np.int32), np.full(graph.n_nodes, 10**6, np.int32)
    check_implied(searches_of(graph).sweep(sources, *unknown), hops)


@pytest.mark.parametrize("n_sources", [1, 63, 64, 65, 511, 512])
@pytest.mark.parametrize("shape", ["hubs", "grid", "two"])
def test_sweeps_of_every_width(n_sources, shape):
    graph = {
        "hubs": tree_with_hubs(700, 5),
        "grid": grid(26, 27),
        "two": graph_of(
            1200, [(i, i // 3) for i in range(600)] + [(i, i - 1) for i in range(601, 1200)]
        ),
    }[shape]
    rng = np.random.default_rng(n_sources)
    number, _ = numbered(graph)
    own = np.flatnonzero(number == 0)
    sources = rng.choice(own, min(n_sources, len(own)), replace=False)
    others = np.flatnonzero(number == 1)[:n_sources]
    sources = np.concatenate([sources, others]).astype(NODE)
    hops = bfs_levels(graph, range(graph.n_nodes))
    unknown = np.zeros(graph.n_nodes, np.int32), np.full(graph.n_nodes, 10**6, np.int32)
    check_implied(searches_of(graph).sweep(sources, *unknown), hops)


@PROPERTY
@given(graph=graphs(), data=st.data())
def test_near_says_which_sources_are_within_each_distance(graph, data):
    hops = bfs_levels(graph, range(graph.n_nodes))
    number, n_components = numbered(graph)
    degree = np.diff(graph.indptr).astype(np.int32)
    is_wanted = np.array(
        data.draw(st.lists(st.booleans(), min_size=n_components, max_size=n_components))
    )
    if not is_wanted.any():
        return
    landmarks = choose_landmarks(number, degree, is_wanted)
    np.testing.assert_array_equal(np.unique(number[landmarks]), np.flatnonzero(is_wanted))
    nodes = np.flatnonzero(is_wanted[number]).astype(NODE)
    unknown = np.zeros(graph.n_nodes, np.int32), np.full(graph.n_nodes, 10**6, np.int32)
    found, near = searches_of(graph).near(landmarks, *unknown, nodes)
    check_implied(found, hops)
    for c in np.flatnonzero(is_wanted):
        for lane, z in enumerate(landmarks[number[landmarks] == c]):
            for i in np.flatnonzero(number[nodes] == c):
                level = hops[z, nodes[i]]
                expected = [int(level <= j) for j in range(len(near))]
                assert [(int(row[i]) >> lane) & 1 for row in near] == expected


@PROPERTY
@given(graph=graphs(min_nodes=2), n_landmarks=st.integers(1, 4), data=st.data())
def test_far_pairs_are_those_that_no_landmark_keeps_close(graph, n_landmarks, data):
    number, _ = numbered(graph)
    own = np.flatnonzero(number == number[0])
    landmarks = own[:n_landmarks].astype(NODE)
    hops = bfs_levels(graph, landmarks)[:, own]
    unknown = np.zeros(graph.n_nodes, np.int32), np.full(graph.n_nodes, 10**6, np.int32)
    _, near = searches_of(graph).near(landmarks, *unknown, own.astype(NODE))
    place = st.integers(0, len(own) - 1)
    rows = np.array(data.draw(st.lists(place, min_size=1, unique=True)))
    longest = data.draw(st.integers(0, 8))
    (pairs, apart), _ = far_pairs(near, rows, np.arange(len(own)), longest, 10**9)
    found = {(int(v), int(x)): int(hop) for v, x, hop in zip(*pairs, apart, strict=True)}
    bound = (hops[:, :, None] + hops[:, None, :]).min(axis=0)
    expected = {
        (int(v), x): int(bound[v, x])
        for v in rows
        for x in range(len(own))
        if x != v and bound[v, x] > longest
    }
    assert found == expected


def near_first(graph):
    """Every node of a graph, and what is near its first one."""
    every = np.arange(graph.n_nodes, dtype=NODE)
    unknown = np.zeros(len(every), np.int32), np.full(len(every), 10**6, np.int32)
    return every, searches_of(graph).near(every[:1], *unknown, every)[1]


def test_too_many_pairs_are_not_listed():
    every, near = near_first(star(300))  # whose leaves are two hops from one another
    pairs, n_steps = far_pairs(near, every, every, 1, 10**9)
    assert pairs is None
    assert n_steps < 10**9
    every, near = near_first(star(250))
    (pairs, apart), _ = far_pairs(near, every, every, 1, 10**9)
    assert pairs.shape == (2, 250 * 249)
    assert (apart == 2).all()
    assert 250 * 249 < ROOM < 300 * 299


def test_pairs_are_listed_with_just_as_many_steps_as_that_takes():
    every, near = near_first(path(300))
    (pairs, _), n_steps = far_pairs(near, every, every, 596, 10**9)
    assert pairs.shape == (2, 2)
    assert far_pairs(near, every, every, 596, n_steps)[0] is not None


def test_pairs_that_take_too_many_steps_are_not_listed():
    graph = graph_of(2000, [(i, (i + j) % 2000) for i in range(2000) for j in (1, 2, 3)])
    nodes = np.arange(2000, dtype=NODE)
    unknown = np.zeros(2000, np.int32), np.full(2000, 10**6, np.int32)
    _, near = searches_of(graph).near(nodes[:64], *unknown, nodes)
    pairs, n_steps = far_pairs(near, nodes, nodes, 333, 100_000)
    assert pairs is None
    assert 100_000 < n_steps < 100_000 + 333 * 64 * 16


@settings(max_examples=examples(300), deadline=None)
@given(
    graph=graphs(), question=st.sampled_from(QUESTIONS), limit=st.integers(1, 60), data=st.data()
)
def test_steps_in_any_order_give_the_same_answer(graph, question, limit, data):
    truth = bfs_levels(graph, range(graph.n_nodes)).max(axis=1)
    steps = ["far", "alternate", "sweep", "pairs"]

    def any_step(now: Facts, at: Thresholds):
        step = data.draw(st.sampled_from(steps))
        return "far" if step == "pairs" and math.isinf(now.n_pairs) else step

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy, "choose_step", any_step)
        patch.setattr(driver, "CORE", replace(CORE, few=0))
        cut = EccentricitySolver(graph, question, Strategy(), limit)
        check_bounds(cut.run(), truth)
        steps.append("every")  # which keeps no limit
        solver = EccentricitySolver(graph, question, Strategy())
        bounds = solver.run()
        assert bounds.done
        check_answer(bounds, truth)
        if question == "diameter":
            check_diameter(graph, diameter(graph))


def facts(**known) -> Facts:
    usual = {
        "is_diameter": True,
        "n_searches": 20,
        "longest": 10,
        "n_pending": 1000,
        "n_pairs": math.inf,
        "has_landmarks": False,
        "is_paired": False,
        "search_ns": 1e6,
    }
    if "account" in known:
        given = known["account"]
        known["account"] = lambda next_ns: given
    return Facts(**(usual | known))


def account(spent_ns=1e7, idle_ns=0.0, left_ns=1e9, sweep_ns=6e7) -> Account:
    return Account(spent_ns, idle_ns, left_ns, 1e9, sweep_ns, 5e7)


@pytest.mark.parametrize(
    ("known", "strategy", "expected"),
    [
        ({"n_pending": 3}, {}, "far"),
        ({"n_searches": 2}, {}, "alternate"),
        ({"n_searches": 12, "longest": 80}, {}, "alternate"),  # long: sweeps are expensive
        ({"n_pairs": 1e6}, {}, "pairs"),
        ({"n_pairs": 1e6}, {"landmarks": False}, "alternate"),  # two sweeps: later, perhaps
        ({"n_pairs": 1e9}, {}, "alternate"),
        ({"n_pairs": 1e9, "n_pending": 400, "n_searches": 30}, {}, "sweep"),
        ({"n_pending": 400, "n_searches": 30}, {"sweeps": False}, "alternate"),
        ({"is_paired": True, "n_pending": 5}, {}, "far"),
        ({"is_paired": True, "n_pending": 50}, {}, "sweep"),
        ({"is_diameter": False}, {}, "sweep"),
        ({"is_diameter": False, "n_pending": 20}, {}, "alternate"),
        ({"is_diameter": False}, {"sweeps": False}, "alternate"),
        ({"is_diameter": False, "account": account()}, {}, "sweep"),
        ({"is_diameter": False, "account": account(sweep_ns=2e8)}, {}, "every"),
        ({"n_searches": 2, "account": account(spent_ns=2e8)}, {}, "every"),
        ({"n_searches": 2, "account": account(spent_ns=2e8, left_ns=7e8)}, {}, "alternate"),
        ({"n_searches": 2, "account": account(2e8, 2e8, 7e8)}, {}, "every"),  # no improvement
        ({"n_searches": 2, "account": account(spent_ns=2e8)}, {"sweeps": False}, "alternate"),
        ({"n_pairs": 1e6, "account": account(left_ns=8e8)}, {}, "pairs"),
        ({"n_pairs": 1e6, "account": account(1e8)}, {}, "every"),
        ({"n_pending": 3, "account": account(spent_ns=2e9)}, {}, "far"),
    ],
)
def test_choice_of_steps(known, strategy, expected):
    assert choose_step(facts(strategy=Strategy(**strategy), **known), CORE) == expected


def test_sweeps_and_landmarks_are_used_where_they_pay():
    graph = tree_with_hubs(20_000, 2)
    found = diameter(graph, strategy=Strategy(keep=False, sweeps=False))
    check_diameter(graph, found)
    assert len(found.proof.landmarks) == 64
    swept = diameter(graph, strategy=Strategy(keep=False))
    check_diameter(graph, swept)
    assert swept.diameter == found.diameter
    alone = diameter(graph, strategy=Strategy(keep=False, landmarks=False, sweeps=False))
    assert alone.diameter == found.diameter
    assert len(alone.proof.landmarks) == 0
    np.testing.assert_array_equal(
        eccentricities(graph), eccentricities(graph, strategy=Strategy(sweeps=False))
    )
