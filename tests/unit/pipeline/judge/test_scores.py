"""Figures in small networks, counted by hand."""

from dataclasses import replace

import numpy as np
import pytest

from pipeline.judge import Score, Truth, find_visible, score
from pipeline.judge.scores import standard_error
from pipeline.model.addresses import format_addrs
from tests.unit.pipeline.infer.handmade import alias_sets, infer, observe, traces

# By prefix, 20.1.0.0/16 is in AS 1, and so on; 20.0.0.0/16 is routed by nobody.
# p is in AS 1; q and r are in AS 2, q with an address of AS 1; r has a second link to AS 1.
P, Q, R, DARK = "20.1.0.1", "20.1.0.5", "20.2.0.1", "20.0.0.9"
ROUTERS = {P: "p", Q: "q", R: "r", DARK: "r"}
LINKS = frozenset({frozenset("pq"), frozenset("qr"), frozenset("pr")})


@pytest.fixture
def judge(tmp_path):
    """Score of what is inferred from lines of traces, in the network above unless given."""

    def get(truth: Truth, *lines: str, **options) -> Score:
        topology = infer(tmp_path, *lines, **options)
        return score(topology, truth, find_visible(truth, [observe(tmp_path, traces(*lines))]))

    return get


def network(asn_of: dict[str, int], **neighbors: set[int]) -> Truth:
    return Truth(asn_of, ROUTERS, LINKS, neighbors)


def test_an_unmapped_address_counts_as_wrong(judge):
    found = judge(network({"p": 1, "q": 2, "r": 2}), f"{P} {DARK}")
    assert (found.addrs_right, found.addrs) == (1, 2)


def test_an_ingress_next_to_the_wrong_as_counts_as_wrong(judge):
    # By prefix p is in AS 1: so r is entered from there, where it has no link to.
    asn_of = {"p": 3, "q": 2, "r": 2}
    found = judge(network(asn_of, p={2}, r={3}), f"{P} {R}")
    assert (found.ingresses_right, found.ingresses, found.borders_found) == (0, 1, 0)
    found = judge(network(asn_of, p={2}, r={1, 3}), f"{P} {R}")
    assert (found.ingresses_right, found.ingresses, found.borders_found) == (1, 1, 1)


def test_one_right_neighbour_of_several_is_enough(judge):
    truth = network({"p": 1, "q": 2, "r": 2}, p={2}, q={1}, r={1})
    found = judge(truth, f"{P} {R}", f"20.3.0.1 {R}")
    assert (found.ingresses_right, found.ingresses) == (1, 1)


def test_border_routers_found_are_some_of_the_visible_ones(judge):
    # By prefix r is the ingress, and it is a border router to AS 1; but the trace enters by q.
    truth = network({"p": 1, "q": 2, "r": 2}, p={2}, q={1}, r={1})
    found = judge(truth, f"{P} {Q} {R}")
    assert (found.ingresses_right, found.borders_visible, found.borders_found) == (1, 1, 0)


def test_a_shared_link_numbered_by_the_neighbour_moves_the_border_by_one_router(judge):
    # q answers with its neighbour's address: by prefix r is the ingress, which has no such link.
    truth = network({"p": 1, "q": 2, "r": 2}, p={2}, q={1})
    found = judge(truth, f"{P} {Q} {R}")
    assert (found.ingresses_right, found.ingresses) == (0, 1)
    assert (found.borders_found, found.borders_visible, found.borders_true) == (0, 1, 2)
    assert (found.ases_found, found.ases_visible) == (0, 1)
    assert (found.addrs_right, found.addrs) == (2, 3)


def test_a_member_that_answers_from_an_exchange_lan_is_in_its_own_as(judge):
    # The LAN is announced by AS 7; s of AS 3 is behind it.
    lan = {"20.7.0.2": "s", P: "p"}
    truth = Truth({"p": 1, "s": 3}, lan, frozenset({frozenset("ps")}), {"p": {3}, "s": {1}}, 1)
    found = judge(truth, f"{P} 20.7.0.2 20.3.0.1 > 20.3.0.9")
    assert (found.addrs_right, found.addrs) == (1, 2)  # 20.3.0.1 is of no known router
    # Two wrong ingresses: the LAN in AS 7, and what is behind it in AS 3.
    assert (found.ingresses_right, found.ingresses) == (0, 2)
    assert (found.ases_found, found.ases_visible) == (0, 1)


