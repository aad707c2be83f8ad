"""Silent routers: gaps that no answering routers stand for."""

import networkx as nx
import numpy as np
import pytest

from pipeline.infer.silent import SilentRouters, find_silent
from pipeline.infer.traces.links import DirectedLinks, NodeLinks
from pipeline.model.columns.keys import pair_keys, split_key
from pipeline.model.topology import NO_ASN
from tests.unit.pipeline.infer.handmade import infer, nodes_of

# Of one AS each, and in no blocks with a mate.
A, B, C, D = (f"20.1.0.{i}" for i in (10, 20, 30, 40))
X = "20.2.0.10"


def graph_of(tmp_path, *lines, **options):
    """Links by address; silent routers by s0, s1, ... in the order of their numbers."""
    topology = infer(tmp_path, *lines, **({"borders": "elected", "routers": "inferred"} | options))
    names = nodes_of(topology)
    silent = topology.node_columns.get("silent", np.zeros(topology.n_nodes, bool))
    for i, node in enumerate(np.flatnonzero(silent)):
        assert names[node] == "::"
        names[node] = f"s{i}"
    pairs = zip(topology.near.tolist(), topology.far.tolist(), strict=True)
    assert topology.counts["silent_routers"] == np.count_nonzero(silent)
    return {tuple(sorted((names[a], names[b]))) for a, b in pairs}, topology


def test_one_unanswered_hop_is_a_silent_router(tmp_path):
    links, topology = graph_of(tmp_path, f"{A}/1 * {B}/9", f"{B}/1 * {A}/9", f"{A}/2 * {B}/8")
    assert links == {(A, "s0"), (B, "s0")}
    assert topology.node_asn.tolist() == [topology.node_asn[0]] * 3
    assert topology.weight.tolist() == [2.0, 2.0]  # half of what lies between A and B, each
    columns = topology.link_columns
    assert columns["n_traces"].tolist() == [3, 3]
    assert columns["bridged"].tolist() == [True, True]
    assert columns["mpls"].tolist() == [False, False]
    assert topology.counts["links"] == topology.counts["bridged_links"] == 2


def test_two_unanswered_hops_are_a_chain(tmp_path):
    links, topology = graph_of(tmp_path, f"{A}/1 * * {B}/13")
    assert links == {(A, "s0"), ("s0", "s1"), (B, "s1")}
    assert topology.weight.tolist() == pytest.approx([2.0, 2.0, 2.0])


def test_a_hop_that_answers_for_the_one_before_it_hides_a_silent_router(tmp_path):
    links, topology = graph_of(tmp_path, f"{A}/1 {B}/7 {B}/9 {C}/11")
    assert links == {(A, "s0"), (B, "s0"), (B, C)}
    assert topology.weight.tolist() == pytest.approx([1.0, 1.5, 1.5])  # B answered first for it


def test_what_lies_right_before_one_address_is_one_silent_router(tmp_path):
    links, topology = graph_of(tmp_path, f"{A} * {C}", f"{B} * {C}", f"{A} * {D}")
    assert links == {(A, "s0"), (B, "s0"), (C, "s0"), (A, "s1"), (D, "s1")}
    assert topology.node_columns["silent"].tolist() == [False] * 4 + [True] * 2


def test_of_gaps_between_the_same_two_the_shortest_counts(tmp_path):
    longer = (f"{A}/1 * * {B}/501", f"{A}/1 * * * {B}/901", f"{A}/1 * * {B}/701")
    links, topology = graph_of(tmp_path, f"{B}/1 * {A}/5", *longer)
    assert links == {(A, "s0"), (B, "s0")}
    assert topology.link_columns["n_traces"].tolist() == [1, 1]
    assert topology.weight.tolist() == [1.0, 1.0]  # of that one trace


def test_a_silent_router_and_one_that_answers_sometimes_are_not_three_silent_ones(tmp_path):
    links, _ = graph_of(tmp_path, f"{A} * {B} {C}", f"{A} * * {C}")
    assert links == {(A, "s0"), (B, "s0"), (B, C)}


