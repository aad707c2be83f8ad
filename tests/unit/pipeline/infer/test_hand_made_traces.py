"""Links, weights, nodes and ingresses that a few hand-made traces must give."""

import numpy as np
import pytest

from pipeline.errors import UsageError
from pipeline.infer import infer_topology, samples
from tests.addresses import format_addrs
from tests.unit.pipeline.infer.handmade import (
    alias_sets,
    asn_of,
    infer,
    ingresses_of,
    links_of,
    nodes_of,
    observe,
    prefix_table,
    traces,
)

A, B, C, D = (f"20.1.0.{i}" for i in (10, 20, 30, 40))
X, Y, Z = "20.2.0.10", "20.2.0.20", "20.3.0.10"
DARK = "20.0.0.10"  # routed by nobody


def test_a_link_joins_answers_of_consecutive_ttls_only(tmp_path):
    found = links_of(infer(tmp_path, f"{A} {B} * {C} {D}"))
    assert found == {(A, B): 1, (C, D): 1}


def test_both_directions_are_one_link_and_their_traces_add_up(tmp_path):
    found = links_of(infer(tmp_path, f"{A} {B}", f"{B} {A}", f"{A} {B}"))
    assert found == {(A, B): 3}


def test_bridging_joins_across_a_gap_and_is_marked(tmp_path):
    lines = [f"{A} {B} * * {C}", f"{A} * {B}"]
    topology = infer(tmp_path, *lines, bridge_gaps=True)
    assert links_of(topology) == {(A, B): 1, (B, C): 1}
    assert topology.link_columns["bridged"].tolist() == [False, True]
    assert topology.counts["bridged_links"] == 1
    assert links_of(infer(tmp_path, *lines)) == {(A, B): 1}


def test_a_repeated_address_ends_no_link_and_the_next_one_starts_at_its_end(tmp_path):
    topology = infer(tmp_path, f"{A}/1 {B}/2 {B}/4 {C}/10")
    assert links_of(topology) == {(B, C): 1}
    assert nodes_of(topology) == [A, B, C]
    assert topology.weight.tolist() == [3.0]
    assert topology.counts["links_within_a_router"] == 0


def test_where_an_address_repeats_rarely_the_way_changed(tmp_path):
    lines = [f"{A} {B} {C}"] * 4
    assert links_of(infer(tmp_path, *lines, f"{A} {B} {B} {C}")) == {(A, B): 5, (B, C): 5}
    assert links_of(infer(tmp_path, *lines, *[f"{A} {B} {B} {C}"] * 2)) == {(B, C): 6}


def test_without_the_rule_a_repeated_address_ends_a_link(tmp_path):
    topology = infer(tmp_path, f"{A}/1 {B}/2 {B}/4 {C}/10", without=["repeated-hops"])
    assert links_of(topology) == {(A, B): 1, (B, C): 1}
    assert topology.weight.tolist() == [0.5, 3.0]
    assert topology.counts["links_within_a_router"] == 0


def test_a_loop_gives_no_link_behind_where_it_begins(tmp_path):
    assert links_of(infer(tmp_path, f"{A} {B} {C} {B} {D}")) == {(A, B): 1}


def test_a_destination_that_is_no_router_is_neither_node_nor_link(tmp_path):
    topology = infer(tmp_path, f"{A} {B} {D}! > {D}")
    assert nodes_of(topology) == [A, B]
    assert links_of(topology) == {(A, B): 1}
    assert topology.counts["destinations_left_out"] == 1


def test_a_destination_that_also_answered_as_a_router_is_a_node_with_its_links(tmp_path):
    topology = infer(tmp_path, f"{A} {B} {D}! > {D}", f"{A} {D} {C}")
    assert links_of(topology) == {(A, B): 1, (A, D): 1, (B, D): 1, (C, D): 1}


def test_both_ends_of_a_link_between_targets_are_routers(tmp_path):
    # .1 and .2 of one /30: a trace to the far end passed the router of the near one.
    ends = "20.1.1.1", "20.1.1.2"
    lines = [f"{A} {ends[0]}! > {ends[0]}", f"{A} {B} {ends[1]}! > {ends[1]}"]
    topology = infer(tmp_path, *lines)
    assert links_of(topology) == {(A, B): 1, (A, ends[0]): 1, (B, ends[1]): 1}
    assert topology.counts["destinations_taken_for_routers"] == 2


@pytest.mark.parametrize(
    ("way", "found"),
    [
        (f"{A} {B}", False),  # no router between B and either end
        (f"{A} {B} {B}", False),
        (f"{A} {B} {B} {B}", False),
        (f"{A} {B} {C}", True),
        (f"{A} {B} {C} {C}", True),
        (f"{A} {B} {B} {C}", True),
        (f"{A} {B} * {C} {C}", False),
    ],
)
def test_a_passage_leads_through_another_router_however_often_each_answers(tmp_path, way, found):
    one, other = "20.1.1.1", "20.1.1.2"
    lines = [f"{A} {B} {one}! > {one}", f"{way} {other}! > {other}"]
    assert ({one, other} <= set(nodes_of(infer(tmp_path, *lines)))) is found


