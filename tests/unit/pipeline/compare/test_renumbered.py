"""Which routers are called renumbered, on traces written by hand."""

from __future__ import annotations

import pytest

from pipeline.compare import compare_nights
from pipeline.model.addresses import format_addr
from tests.unit.pipeline.compare.by_hand import ONE, night, told
from tests.unit.pipeline.infer.handmade import alias_sets

A, B, C, D, E, F, X = (f"20.1.0.{i}" for i in (1, 5, 9, 13, 17, 25, 21))
N = 6  # pairs


def ways(*middle: str, others: int = 0) -> dict[str, list[str]]:
    """Traces from A to D by some routers, one after another in turn; and others by X."""
    lines = [f"{A} {middle[i % len(middle)]} {D} > 20.3.0.{i + 1}" for i in range(N)]
    return {ONE: lines + [f"{C} {X} {D} > 20.3.1.{i + 1}" for i in range(others)]}


def to_hosts(middle: str) -> dict[str, list[str]]:
    """Traces to hosts right behind some routers."""
    hosts = [f"20.3.0.{i + 1}" for i in range(N)]
    return {ONE: [f"{A} {middle} {host}! > {host}" for host in hosts]}


def shared(n_new: int) -> dict[str, list[str]]:
    """Traces from A to D by B, and this number of them by E."""
    lines = [f"{A} {E if i < n_new else B} {D} > 20.3.0.{i + 1}" for i in range(N)]
    return {ONE: lines}


