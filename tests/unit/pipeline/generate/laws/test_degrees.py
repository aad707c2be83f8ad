"""Graphs of given degrees: exact, simple, connected on demand, refused only if there is none."""

from __future__ import annotations

from itertools import combinations_with_replacement

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import components
from pipeline.errors import UsageError
from pipeline.generate import Parameters, generate
from pipeline.generate.laws import degree_links
from pipeline.generate.laws.degree_sequence import draw_degrees, is_graphic
from pipeline.generate.laws.degrees import degrees_graph
from tests.soak import examples


@settings(max_examples=examples(200), deadline=None)
@given(degrees=st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_a_sequence_is_graphic_where_networkx_says_so(degrees):
    assert is_graphic(np.array(degrees, np.int32)) == nx.is_graphical(degrees)


def exists(n: int, least: int, most: int, connected: bool) -> bool:
    """Whether any degrees with these bounds are those of such a graph."""
    for degrees in combinations_with_replacement(range(least, most + 1), n):
        is_one = (degrees[0], degrees[-1]) == (least, most) and nx.is_graphical(degrees)
        can_be_connected = n == 1 or (least > 0 and sum(degrees) >= 2 * (n - 1))
        if is_one and (can_be_connected or not connected):
            return True
    return False


@pytest.mark.parametrize("connected", [False, True])
def test_small_graphs_are_made_exactly_if_they_exist(connected):
    for n in range(1, 7):
        for least in range(n + 1):
            for most in range(least, n + 1):
                case = (n, least, most)
                if not exists(*case, connected):
                    with pytest.raises(UsageError):
                        draw_degrees(*case, connected, 3)
                    continue
                assert_has(degrees_graph(*case, connected=connected, seed=5), *case, connected)


def assert_has(graph, n_nodes: int, least: int, most: int, connected: bool) -> None:
    graph.validate()  # sorted, symmetric, without loops and parallel links
    degrees = np.diff(graph.indptr)
    assert (graph.n_nodes, degrees.min(), degrees.max()) == (n_nodes, least, most)
    assert not connected or components(graph).n_components == 1


@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_any_bounds_that_are_accepted_are_met(data):
    n = data.draw(st.integers(2, 60))
    least = data.draw(st.integers(1, n - 1))
    most = data.draw(st.integers(least, n - 1))
    seed = data.draw(st.integers(0, 2**64 - 1))
    try:
        graph = degrees_graph(n, least, most, connected=True, seed=seed)
    except UsageError:
        return
    assert_has(graph, n, least, most, True)


def test_where_pairs_cannot_be_mended_havel_and_hakimi_take_over(monkeypatch):
    monkeypatch.setattr(degree_links, "_mend", lambda *_: False)
    for case in ((40, 30, 39), (500, 1, 499), (300, 2, 3), (8, 7, 7)):
        assert_has(degrees_graph(*case, connected=True), *case, True)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ((5, 3, 3), "no graph of 5 nodes has degree 3 at each: the sum of degrees is odd"),
        ((5, 1, 5), "cannot have 5 neighbours among 5 routers: give a largest degree of 4"),
        ((5, 0, 4), "linked to all others, so none has 0"),
        ((2, 0, 1), "a router with 1 neighbour is linked to all others"),
        ((1, 0, 1), "cannot have 1 neighbour among 1 router:"),
        ((5, 3, 2), "degrees from 3 to 2: give 0 <= smallest <= largest"),
        ((4, 1, 1, True), "no connected graph of 4 nodes has degrees from 1 to 1"),
        ((6, 0, 3, True), "no connected graph of 6 nodes has degrees from 0 to 3"),
        ((4, 2, 3, False, -1), "seed -1: give a whole number"),
        ((2**31, 2, 3), "more than 2,147,483,647 links: give fewer"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(case, message):
    n, least, most, connected, seed = (*case, False, 1)[:5] if len(case) == 3 else (*case, 1)[:5]
    given = {"min_degree": least, "max_degree": most, "connected": connected, "seed": seed}
    with pytest.raises(UsageError, match=message):
        generate("degrees", Parameters(n_routers=n, **given))


def test_degrees_are_spread_between_the_bounds():
    degrees = np.diff(degrees_graph(6000, 12, 14).indptr)
    shares = np.bincount(degrees)[12:] / 6000
    assert np.abs(shares - 1 / 3).max() < 0.03