def test_neighbouring_addresses_alone_make_no_router_of_a_destination(tmp_path):
    lines = ["20.1.1.1 20.1.1.2! > 20.1.1.2", f"{A} 20.1.1.5! > 20.1.1.5"]
    assert nodes_of(infer(tmp_path, *lines)) == [A, "20.1.1.1"]


def test_a_vantage_that_was_traced_to_is_a_host(tmp_path):
    ends = "20.1.1.1", "20.1.1.2"
    batches = [
        traces(f"{A} {ends[0]}! > {ends[0]}", f"{A} {B} {ends[1]}! > {ends[1]}"),
        traces(f"{B} {C}", source=ends[1]),
    ]
    topology = infer_topology([observe(tmp_path, *batches)], asn=1)
    assert ends[1] not in nodes_of(topology)


def test_targets_are_routers_takes_every_destination_that_is_no_vantage(tmp_path):
    topology = infer(
        tmp_path, f"{A} {D}! > {D}", f"{A} 20.9.9.9! > 20.9.9.9", targets_are_routers=True
    )
    assert nodes_of(topology) == [A, D]


def test_the_weight_is_the_median_of_half_differences_of_both_directions(tmp_path):
    lines = [f"{A}/10 {B}/14", f"{A}/10 {B}/30", f"{B}/5 {A}/8"]  # 2, 10, 1.5
    assert infer(tmp_path, *lines).weight.tolist() == [2.0]
    assert infer(tmp_path, *lines, f"{A}/1 {B}/7").weight.tolist() == [2.5]  # and 3


def test_a_reply_without_an_rtt_changes_no_weight(tmp_path):
    topology = infer(tmp_path, f"{A}/10 {B}/20,{B}/nan,{B}/50 {C}/12,{C}/nan")
    assert topology.weight.tolist() == [5.0, pytest.approx(0.01)]
    assert topology.counts["rtt_floored"] == 1


def test_a_negative_median_is_floored_and_counted(tmp_path):
    topology = infer(tmp_path, f"{A}/10 {B}/4 {C}/24")
    assert topology.weight.tolist() == [pytest.approx(0.01), 10.0]
    assert topology.counts["rtt_floored"] == 1


def test_a_negative_sample_pulls_the_median_but_is_not_floored_itself(tmp_path):
    lines = [f"{A}/10 {B}/4", f"{A}/10 {B}/11", f"{A}/10 {B}/12"]
    assert infer(tmp_path, *lines).weight.tolist() == [0.5]


def test_a_link_without_rtt_has_none(tmp_path):
    topology = infer(tmp_path, f"{A}/nan {B}/4", f"{B} {C}")
    assert np.isnan(topology.weight[0])
    assert topology.weight[1] == 5.0
    assert topology.counts["links_without_rtt"] == 1


@pytest.mark.parametrize("bucket", [1 << 22, 64, 7])
def test_medians_are_exact_however_samples_are_cut(tmp_path, monkeypatch, bucket):
    monkeypatch.setattr(samples, "BUCKET_SAMPLES", bucket)
    rng = np.random.default_rng(3)
    routers = [f"20.1.1.{i}" for i in range(12)]
    halves: dict[tuple[str, str], list[float]] = {}
    lines = []
    for _ in range(400):
        one, other = sorted(rng.choice(2 if rng.random() < 0.5 else 12, 2, replace=False).tolist())
        near, far = (np.round(rng.random(2) * 8, 3)).tolist()
        lines.append(f"{routers[one]}/{near} {routers[other]}/{far}")
        halves.setdefault((routers[one], routers[other]), []).append((far - near) / 2)
    topology = infer(tmp_path, *lines)
    for pair, weight in zip(links_of(topology), topology.weight.tolist(), strict=True):
        assert weight == pytest.approx(max(0.01, np.median(halves[pair])), abs=6e-4)
    names = nodes_of(topology)
    assert {(names[a], names[b]) for a, b in zip(topology.near, topology.far, strict=True)} == set(
        halves
    )


def test_the_first_router_of_an_as_after_an_answer_of_another_is_an_ingress(tmp_path):
    topology = infer(tmp_path, f"{A} {B} {X} {Y} {Z}", f"{A} {X}", f"{Z} {Y}")
    assert ingresses_of(topology) == {
        X: ([1], 2, 0, False),
        Y: ([3], 1, 0, False),
        Z: ([2], 1, 0, False),
    }


def test_the_first_answer_of_a_trace_is_never_an_ingress(tmp_path):
    assert ingresses_of(infer(tmp_path, f"* {X} {Y}", f"{DARK} {X} {Y}")) == {}


@pytest.mark.parametrize("between", ["*", DARK, "10.0.0.1", f"* {DARK}"])
def test_an_entry_after_unanswered_or_unmapped_hops_is_a_candidate(tmp_path, between):
    topology = infer(tmp_path, f"{A} {between} {X} {Y}")
    assert ingresses_of(topology) == {X: ([1], 0, 1, True)}