@pytest.mark.parametrize(
    "lines",
    [
        (f"{A} * * * {B}",),  # longer gaps say little
        (f"{A} * {B}", f"{A} {C} {B}"),  # C answered to another trace
        (f"{A} * {B}", f"{B} {C} * {D}", f"{C} {A}", f"{D} {C}"),
        (f"{A} * {B}", f"{A} {B}"),
        (f"{A} * * {B}", f"{A} {C}", f"{C} {D}", f"{D} {B}"),
        (f"{A} * {X}",),  # in two ASes
        (f"{A} * {A} {B}",),
    ],
)
def test_no_silent_router_where_others_lead_there_or_none_may_be_meant(tmp_path, lines):
    assert graph_of(tmp_path, *lines)[1].counts["silent_routers"] == 0


def test_a_path_of_answering_routers_that_is_longer_than_the_gap_does_not_stand_for_it(tmp_path):
    links, _ = graph_of(tmp_path, f"{A} * {B}", f"{A} {C}", f"{C} {D}", f"{D} {B}")
    assert {(A, "s0"), (B, "s0")} < links


@pytest.mark.parametrize(
    "options", [{"routers": "interfaces"}, {"borders": "prefix"}, {"bridge_gaps": True}]
)
def test_none_where_nodes_are_interfaces_owners_are_not_elected_or_gaps_are_bridged(
    tmp_path, options
):
    _, topology = graph_of(tmp_path, f"{A} * {B}", **options)
    assert topology.node_columns == {}
    assert topology.counts["silent_routers"] == 0
    assert topology.n_nodes == 2


def test_silent_routers_are_the_last_nodes(tmp_path):
    _, topology = graph_of(tmp_path, f"{A} * {B} * {C}", f"{C} {D}")
    silent = topology.node_columns["silent"]
    assert silent.tolist() == [False] * 4 + [True] * 2
    assert topology.addr_node is not None
    assert not silent[topology.addr_node].any()


@pytest.mark.parametrize("seed", range(30))
def test_found_are_those_gaps_that_a_search_finds(seed):
    rng = np.random.default_rng(seed)
    n = 40
    node_asn = rng.choice([NO_ASN, 1, 2, 2, 2], n)
    key = np.unique(pair_keys(*(rng.integers(0, n, (2, 55)))))
    near, far = split_key(key)
    near, far = near[near != far], far[near != far]
    ones = np.ones(len(near), np.int64)
    plain = NodeLinks(near, far, ones, ones < 0, ones < 0, 0)
    pairs = np.unique(rng.integers(0, n, (300, 2)), axis=0)
    past_one, past_two = rng.integers(0, 3, (2, len(pairs)))
    zero = np.zeros(len(pairs), np.int64)
    given = DirectedLinks(
        *pairs.T, zero, zero, past_one + past_two, past_one, past_two, zero, zero, zero < 0
    )

    inside = nx.Graph((a, b) for a, b in zip(near, far, strict=True) if node_asn[a] == node_asn[b])
    inside.add_nodes_from(range(n))
    traces: dict[tuple[int, int], list[int]] = {}
    for (a, b), *counts in zip(pairs.tolist(), past_one.tolist(), past_two.tolist(), strict=True):
        both = traces.setdefault((min(a, b), max(a, b)), [0, 0])
        both[:] = [old + new for old, new in zip(both, counts, strict=True)]
    expected: dict[tuple[int, int], tuple[int, int]] = {}
    for length in (1, 2):
        for (a, b), counts in traces.items():
            in_one_as = node_asn[a] == node_asn[b] != NO_ASN
            if a == b or not in_one_as or length != (1 if counts[0] else 2 if counts[1] else 0):
                continue
            hops = nx.single_source_shortest_path_length(inside, a).get(b, n)
            if hops > length + 1:
                expected[a, b] = length, counts[length - 1]
        for a, b in expected:
            nx.add_path(inside, (a, ("silent", a, b), b))
    found = find_silent(given, np.arange(n), node_asn, plain)
    rows = zip(found.near, found.far, found.n_routers, found.n_traces, strict=True)
    assert {(int(a), int(b)): (int(k), int(m)) for a, b, k, m in rows} == expected
    assert len(expected) > 5


def test_drawing_nothing_changes_nothing():
    one = np.ones(1, np.int64)
    links = NodeLinks(one - 1, one, one, one < 0, one < 0, 0)
    drawn, weight, gap = SilentRouters.none().draw(links, one.astype(np.float32), 2)
    assert (drawn.near.tolist(), drawn.far.tolist(), weight.tolist()) == ([0], [1], [1.0])
    assert len(gap) == 0