# Traces of both nights, addresses that the older night takes for one router, what is said of B.
CASES = {
    "another address": (ways(B), ways(E), None, "renumbered"),
    "the same": (ways(B), ways(B), None, None),
    "an address that was seen": (ways(B, E), ways(E), None, None),
    "another router is taken for it": (ways(B, others=2), ways(E, others=2), (B, X), "renumbered"),
    "of most only that one": (ways(B, others=9), ways(E, others=9), (B, X), None),
    "on a longer way": (to_hosts(B), to_hosts(f"{E} {X}"), None, None),
    "on a longer way to it": (to_hosts(f"{D} {B}"), to_hosts(f"{X} {D} {E}"), None, "renumbered"),
    "on a way as long": (to_hosts(B), to_hosts(E), None, "renumbered"),
    "some pairs still see it": (ways(B), ways(B, B, E), None, None),
    "half of the pairs still see it": (ways(B), shared(N // 2), None, None),
    "one pair still sees it": (ways(B), shared(N - 1), None, None),
    "of half only that one": (ways(B, others=N), ways(E, others=N), (B, X), None),
    "of 6 of 11 only that one": (ways(B, others=5), ways(E, others=5), (B, X), "renumbered"),
}


@pytest.mark.parametrize(("before", "after", "one", "kind"), CASES.values(), ids=CASES)
def test_a_router_is_renumbered_where_a_new_one_took_its_place(tmp_path, before, after, one, kind):
    old = night(tmp_path / "old", before, aliases=alias_sets(one) if one else None)
    new = night(tmp_path / "new", after)
    assert told(compare_nights(old, new)[0], "router").get((B, E)) == kind


@pytest.mark.parametrize(
    ("now", "is_told"),
    [
        ([f"{E} {D}"] * 3, True),  # three pairs at least,
        ([f"{E} {D}"] * 2, False),
        ([f"{E} {D}"] * 3 + [f"* {D}"] * 7, True),  # three tenths of those that crossed it,
        ([f"{E} {D}"] * 3 + [f"* {D}"] * 8, False),
        ([f"{E} {D}"] * 4 + [f"{E} {F}"], True),  # of which a fifth may go on elsewhere
        ([f"{E} {D}"] * 3 + [f"{E} {F}"], False),
    ],
)
def test_enough_pairs_see_the_new_one_and_go_on_as_before(tmp_path, now, is_told):
    old, new = (
        night(tmp_path / name, {ONE: [f"{A} {way} > 20.3.0.{i}" for i, way in enumerate(ways)]})
        for name, ways in (("old", [f"{B} {D}"] * len(now)), ("new", now))
    )
    changes, _ = compare_nights(old, new)
    assert (told(changes, "router").get((B, E)) == "renumbered") == is_told


@pytest.mark.parametrize(("behind", "kind"), [("", "renumbered"), (B, None)])
def test_a_router_that_the_same_pairs_cross_elsewhere_is_not_renumbered(tmp_path, behind, kind):
    """One of its addresses is gone with a link; it is seen behind the new one by another."""
    old, new = (
        night(
            tmp_path / name,
            {ONE: [f"{A} {way} > 20.3.0.{i}" for i in range(N)] + [f"{C} {B} {D} > 20.3.1.1"]},
            aliases=alias_sets((B, X)),
        )
        for name, way in (("old", X), ("new", f"{E} {behind}".strip()))
    )
    assert told(compare_nights(old, new)[0], "router").get((X, E)) == kind


def test_of_a_router_the_address_that_is_gone_is_named(tmp_path):
    before, after = ways(X), ways(E)
    before[ONE].append(f"{C} {B} {D} > 20.3.1.1")  # B < X, and stays
    after[ONE].append(f"{C} {B} {D} > 20.3.1.1")
    old = night(tmp_path / "old", before, aliases=alias_sets((B, X)))
    changes, _ = compare_nights(old, night(tmp_path / "new", after))
    assert told(changes, "router") == {(X, E): "renumbered"}


def test_links_of_a_router_added_beside_another_one_are_reported(tmp_path):
    old, new = night(tmp_path / "old", ways(B)), night(tmp_path / "new", shared(N - 1))
    changes, events = compare_nights(old, new)
    assert told(changes) == {(A, E): "added", (E, D): "not observable before"}
    assert events.kind.tolist() == ["load balancing gained"]


def events_by_link(old, new) -> tuple[dict, list[str]]:
    """Event of each link between two nights, by its addresses, and the kinds of events."""
    changes, events = compare_nights(old, new)
    rows = (changes.what == "link").nonzero()[0]
    ends = zip(
        changes.addr_high, changes.addr_low, changes.other_high, changes.other_low, strict=True
    )
    names = [(format_addr(a, b), format_addr(c, d)) for a, b, c, d in ends]
    return {names[row]: int(changes.event[row]) for row in rows}, events.kind.tolist()


def test_a_link_that_is_cut_elsewhere_in_the_as_is_an_event_of_its_own(tmp_path):
    """The event of the renumbered router took it, and did not name it."""
    cut = {ONE: [f"{C} {X} {F} {D} > 20.3.1.{i + 1}" for i in range(N - 1)]}
    after = {ONE: ways(E)[ONE] + cut[ONE]}
    old, new = night(tmp_path / "old", ways(B, others=N - 1)), night(tmp_path / "new", after)
    for way in ((old, new), (new, old)):
        links, kinds = events_by_link(*way)
        assert kinds == ["router renumbered", "links removed"]
        apart = {link: event for link, event in links.items() if X in link}
        assert apart == {(X, D): 1, (X, F): 1}
        assert {event for link, event in links.items() if {B, E} & {*link}} == {0}


def test_another_interface_of_a_renumbered_router_is_of_its_event(tmp_path):
    """Of it fewer pairs tell than is asked of a renumbered router, but they show a new one."""
    old, new = (
        night(tmp_path / name, {ONE: ways(one)[ONE] + [f"{C} {other} {D} > 20.3.1.1"]})
        for name, one, other in (("old", B, X), ("new", E, F))
    )
    for way in ((old, new), (new, old)):
        links, kinds = events_by_link(*way)
        assert kinds == ["router renumbered"]
        assert len(links) == 8
        assert {*links.values()} == {0}


def test_each_trace_of_a_pair_counts(tmp_path):
    """Pairs were taken for traces, and events are ranked by these."""
    old, new = (
        night(tmp_path / name, {ONE: ways(router)[ONE] * 3})
        for name, router in (("o", B), ("n", E))
    )
    changes, events = compare_nights(old, new)
    assert changes.n_pairs[changes.what == "router"].tolist() == [N]
    assert changes.n_traces[changes.what == "router"].tolist() == [3 * N]
    assert events.n_traces.tolist() == [3 * N]


def test_traces_to_lost_targets_count_each(tmp_path):
    old = night(tmp_path / "old", {ONE: ways(B)[ONE] * 3})
    new = night(tmp_path / "new", {ONE: ways(B)[ONE][:3]})
    changes, _ = compare_nights(old, new)
    (row,) = (changes.what == "targets").nonzero()[0]
    assert (changes.n_pairs[row], changes.n_traces[row]) == (3, 9)