def test_gaps_within_an_as_are_no_entry(tmp_path):
    assert ingresses_of(infer(tmp_path, f"{A} {X} * {Y}", f"{A} * {B} {DARK} {C}")) == {
        X: ([1], 1, 0, False)
    }


def test_an_ingress_keeps_direct_neighbours_and_counts_entries_after_gaps_apart(tmp_path):
    topology = infer(tmp_path, f"{A} {X}", f"{Z} * {X}", "20.4.0.1 " + X)
    assert ingresses_of(topology) == {X: ([1, 4], 2, 1, False)}
    assert topology.counts["ingresses"] == 1


def test_coming_back_to_an_as_enters_it_again(tmp_path):
    found = ingresses_of(infer(tmp_path, f"{A} {X} {B} {Y}"))
    assert sorted(found) == [B, X, Y]


def test_the_destinations_own_reply_is_no_ingress_even_of_a_router(tmp_path):
    topology = infer(tmp_path, f"{A} {X}! > {X}", f"{Y} {X} {Z}")
    assert ingresses_of(topology) == {Z: ([2], 1, 0, False)}


def test_private_reserved_and_unrouted_addresses_belong_to_no_as(tmp_path):
    table = prefix_table(tmp_path, "10.0.0.0\t8\t5\n198.18.0.0\t15\t6\n20.1.0.0\t16\t1\n")
    lines = [f"10.0.0.1 198.18.0.1 {A} {DARK}"]
    topology = infer(tmp_path, *lines, prefixes=table)
    assert asn_of(topology) == {"10.0.0.1": -1, DARK: -1, A: 1, "198.18.0.1": -1}
    assert topology.counts["n_unmapped"] == 3
    assert topology.counts["special_addresses"] == 2
    assert topology.counts["unrouted_addresses"] == 1
    allowed = infer(tmp_path, *lines, prefixes=table, allow_special=("198.18.0.0/15",))
    assert asn_of(allowed)["198.18.0.1"] == 6
    assert asn_of(allowed)["10.0.0.1"] == -1


def test_one_as_for_all_takes_every_public_address(tmp_path):
    topology = infer(tmp_path, f"10.0.0.1 {A} {X} 2600::1 fe80::1", asn=77)
    assert asn_of(topology) == {"10.0.0.1": -1, A: 77, X: 77, "2600::1": 77, "fe80::1": -1}
    assert ingresses_of(topology) == {}


def test_an_unmapped_address_amid_one_as_is_elected_into_it(tmp_path):
    lines = [f"{A} 10.0.0.1 {B}", f"{C} 10.0.0.1 {B}"]
    assert asn_of(infer(tmp_path, *lines, borders="elected"))["10.0.0.1"] == 1
    assert asn_of(infer(tmp_path, *lines))["10.0.0.1"] == -1


@pytest.mark.parametrize(
    "lines",
    [
        [f"{A} 10.0.0.1"],
        [f"10.0.0.1 {A}"],
        [f"{A} 10.0.0.1 {B}", f"{X} 10.0.0.1 {B}"],
    ],
)
def test_an_unmapped_address_at_a_border_or_with_one_side_stays_unmapped(tmp_path, lines):
    topology = infer(tmp_path, *lines, borders="elected")
    assert asn_of(topology)["10.0.0.1"] == -1
    assert topology.counts["n_unmapped"] == 1


def test_ipv4_and_ipv6_are_in_one_table(tmp_path):
    table = prefix_table(tmp_path, "20.1.0.0\t16\t1\n2600:1::\t32\t2\n")
    topology = infer(tmp_path, f"{A} {B}", "2600:1::1 2600:1::5", prefixes=table)
    assert asn_of(topology) == {A: 1, B: 1, "2600:1::1": 2, "2600:1::5": 2}
    assert len(links_of(topology)) == 2


def test_every_address_of_a_node_is_kept(tmp_path):
    second = "20.1.0.15"
    topology = infer(tmp_path, f"{A} {B}", f"{second} {B}", aliases=alias_sets((A, second)))
    nodes = [nodes_of(topology)[node] for node in topology.addr_node.tolist()]
    assert dict(zip(format_addrs(topology.addrs), nodes, strict=True)) == {A: A, B: B, second: A}


def test_no_trace_at_all_is_an_empty_topology(tmp_path):
    for seen in ([], [observe(tmp_path)], [observe(tmp_path, traces("* *"))]):
        topology = infer_topology(seen, asn=1)
        assert (topology.n_nodes, topology.n_links, len(topology.ingresses)) == (0, 0, 0)


def test_what_cannot_be_done_is_reported(tmp_path):
    with pytest.raises(UsageError, match="--ip2as"):
        infer_topology([], prefixes=None, asn=None)
    with pytest.raises(UsageError, match=r"198\.18\.0\.1/15"):
        infer_topology([], asn=1, allow_special=("198.18.0.1/15",))
    with pytest.raises(UsageError, match="elected or prefix"):
        infer_topology([], asn=1, borders="guess")