def test_candidates_are_left_out(judge):
    found = judge(network({"p": 1, "q": 2, "r": 2}, p={2}, r={1}), f"{P} * {R}")
    assert (found.ingresses, found.candidates) == (0, 1)
    assert (found.borders_visible, found.ingress_precision, found.border_recall) == (0, 0, 0)


def test_links_that_are_not_there_are_false_and_links_not_seen_are_not_visible(judge):
    truth = Truth(
        {"p": 1, "q": 1, "r": 1},
        {P: "p", Q: "q", "20.1.0.9": "r"},
        frozenset({frozenset("pq"), frozenset("qr")}),
        {},
    )
    found = judge(truth, f"{P} {Q} * 20.1.0.9", f"{P} 20.1.0.9")
    assert (found.links_found, found.links_visible, found.links_true) == (1, 1, 2)
    assert found.links_false == 1
    assert (found.link_recall, found.link_precision) == (1, 0.5)


def test_links_that_are_said_to_hide_routers_are_counted_apart(tmp_path):
    # p - q is a link, p - r is not: whatever is marked, links right has both.
    lines = f"{P} {Q}", f"{P} {R}"
    truth = Truth({"p": 1, "q": 2, "r": 2}, ROUTERS, LINKS - {frozenset("pr")}, {})
    topology = infer(tmp_path, *lines)
    visible = find_visible(truth, [observe(tmp_path, traces(*lines))])
    is_false = [
        R in format_addrs(topology.node_addr[[a, b]])
        for a, b in zip(topology.near, topology.far, strict=True)
    ]
    for marked, plain in (([False, False], (1, 2)), (is_false, (1, 1)), ([True, True], (0, 0))):
        columns = topology.link_columns | {"may_hide": np.array(marked)}
        found = score(replace(topology, link_columns=columns), truth, visible)
        assert (found.links_found, found.links_judged) == (1, 2)
        assert (found.plain_links_right, found.plain_links) == plain


def test_a_link_to_a_node_in_no_as_is_in_no_graph(judge):
    found = judge(network({"p": 1, "q": 2, "r": 2}), f"{P} {DARK}")
    assert (found.links_found, found.links_visible) == (0, 1)


def test_pairs_of_addresses_on_one_node(judge):
    # p has three addresses, q one and r two that answered.
    p2, p3 = "20.1.0.2", "20.1.0.3"
    routers = ROUTERS | {p2: "p", p3: "p"}
    truth = Truth({"p": 1, "q": 1, "r": 1}, routers, LINKS, {})
    lines = (f"{P} {R}", f"{p2} {Q}", f"{p3} {DARK}")
    found = judge(truth, *lines, aliases=alias_sets((P, p2), (Q, R)))
    assert (found.alias_pairs_right, found.alias_pairs) == (1, 2)
    assert (found.alias_pairs_found, found.alias_pairs_visible) == (1, 3 + 1)
    assert (found.alias_precision, found.alias_recall) == (0.5, 0.25)
    # An address of no known router is on a router of its own.
    found = judge(truth, *lines, "20.1.9.9", aliases=alias_sets((P, "20.1.9.9")))
    assert (found.alias_pairs_right, found.alias_pairs) == (0, 1)


def test_a_merged_address_is_in_the_as_of_its_node(judge):
    truth = Truth({"p": 1, "q": 2, "r": 2}, ROUTERS, LINKS, {"p": {2}, "r": {1}})
    found = judge(truth, f"{P} {R}", f"{P} {DARK}", aliases=alias_sets((R, DARK)))
    assert (found.addrs_right, found.addrs) == (3, 3)


def test_two_nodes_of_one_router_make_hops_too_high(judge):
    # AS 2 is the path r, s, t. r is entered; s answers with two addresses, t only behind the
    # second, and a detour by u is the only way that traces show from the first to it.
    s1, s2, t, u = (f"20.2.0.{i}" for i in (11, 12, 13, 14))
    routers = {P: "p", R: "r", s1: "s", s2: "s", t: "t", u: "u"}
    links = frozenset(map(frozenset, ("pr", "rs", "st", "su")))
    truth = Truth(dict.fromkeys("rstu", 2) | {"p": 1}, routers, links, {"p": {2}, "r": {1}})
    lines = (f"{P} {R} {s1} {u}", f"{u} {s2} {t}")
    found = judge(truth, *lines)
    # From r: s1 at 1, u at 2; s2 at 3 instead of 1, t at 4 instead of 2.
    assert (found.hop_pairs, found.hops_equal, found.hops_excess) == (4, 2, 1.0)
    found = judge(truth, *lines, aliases=alias_sets((s1, s2)))
    assert (found.hop_pairs, found.hops_equal, found.hops_excess) == (3, 3, 0.0)


