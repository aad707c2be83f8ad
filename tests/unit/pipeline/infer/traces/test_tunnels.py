"""Links that may hide routers, on hand-made traces and on drawn networks."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest

from pipeline.infer import infer_topology
from tests.addresses import format_addrs
from tests.oracles.truth.sources import drawn
from tests.unit.pipeline.infer.handmade import (
    nodes_of,
    observe,
    prefix_table,
    traces,
    with_reply_ttls,
)

# AS 1 is before AS 2, AS 3 behind it; ways in and out of AS 2, and routers inside it.
IN = [f"20.2.0.{i}" for i in (10, 20, 30, 40)]
BEFORE = [f"20.1.0.{i}" for i in (10, 20, 30, 40)]
BEHIND = [f"20.3.0.{i}" for i in (10, 20, 30, 40)]


def marked(tmp_path, batches, **options):
    seen = [observe(tmp_path, *batches)]
    topology = infer_topology(
        seen, prefixes=prefix_table(tmp_path), routers="interfaces", **options
    )
    names = nodes_of(topology)
    rows = zip(topology.near, topology.far, topology.link_columns["may_hide"], strict=True)
    found = {frozenset((names[near], names[far])) for near, far, hides in rows if hides}
    assert topology.counts["links_that_may_hide"] == len(found)
    return found


def crossing(middle=""):
    """From each router of AS 2 to each other one, with others between or not."""
    return [
        f"{BEFORE[i]} {IN[i]} {middle} {IN[j]} {BEHIND[j]} * > 20.4.0.{9 * i + j}"
        for i, j in permutations(range(4), 2)
    ]


def ttls_left(hidden: int) -> dict[str, int]:
    """By address, where ``hidden`` routers are on the way back through AS 2 alone."""
    left = dict.fromkeys(BEFORE, 254) | dict.fromkeys(IN, 253)
    return left | dict.fromkeys(BEHIND, 251 - hidden)


def test_an_as_that_is_always_crossed_in_one_hop_may_hide_routers(tmp_path):
    mesh = {frozenset(pair) for pair in permutations(IN, 2)}
    assert marked(tmp_path, [traces(*crossing())]) == mesh
    assert marked(tmp_path, [traces(*crossing())], without=["one-hop-ases"]) == set()


def test_one_that_shows_a_router_between_does_not(tmp_path):
    assert marked(tmp_path, [traces(*crossing("20.2.0.90"))]) == set()


def test_three_routers_are_too_few(tmp_path):
    lines = [line for line in crossing() if IN[3] not in line]
    assert marked(tmp_path, [traces(*lines)]) == set()


def batches_of(lines, left):
    """The lines from eight vantage points, with the TTLs that were left of replies."""
    return [with_reply_ttls(traces(*lines, source=f"20.9.9.{i}"), left) for i in range(8)]


@pytest.mark.parametrize(("jump", "are_marked"), [(0, False), (1, True), (3, True), (-2, False)])
def test_replies_that_come_from_further_behind_a_link_show_a_tunnel(tmp_path, jump, are_marked):
    lines = [f"{BEFORE[0]} {IN[0]} {IN[1]} {BEHIND[0]} * > 20.4.0.1"]
    left = {BEFORE[0]: 254, IN[0]: 253, IN[1]: 252 - jump, BEHIND[0]: 251 - jump}
    batches = batches_of(lines, left)
    expected = {frozenset(IN[:2])} if are_marked else set()
    assert marked(tmp_path, batches) == expected
    assert marked(tmp_path, batches, without=["reply-jumps"]) == set()
    # What started with 64 never counts the routers of a tunnel.
    assert marked(tmp_path, batches_of(lines, left | {IN[1]: 61 - jump})) == set()
    # One vantage point is too few: ways back are often others.
    assert marked(tmp_path, batches[:1]) == set()


def test_replies_that_jump_everywhere_show_nothing(tmp_path):
    """As many jumps across links between ASes: ways back are others here."""
    lines = [f"{BEFORE[0]} {IN[0]} {IN[1]} {BEHIND[0]} 20.4.0.90 20.5.0.90 * > 20.6.0.1"]
    left = {BEFORE[0]: 254, IN[0]: 250, IN[1]: 247, BEHIND[0]: 244}
    left |= {"20.4.0.90": 240, "20.5.0.90": 230}
    assert marked(tmp_path, batches_of(lines, left)) == set()


def test_links_are_not_looked_at_where_borders_are_by_prefix(tmp_path):
    topology = infer_topology(
        [observe(tmp_path, traces(*crossing()))], prefixes=prefix_table(tmp_path), borders="prefix"
    )
    assert "may_hide" not in topology.link_columns
    assert "links_that_may_hide" not in topology.counts


# Small networks: 70 % of the larger ASes hide their inner routers, or none does.
FIELDS = ("n_stub=30", "n_vantage_points=6")


def judged(kind, without=()):
    found: Counter[tuple[bool, bool]] = Counter()
    with drawn(kind, 100, *FIELDS).open(together=True) as lab:
        topology = infer_topology(lab.observations, prefixes=lab.prefixes, without=without)
        assert topology.node_addr is not None
        names = [lab.truth.router_of.get(addr) for addr in format_addrs(topology.node_addr)]
        columns = topology.link_columns
        rows = zip(
            topology.near, topology.far, columns["may_hide"], columns["bridged"], strict=True
        )
        for near, far, hides, is_bridged in rows:
            ends = frozenset((names[near], names[far]))
            if not is_bridged and None not in ends and len(ends) == 2:
                found[bool(hides), ends not in lab.truth.links] += 1
    return found


def test_marks_on_drawn_networks():
    found = judged("mpls")
    n_marked, n_hidden = (
        found[True, True] + found[True, False],
        found[True, True] + found[False, True],
    )
    assert n_hidden > 10
    assert found[True, True] > 0.6 * n_marked
    assert found[True, True] > 0.6 * n_hidden
    quiet = judged("plain")
    n_quiet = quiet.total()
    assert quiet[True, False] < 0.05 * n_quiet
    by_shape = judged("plain", without=["reply-jumps"])
    assert by_shape[True, False] < 0.03 * n_quiet
