"""Exits, and the entries of each neighbour, of a few hand-made traces."""

from __future__ import annotations

import pytest

from pipeline.infer import infer_topology
from pipeline.model.topology import Topology
from tests.unit.pipeline.infer.handmade import (
    classic,
    infer,
    links_of,
    nodes_of,
    observe,
    prefix_table,
    traces,
)

A, B, C = (f"20.1.0.{i}" for i in (10, 20, 30))
X, Y, Z = "20.2.0.10", "20.2.0.20", "20.3.0.10"
DARK = "20.0.0.10"  # routed by nobody


def exits_of(topology: Topology) -> dict[tuple[str, int], int]:
    """Traces by exit and next AS."""
    names, table = nodes_of(topology), topology.exits
    rows = zip(table.node.tolist(), table.neighbor_asn.tolist(), strict=True)
    keys = [(names[node], asn) for node, asn in rows]
    assert keys == sorted(keys)
    return dict(zip(keys, table.n_traces.tolist(), strict=True))


def entries_of(topology: Topology) -> dict[tuple[str, int], int]:
    """Direct entries by ingress and neighbour."""
    names, table = nodes_of(topology), topology.ingresses
    return {
        (names[node], int(table.neighbor_asn[at])): int(table.neighbor_n_direct[at])
        for i, node in enumerate(table.node.tolist())
        for at in range(table.neighbor_ptr[i], table.neighbor_ptr[i + 1])
    }


def test_the_last_router_right_before_an_answer_of_another_as_is_an_exit(tmp_path):
    topology = infer(tmp_path, f"{A} {B} {X} {Y} {Z}", f"{C} {X}", f"{B} {Y}", f"{B} {Z}")
    assert exits_of(topology) == {(B, 2): 2, (B, 3): 1, (C, 2): 1, (Y, 3): 1}


@pytest.mark.parametrize("between", ["*", DARK, f"* {DARK}"])
def test_what_comes_after_a_gap_shows_no_exit(tmp_path, between):
    topology = infer(tmp_path, f"{A} {between} {X} {Z}")
    assert exits_of(topology) == {(X, 3): 1}
    assert entries_of(topology) == {(X, 1): 0, (Z, 2): 1}


def test_the_destinations_own_reply_shows_no_exit(tmp_path):
    assert exits_of(infer(tmp_path, f"{A} {B} {X}! > {X}", f"{X} {Y}")) == {}


def test_a_trace_that_comes_back_leaves_again(tmp_path):
    topology = infer(tmp_path, f"{A} {X} {B} {Y}")
    assert exits_of(topology) == {(A, 2): 1, (B, 2): 1, (X, 1): 1}


def test_each_neighbour_of_an_ingress_has_its_own_count(tmp_path):
    lines = [f"{A} {X}", f"{B} {X}", f"{Z} {X}", f"{Z} * {X}", f"{A} {Y}", "20.4.0.1 * " + Y]
    topology = infer(tmp_path, *lines)
    assert entries_of(topology) == {(X, 1): 2, (X, 3): 1, (Y, 1): 1}
    assert topology.ingresses.n_direct.tolist() == [3, 1]


def test_every_direct_entry_has_its_exit(tmp_path):
    lines = [f"{A} {X} {Z} {B}", f"{C} {Y} {Z}", f"{Z} {B} {X}", f"{X} {Z}", f"{A} * {Y} {Z}"]
    topology = infer(tmp_path, *lines)
    assert topology.exits.n_traces.sum() == topology.ingresses.n_direct.sum() == 9


# Y answers after X, a border router, and in one trace right after A, of the AS before.
UNEVEN = [f"{A} {X} {Y} {Z}", f"{A} {X} {Y} {Z}", f"{B} {A} {Y} {Z}"]


@pytest.mark.parametrize(
    ("n_classic", "without", "entered"),
    [
        (0, (), {(X, 1), (Y, 1), (Z, 2)}),
        (1, (), {(X, 1), (Z, 2)}),  # the one that skips X
        (3, (), {(X, 1), (Z, 2)}),
        (3, ("classic-entries",), {(X, 1), (Y, 1), (Z, 2)}),
    ],
)
def test_classic_traces_enter_only_where_most_come_from_outside(
    tmp_path, n_classic, without, entered
):
    seen = observe(tmp_path, classic(traces(*UNEVEN), n_classic))
    topology = infer_topology(
        [seen],
        prefixes=prefix_table(tmp_path),
        borders="prefix",
        routers="interfaces",
        without=without,
    )
    assert {key for key, n_direct in entries_of(topology).items() if n_direct} == entered


def test_a_paris_trace_enters_where_it_does_whatever_others_are(tmp_path):
    batch = traces(*reversed(UNEVEN))  # the one that skips X is first
    topology = infer_topology(
        [observe(tmp_path, classic(batch, 2))],
        prefixes=prefix_table(tmp_path),
        borders="prefix",
        routers="interfaces",
    )
    assert {key for key, n in entries_of(topology).items() if n} == {(X, 1), (Y, 1), (Z, 2)}


def test_pairs_of_classic_traces_that_are_rare_at_both_ends_are_not_linked(tmp_path):
    """A goes to X three times and once to Y, which comes after B three times; Z is rare, alone."""
    lines = [*[f"{A} {X}"] * 3, *[f"{B} {Y}"] * 3, f"{A} {Y}", f"{A} {Z}"]
    batch = traces(*lines)
    options = {"prefixes": prefix_table(tmp_path), "borders": "prefix", "routers": "interfaces"}

    def joined(n_classic, **more):
        seen = observe(tmp_path, classic(batch, n_classic))
        return set(links_of(infer_topology([seen], **options, **more)))

    true = {(A, X), (B, Y), (A, Z)}
    assert joined(1) == true | {(A, Y)}
    assert joined(2) == true  # the pair that only a classic trace shows
    assert joined(8) == true
    assert joined(8, without=["doubtful-links"]) == true | {(A, Y)}


def test_pairs_of_classic_traces_alone_are_not_linked_where_others_show_both(tmp_path):
    """Paris traces show A and Y with other neighbours, Z not at all, nothing behind X."""
    paris = [f"{A} {X}", f"{B} {Y}"]
    alone = [*[f"{A} {Y}"] * 3, *[f"{A} {Z}"] * 3, *[f"{X} {Y}"] * 3]
    options = {"prefixes": prefix_table(tmp_path), "borders": "prefix", "routers": "interfaces"}

    def joined(n_classic, **more):
        seen = observe(tmp_path, classic(traces(*paris, *alone), n_classic))
        return set(links_of(infer_topology([seen], **options, **more)))

    shown, unknown = {(A, X), (B, Y)}, {(A, Z), (X, Y)}
    assert joined(0) == shown | unknown | {(A, Y)}
    assert joined(len(alone)) == shown | unknown
    assert joined(len(alone), without=["doubtful-links"]) == shown | unknown | {(A, Y)}
