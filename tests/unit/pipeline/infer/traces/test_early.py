"""Destinations that "answered" before other hops, and never behind them."""

import numpy as np
import pytest

from pipeline.infer import infer_topology
from pipeline.infer.traces.early import find_believed
from pipeline.infer.traces.links import count_links
from pipeline.infer.traces.merge import merge_addresses
from pipeline.infer.traces.passes import Finding, Spools
from pipeline.model.measured.traces import LABELLED
from tests.addresses import format_addrs
from tests.unit.pipeline.infer.handmade import observe, prefix_table, traces

A, B, C, D, E = (f"20.1.0.{i}" for i in (10, 20, 30, 40, 50))
TARGETS = [f"20.3.0.{i}" for i in range(8)]


def shown(tmp_path, *files):
    """Router addresses, and links as pairs, of some files of lines."""
    seen = [observe(tmp_path, traces(*lines)) for lines in files]
    observed = merge_addresses(seen)
    links = Spools(seen, observed.addrs, 2).read(count_links())
    names = format_addrs(observed.addrs)
    routers = {
        n for n, is_router in zip(names, observed.is_router.tolist(), strict=True) if is_router
    }
    ends = zip(links.near.tolist(), links.far.tolist(), links.n_bridged.tolist(), strict=True)
    return routers, {(names[a], names[b]) for a, b, n_bridged in ends if not n_bridged}


@pytest.mark.parametrize("kind", ["", "?", "!"])
def test_one_destination_before_a_hop_is_a_router(tmp_path, kind):
    lines = [f"{A} {D}{kind} {B} > {D}"] * 3
    assert shown(tmp_path, lines) == ({A, B, D}, {(A, D), (D, B)})


def test_two_destinations_before_one_hop_are_neither_routers_nor_hops(tmp_path):
    lines = [f"{A} {D} {B} > {D}", f"{A} {E} {B} > {E}"]
    assert shown(tmp_path, lines) == shown(tmp_path, [lines[1]], [lines[0]]) == ({A, B}, set())


def test_other_hops_behind_each_say_nothing(tmp_path):
    routers, links = shown(tmp_path, [f"{A} {D} {B} > {D}", f"{A} {E} {C} > {E}"])
    assert {D, E} <= routers
    assert {(D, B), (E, C)} <= links


def test_a_destination_that_answered_at_last_is_evidence_too(tmp_path):
    lines = [f"{D} {B} {C} {D}! > {D}", f"{E} {B} {C} > {E}"]
    assert shown(tmp_path, lines) == ({B, C}, {(B, C), (C, D)})
    assert shown(tmp_path, lines[1:]) == ({B, C, E}, {(E, B), (B, C)})


def test_a_router_on_the_way_elsewhere_stays_one(tmp_path):
    lines = [f"{D} {B} > {D}", f"{E} {B} > {E}", f"{A} {D} {C} > 20.8.8.8"]
    assert shown(tmp_path, lines) == ({A, B, C, D}, {(A, D), (D, C)})


def test_hops_around_keep_their_ttl_rtt_and_labels(tmp_path):
    lines = [f"{A} {name}# {B}# {C} > {name}" for name in (D, E)]
    seen = [observe(tmp_path, traces(*lines, f"{A}# {B}"))]
    blocks = []
    Spools(seen, merge_addresses(seen).addrs, 1).read(
        Finding(lambda: None, lambda _, batch: blocks.append(batch.traces), lambda _: None)
    )
    (block,) = blocks
    assert block.hop_ptr.tolist() == [0, 3, 6, 8]
    assert block.ttl.tolist() == [1, 3, 4, 1, 3, 4, 1, 2]
    assert block.rtt_ms.tolist() == [10, 30, 40, 10, 30, 40, 10, 20]
    assert (block.kind >= LABELLED).tolist() == [0, 1, 0, 0, 1, 0, 1, 0]


def test_a_gateway_that_rewrites_leaves_what_is_seen_without_it(tmp_path):
    def topology(first, target):
        lines = [
            f"{first(t)} {A} 20.2.0.{i} 20.2.1.9 {target(t)} > {t}" for i, t in enumerate(TARGETS)
        ]
        seen = [observe(tmp_path, traces(*lines))]
        return infer_topology(seen, prefixes=prefix_table(tmp_path), borders="prefix")

    for target in (lambda t: f"{t}!"), (lambda t: "*"):
        plain = topology(lambda t: "*", target)
        rewritten = topology(str, target)
        for name in ("node_asn", "near", "far", "node_addr"):
            assert np.array_equal(getattr(plain, name), getattr(rewritten, name)), name
        assert rewritten.ingresses.node.tolist() == plain.ingresses.node.tolist()


def test_no_early_reply_is_nothing_to_decide(tmp_path):
    assert find_believed([]) == []
    seen = [observe(tmp_path, traces(f"{A} {B}")), observe(tmp_path, traces(f"{D} {A} > {D}"))]
    assert [one.tolist() for one in find_believed(seen)] == [[], [True]]
