"""The synthetic Internet: sizes and ingresses by their law, complete, equal however made."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import CSRGraph, Shard
from kernels.connected import components
from pipeline.errors import UsageError
from pipeline.generate.internet import generate_internet, internet_topology
from pipeline.generate.laws.size_law import as_sizes, n_ingresses
from pipeline.graphs import build_graphs
from pipeline.infer.declared import declare
from pipeline.model.graphs import GraphSet
from tests.soak import examples

ARRAYS = (
    "asn", "node_ptr", "arc_ptr", "degree", "indices", "component_count", "largest_component",
    "ingress_ptr", "ingress_node", "neighbor_ptr", "neighbor_asn", "n_direct", "n_after_gap",
    "candidate", "border_near_asn", "border_near", "border_far_asn", "border_far", "node_id",
)  # fmt: skip


def assert_equal(left: GraphSet, right: GraphSet) -> None:
    for name in ARRAYS:
        a, b = getattr(left, name), getattr(right, name)
        assert a.dtype == b.dtype, name
        assert np.array_equal(a, b), name
    assert left.graph_hash == right.graph_hash


@st.composite
def internets(draw) -> dict:
    n_ases = draw(st.integers(2, 12))
    smallest = draw(st.integers(1, 30))
    n_routers = 2 * n_ases * smallest + draw(st.integers(0, 1500))
    least = -(-(n_routers - smallest) // (n_ases - 1))
    most = n_routers - (n_ases - 1) * smallest
    return {
        "n_ases": n_ases,
        "n_routers": n_routers,
        "smallest": smallest,
        "largest": draw(st.none() | st.integers(least, most)),
        "m": draw(st.integers(1, 4)),
        "seed": draw(st.integers(0, 2**64 - 1)),
        "max_ingresses": draw(st.integers(1, 40)),
    }


@settings(max_examples=examples(60), deadline=None)
@given(internets())
def test_an_internet_is_whole_simple_and_consistent(given):
    graphs = generate_internet(**given)
    sizes = np.diff(graphs.node_ptr)
    assert sizes.sum() == given["n_routers"]
    assert sizes.min() == given["smallest"]
    assert given["largest"] in (None, sizes.max())
    indptr = np.append(0, np.cumsum(graphs.degree)).astype(np.int64)
    base = np.repeat(graphs.node_ptr[:-1], np.diff(graphs.arc_ptr)).astype(np.int32)
    shard = Shard(indptr, graphs.indices + base, graphs.node_ptr)  # raises unless sound
    assert len(components(shard).sizes) == given["n_ases"]
    for i in range(graphs.n_ases):
        assert graphs.graph_hash[i] == shard.graph(i).graph_hash()

    n_each = np.diff(graphs.ingress_ptr)
    assert n_each.min() >= 1
    assert (n_each <= np.minimum(sizes, given["max_ingresses"])).all()
    row = np.repeat(np.arange(graphs.n_ases), n_each)
    router = graphs.node_ptr[row] + graphs.ingress_node
    assert (np.diff(router) > 0).all()
    assert (graphs.ingress_node < sizes[row]).all()

    near = graphs.node_ptr[graphs.border_near_asn - 1] + graphs.border_near
    far = graphs.node_ptr[graphs.border_far_asn - 1] + graphs.border_far
    assert (graphs.border_near_asn < graphs.border_far_asn).all()
    assert len(set(zip(near.tolist(), far.tolist(), strict=True))) == len(near)
    assert np.array_equal(np.unique(np.append(near, far)), router)
    ases = np.stack([graphs.border_near_asn, graphs.border_far_asn]).astype(np.int32) - 1
    ases = np.unique(ases, axis=1)
    order = np.lexsort((np.append(ases[1], ases[0]), np.append(ases[0], ases[1])))
    tail = np.append(ases[0], ases[1])
    as_graph = CSRGraph(
        np.append(0, np.cumsum(np.bincount(tail, minlength=graphs.n_ases))),
        np.append(ases[1], ases[0])[order],
    )
    assert len(components(as_graph).sizes) == 1


@settings(max_examples=examples(20), deadline=None)
@given(internets())
def test_the_graphs_are_those_that_its_file_would_give(given):
    graphs = generate_internet(**given)
    topology = declare(internet_topology(graphs, seed=3), asn=None, ingresses=None)
    assert_equal(graphs, build_graphs([topology]))


def test_an_internet_is_the_same_on_any_number_of_threads():
    # The largest AS is made by all threads together, the others each by one.
    one, two, three = (
        generate_internet(60, 400_000, largest=200_000, seed=5, n_threads=k) for k in (1, 2, 3)
    )
    assert_equal(one, two)
    assert_equal(one, three)
    assert one.graph_hash != generate_internet(60, 400_000, largest=200_000, seed=6).graph_hash


def test_large_and_small_ases_are_made_by_one_rule(monkeypatch):
    from pipeline.generate import internet

    usual = generate_internet(30, 20_000, seed=8)
    monkeypatch.setattr(internet, "_BLOCK_NODES", 100)
    assert_equal(usual, generate_internet(30, 20_000, seed=8))


def test_as_numbers_say_nothing_of_sizes():
    sizes = np.diff(generate_internet(2000, 200_000).node_ptr)
    ranks = np.argsort(np.argsort(sizes, kind="stable"))
    assert abs(np.corrcoef(np.arange(2000), ranks)[0, 1]) < 0.1  # 4.5 standard deviations


def test_ases_are_drawn_as_often_as_they_have_ingresses():
    graphs = generate_internet(3000, 1_000_000, seed=2)
    n_each = np.diff(graphs.ingress_ptr)
    met = np.bincount(
        np.append(graphs.border_near_asn, graphs.border_far_asn) - 1, minlength=graphs.n_ases
    )
    large = n_each >= 20
    assert large.sum() > 40
    # One link from each ingress, and on average one to it, but few between the largest.
    assert (met[large] / n_each[large]).mean() == pytest.approx(2, abs=0.15)


def test_sizes_of_the_whole_internet():
    sizes = as_sizes(47_000, 50_000_000, smallest=20, largest=6_800_000)
    assert (sizes[0], sizes[-1], sizes.sum()) == (6_800_000, 20, 50_000_000)
    assert (np.diff(sizes) <= 0).all()
    # A straight line in log-log, away from the upper bound: a Pareto law.
    rank = np.array([500, 5000, 40_000])
    slope = np.diff(np.log(rank)) / np.diff(np.log(sizes[rank]))
    assert slope == pytest.approx(np.full(2, slope.mean()), rel=0.05)
    ingresses = n_ingresses(sizes, smallest=20)
    assert (ingresses[0], ingresses[-1]) == (2000, 1)
    assert (np.diff(ingresses) <= 0).all()
    assert ingresses[sizes >= 6500].mean() == pytest.approx(100, abs=1)


@settings(max_examples=examples(100), deadline=None)
@given(
    n_ases=st.integers(2, 500),
    smallest=st.integers(1, 10**6),
    more=st.integers(0, 10**9),
    largest=st.integers(1, 2 * 10**9),
)
def test_sizes_keep_their_bounds_and_their_sum_or_are_refused(n_ases, smallest, more, largest):
    n_routers = n_ases * smallest + more
    if n_routers < 2 * n_ases * smallest:
        with pytest.raises(UsageError, match=f"give {2 * n_ases * smallest:,} routers"):
            as_sizes(n_ases, n_routers, smallest=smallest)
        n_routers = 2 * n_ases * smallest
    sizes = as_sizes(n_ases, n_routers, smallest=smallest)
    assert sizes.sum() == n_routers
    assert sizes[-1] == smallest
    least, most = -(-(n_routers - smallest) // (n_ases - 1)), n_routers - (n_ases - 1) * smallest
    if not least <= largest <= most:
        with pytest.raises(UsageError, match=f"give {least} to {most} in the largest"):
            as_sizes(n_ases, n_routers, smallest=smallest, largest=largest)
        largest = min(max(largest, least), most)
    sizes = as_sizes(n_ases, n_routers, smallest=smallest, largest=largest)
    assert len(sizes) == n_ases
    assert (sizes[0], sizes[-1], sizes.sum()) == (largest, smallest, n_routers)
    assert (np.diff(sizes) <= 0).all()


# Routers and ASes: of few and many, of averages from 2 to 200,000; the averages of some are
# the size of the smallest AS by default.
RATIOS = (
    (3, 60), (3, 1000), (4, 90), (3000, 60_000), (3000, 70_000), (5, 1000), (5, 10**6),
    (8, 1000), (50, 100), (50, 1000), (50, 10**7), (199, 4001), (3000, 6000), (3001, 7919),
    (47_000, 10**6), (47_000, 50_000_000),
)  # fmt: skip


@pytest.mark.parametrize(("n_ases", "n_routers"), RATIOS)
def test_ases_differ_in_size_at_any_ratio_of_routers_and_ases(n_ases, n_routers):
    """3,000 ASes of 60,000 routers had 20 each, and five of 1,000 had 245, 245, 245, 245 and 20."""
    sizes = as_sizes(n_ases, n_routers)
    assert sizes.sum() == n_routers
    assert sizes[0] >= 0.135 * n_routers
    assert sizes[0] > sizes[1]
    assert sizes[0] >= 3 * np.median(sizes)
    assert (sizes == sizes[-1]).mean() <= 0.7
    assert sizes[-1] <= max(1, n_routers / n_ases / 5)


@pytest.mark.parametrize(
    ("n_ases", "n_routers", "more", "message"),
    [
        (
            3000,
            60_000,
            {"smallest": 20},
            "60,000 routers are too few for 3,000 ASes of 20 or more that differ in size: give "
            "120,000 routers, or 1,500 ASes (--ases), or 10 for the smallest (--min-routers)",
        ),
        (
            3000,
            4000,
            {},
            "4,000 routers are too few for 3,000 ASes of 1 or more that differ in size: give "
            "6,000 routers, or 2,000 ASes (--ases)",
        ),
        (2, 3, {}, "3 routers are too few for 2 ASes of 1 or more that differ in size: give 4"),
        (
            50,
            999,
            {"smallest": 20, "largest": 30},
            "999 routers are too few for 50 ASes of 20 or more and 30 in the largest: give "
            "1,010 routers",
        ),
    ],
)
def test_numbers_that_leave_all_ases_equal_are_refused_with_some_that_do_not(
    n_ases, n_routers, more, message
):
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        as_sizes(n_ases, n_routers, **more)
    routers, ases, smallest = (
        int(found[1].replace(",", "")) if (found := re.search(pattern, message)) else None
        for pattern in (r"give ([\d,]+)", r", or ([\d,]+) ASes", r", or ([\d,]+) for the")
    )
    assert len(as_sizes(n_ases, routers, **more)) == n_ases
    assert ases is None or len(as_sizes(ases, n_routers, **more)) == ases
    assert smallest is None or len(as_sizes(n_ases, n_routers, **more | {"smallest": smallest}))


def test_who_gives_both_bounds_gets_them():
    """Equal ASes too, if that is what they say."""
    assert as_sizes(3000, 60_000, smallest=20, largest=20).tolist() == [20] * 3000