def test_links_that_no_trace_shows_make_hops_too_high_at_best(judge):
    # AS 2 is the ring r, s, t; no trace shows the link of r and t.
    routers = {P: "p", R: "r", "20.2.0.11": "s", "20.2.0.13": "t"}
    links = frozenset(map(frozenset, ("pr", "rs", "st", "rt")))
    truth = Truth(dict.fromkeys("rst", 2) | {"p": 1}, routers, links, {"p": {2}, "r": {1}})
    found = judge(truth, f"{P} {R} 20.2.0.11 20.2.0.13")
    # From r: s at 1, t at 2 instead of 1.
    assert (found.best_pairs, found.best_equal, found.best_excess) == (2, 1, 0.5)
    assert found.best_equal_share == 0.5


def test_gaps_that_are_shorter_than_what_links_show_count_at_best(judge):
    # AS 2 is the ring r, s, w, t and x, which is silent.
    s, w, t = (f"20.2.0.{i}" for i in (11, 12, 13))
    routers = {P: "p", R: "r", s: "s", w: "w", t: "t"}
    links = frozenset(map(frozenset, ("pr", "rs", "sw", "wt", "rx", "xt")))
    truth = Truth(dict.fromkeys("rswtx", 2) | {"p": 1}, routers, links, {"p": {2}, "r": {1}})
    lines = (f"{P} {R} {s} {w}", f"{w} {t}")
    found = judge(truth, *lines)
    assert (found.best_pairs, found.best_equal, found.best_excess) == (3, 2, 1 / 3)
    found = judge(truth, *lines, f"{P} {R} * {t}")
    assert (found.best_pairs, found.best_equal, found.best_excess) == (3, 3, 0.0)
    found = judge(truth, *lines, f"{P} {R} * * {t}", f"{P} * {R}", f"{R} * {s}")
    assert (found.best_pairs, found.best_equal, found.best_excess) == (3, 2, 1 / 3)


def test_visible_entries_have_their_neighbour(tmp_path):
    truth = network({"p": 1, "q": 2, "r": 2}, p={2}, q={1}, r={1})
    seen = find_visible(truth, [observe(tmp_path, traces(f"{P} {Q} {R}", f"{P} * {DARK}"))])
    assert seen.entries == {("q", 1)}
    assert seen.links == {frozenset("pq"), frozenset("qr")}
    assert seen.addrs == {P, Q, R, DARK}


def test_what_is_said_of_one_router_counts_once(judge):
    # r is entered by three addresses; by prefix one of them is in AS 3.
    r2, r3 = "20.2.0.9", "20.3.0.1"
    truth = Truth({"p": 1, "q": 2, "r": 2}, ROUTERS | {r2: "r", r3: "r"}, LINKS, {"r": {1}})
    lines = (f"{P} {R}", f"{P} {r2}", f"{P} {r3}")
    found = judge(truth, *lines)
    assert (found.ingresses_right, found.ingresses) == (2, 3)
    assert (found.routers_right, found.routers) == (1, 2)  # AS 2 and AS 3 are said of r
    found = judge(truth, *lines, aliases=alias_sets((R, r2, r3)))
    assert (found.ingresses_right, found.routers_right, found.routers) == (1, 1, 1)


def test_the_error_of_a_share_is_by_the_spread_between_ases():
    # Shares 1 and 0 of two equal ASes: sqrt((0.5 * 2) ** 2 * 2 * 2) / 4.
    assert standard_error({1: (2, 2), 2: (0, 2)}) == pytest.approx(0.5)
    assert standard_error({1: (1, 2), 2: (3, 6)}) == 0
    assert standard_error({1: (1, 2), 2: (0, 0)}) is None


def test_of_a_part_of_a_network_only_known_routers_are_judged(judge):
    # The same ingress at R; 20.3.0.1 is of no known router.
    lines = f"{P} {R}", f"{P} 20.3.0.1"
    whole = network({"p": 1, "q": 2, "r": 2}, p={2}, r={1})
    found = judge(whole, *lines)
    assert (found.ingresses_right, found.ingresses, found.not_judged) == (1, 2, 0)
    found = judge(replace(whole, is_whole=False), *lines)
    assert (found.ingresses_right, found.ingresses, found.not_judged) == (1, 1, 1)
