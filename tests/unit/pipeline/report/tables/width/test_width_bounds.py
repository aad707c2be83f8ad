"""Bounds after searches from ingresses: right on any graph, tighter where they may be."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.report.tables.width.width_bounds import with_searches
from tests.soak import examples
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.width_data import bounds, cut_short, widths_of

AS = 10


def snapshot_of(links: list, n_nodes: int, ingresses: list[int]) -> MemorySnapshot:
    entries = [(AS, node, [20], 1, 0, False) for node in ingresses]
    return MemorySnapshot({AS: links}, {AS: n_nodes}, entries)


def tightened(snapshot, diameter, radius, metrics=("diameter", "radius")):
    cut = cut_short(widths_of(snapshot, metrics), 0, diameter, radius, 1)
    return with_searches(cut, measured(snapshot).results)


def path(n: int, first: int = 0) -> list[tuple[int, int]]:
    return [(v, v + 1) for v in range(first, first + n - 1)]


def test_an_ingress_at_the_end_of_a_longest_path_makes_the_diameter_exact():
    # A path of seven nodes; a search from node 3 found 3 hops, so 3 to 6. Node 0 is an ingress.
    widths = tightened(snapshot_of(path(7), 7, [0, 1]), (3, 6), (2, 3))
    assert bounds(widths) == ((6, 6), (3, 3))
    assert widths.exact[0]
    assert (widths.component_diameter[0], widths.component_radius[0]) == (6, 3)


def test_more_than_diameter_and_radius_is_not_exact_by_ingresses():
    snapshot = snapshot_of(path(7), 7, [0])
    for more in ("center", "periphery", "eccentricities"):
        assert not tightened(snapshot, (3, 6), (2, 3), ("diameter", "radius", more)).exact[0]
    assert tightened(snapshot, (3, 6), (2, 5), ("diameter",)).exact[0]


def test_an_ingress_bounds_what_nothing_was_known_of():
    widths = tightened(snapshot_of(path(7), 7, [1]), (-1, -1), (-1, -1))
    assert bounds(widths) == ((5, 6), (3, 3))
    assert not widths.exact[0]


def test_bounds_of_diameter_and_radius_tighten_one_another_without_an_ingress():
    # A path of ten: 9 hops, radius 5. And a star: two hops, radius 1.
    widths = tightened(snapshot_of(path(10), 10, []), (9, 9), (2, 5))
    assert bounds(widths) == ((9, 9), (5, 5))
    assert widths.exact[0]
    star = snapshot_of([(0, v) for v in range(1, 6)], 6, [])
    widths = tightened(star, (2, 4), (1, 1))
    assert bounds(widths) == ((2, 2), (1, 1))
    assert widths.exact[0]
    assert bounds(tightened(star, (-1, -1), (1, 1), ("radius",))) == ((1, 2), (1, 1))
    assert bounds(tightened(star, (2, 2), (-1, -1), ("diameter",))) == ((2, 2), (1, 2))


def test_an_ingress_of_another_component_says_nothing():
    # A star of five and a path of four, whose end is the ingress.
    links = [(0, 1), (0, 2), (0, 3), (0, 4), *path(4, 5)]
    widths = tightened(snapshot_of(links, 9, [5]), (1, 2), (1, 2))
    assert bounds(widths) == ((1, 2), (1, 2))


def test_of_two_equally_large_components_an_ingress_says_nothing():
    links = [(0, 1), (0, 2), (0, 3), *path(4, 4)]
    widths = tightened(snapshot_of(links, 8, [4]), (1, 2), (1, 2))
    assert bounds(widths) == ((1, 2), (1, 2))


def test_another_component_that_is_cut_short_keeps_the_graph_from_being_exact():
    snapshot = snapshot_of([*path(7), *path(3, 7)], 10, [0])
    cut = cut_short(widths_of(snapshot, ("diameter",)), 0, (3, 6), (2, 3), 1)
    other = cut.component_diameter.copy()
    other[cut.component_id == 7] = -1
    widths = with_searches(replace(cut, component_diameter=other), measured(snapshot).results)
    assert bounds(widths)[0] == (6, 6)
    assert not widths.exact[0]


def test_searches_of_other_graphs_and_runs_without_any_change_nothing():
    snapshot = snapshot_of(path(7), 7, [0])
    cut = cut_short(widths_of(snapshot), 0, (3, 6), (2, 3), 1)
    results = measured(snapshot).results
    other = replace(results, row=results.row + 1)
    none = measured(snapshot, without={(0, 0)}).results
    for searches in (other, none):
        assert bounds(with_searches(cut, searches)) == ((3, 6), (2, 3))
    by_weight = replace(cut, is_weighted=True)
    assert with_searches(by_weight, results) is by_weight


def test_no_width_is_wider_than_the_component_has_nodes():
    # A path of four: any bound from elsewhere, an ingress at its end, and none.
    for ingresses in ([], [0]):
        widths = tightened(snapshot_of(path(4), 4, ingresses), (3, 6), (2, 3))
        assert bounds(widths) == ((3, 3), (2, 2))
        assert widths.exact[0]
    # The radius alone was requested: nothing but the ingress bounds the diameter.
    widths = tightened(snapshot_of(path(4), 4, [0, 1]), (-1, -1), (2, 2), ("radius",))
    assert bounds(widths) == ((3, 3), (2, 2))
    # The largest of several components counts.
    widths = tightened(snapshot_of([*path(4), *path(3, 4)], 7, []), (1, 9), (1, 9))
    assert bounds(widths) == ((1, 3), (1, 2))
    assert not widths.exact[0]


def test_what_is_not_known_stays_so():
    widths = tightened(snapshot_of(path(4), 4, []), (-1, -1), (-1, -1))
    assert bounds(widths) == ((-1, -1), (-1, -1))
    assert not widths.exact[0]
    one = widths_of(snapshot_of([], 1, []), ("diameter",))
    assert bounds(with_searches(one, measured(snapshot_of([], 1, [])).results)) == ((0, 0), (0, 0))
    by_weight = widths_of(snapshot_of(path(3), 3, []), ("diameter",), weight=lambda u, v: 100.0)
    same = with_searches(by_weight, measured(snapshot_of(path(3), 3, [])).results)
    assert same.diameter_upper[0] == 200


@settings(max_examples=examples(200), deadline=None)
@given(data=st.data())
def test_bounds_hold_on_any_graph_and_never_widen(data):
    n = data.draw(st.integers(1, 10))
    node = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(node, node), max_size=14))
    links = sorted({(min(a, b), max(a, b)) for a, b in pairs if a != b})
    ingresses = sorted(data.draw(st.sets(node, max_size=4)))
    graph = nx.Graph(links)
    graph.add_nodes_from(range(n))
    parts = sorted(map(sorted, nx.connected_components(graph)))
    part = graph.subgraph(max(parts, key=len))
    diameter, radius = nx.diameter(part), nx.radius(part)

    def around(value: int) -> tuple[int, int]:
        below, above = data.draw(st.tuples(st.integers(0, value), st.integers(0, 5)))
        return value - below, value + above

    given_bounds = around(diameter), around(radius)
    widths = tightened(snapshot_of(links, n, ingresses), *given_bounds)
    for value, old, new in zip((diameter, radius), given_bounds, bounds(widths), strict=True):
        assert old[0] <= new[0] <= value <= new[1] <= old[1]
    if len(part) > 1:
        assert widths.diameter_upper[0] <= len(part) - 1
        assert widths.radius_upper[0] <= len(part) // 2
    if widths.exact[0]:
        assert bounds(widths) == ((diameter, diameter), (radius, radius))
    if len([p for p in parts if len(p) == len(part)]) == 1 and len(part) > 1:
        found = [nx.eccentricity(part, v) for v in ingresses if v in part]
        assert widths.diameter_lower[0] >= max(found, default=0)
        assert widths.radius_upper[0] <= min(found, default=np.inf)
