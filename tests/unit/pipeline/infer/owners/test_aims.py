"""What destinations say of the routers before them."""

import dataclasses

import numpy as np
import pytest

from pipeline.infer.owners.aims import MANY, Aims, find_aims
from pipeline.infer.owners.election.surroundings import (
    ONLY,
    ONLY_OF_SIBLINGS,
    aims_of_groups,
)
from pipeline.infer.traces.merge import merge_addresses
from pipeline.infer.traces.passes import Spools
from pipeline.model.columns.sorted_addrs import find_addrs
from pipeline.model.measured.traces import PART_CUT, PART_FURTHER
from pipeline.model.topology import NO_ASN
from tests.addresses import format_addrs, parse_addrs
from tests.unit.pipeline.infer.handmade import (
    PREFIXES,
    alias_sets,
    asn_of,
    infer,
    ingresses_of,
    observe,
    prefix_table,
    traces,
)

A, B, C = "20.1.0.1", "20.1.0.5", "20.1.9.2"


def aims_of(tmp_path, *batches, workers=1, table=PREFIXES):
    """(router, AS) pairs, and the only AS of each address, by text."""
    seen = [observe(tmp_path, traces(*lines)) for lines in batches]
    observed = merge_addresses(seen)
    addrs = observed.addrs[observed.is_router]
    found = Spools(seen, addrs, workers).read(find_aims(prefix_table(tmp_path, table), len(addrs)))
    names = format_addrs(addrs)
    pairs = {(names[r], a) for r, a in zip(found.router.tolist(), found.asn.tolist(), strict=True)}
    return pairs, dict(zip(names, found.only.tolist(), strict=True))


@pytest.mark.parametrize(
    ("line", "pairs"),
    [
        (f"{A} {B} {C} > 20.3.0.9", {(C, 3)}),  # nothing answered after the last router
        (f"{A} {B} {C} * * > 20.3.0.9", {(C, 3)}),
        (f"{A} {B} {C} 20.3.0.9! > 20.3.0.9", {(C, 3)}),  # except the destination
        (f"{A} {B} {C} * 20.3.0.9! > 20.3.0.9", set()),  # a router between did not answer
        (f"{A} {B} {C} > 20.0.0.9", set()),  # a destination in no AS
        ("20.3.0.9! > 20.3.0.9", set()),
    ],
)
def test_the_last_router_is_paired_with_the_as_that_its_trace_was_aimed_at(tmp_path, line, pairs):
    assert aims_of(tmp_path, [line])[0] == pairs


def test_a_router_that_was_traced_to_says_whose_the_link_is_and_so_nothing(tmp_path):
    # 20.3.0.9 is a router: it is on the way to AS 4.
    lines = [f"{A} {B} 20.3.0.9! > 20.3.0.9", *[f"{A} 20.3.0.9 > 20.4.0.1"] * 2]
    pairs, only = aims_of(tmp_path, lines)
    assert pairs == {("20.3.0.9", 4)}
    assert only == {A: 4, B: NO_ASN, "20.3.0.9": 4}


def test_a_path_whose_rest_is_another_row_has_no_last_router_but_counts_for_the_only_as(tmp_path):
    lines = [f"{A} {B} 20.1.9.9 > 20.3.0.9", f"{A} {C} > 20.3.0.9"]
    part = np.array([0, PART_FURTHER | PART_CUT], np.uint8)
    batch = dataclasses.replace(traces(*lines), part=part)
    seen = observe(tmp_path, batch)
    assert seen.n_traces == 1
    observed = merge_addresses([seen])
    table = prefix_table(tmp_path)
    found = Spools([seen], observed.addrs, 1).read(find_aims(table, len(observed.addrs)))
    names = format_addrs(observed.addrs)
    assert [names[router] for router in found.router.tolist()] == ["20.1.9.9"]
    only = dict(zip(names, found.only.tolist(), strict=True))
    assert only == {A: 3, B: NO_ASN, C: NO_ASN, "20.1.9.9": NO_ASN}  # both rows have A


def test_an_address_knows_the_only_as_that_traces_through_it_were_aimed_at(tmp_path):
    lines = [f"{A} {B} {C} > 20.3.0.9", f"{A} {B} {C} > 20.3.1.9", f"{A} {B} > 20.4.0.9"]
    assert aims_of(tmp_path, lines)[1] == {A: MANY, B: MANY, C: 3}


def test_a_trace_counts_once_where_a_router_answered_twice(tmp_path):
    assert aims_of(tmp_path, [f"{A} {B} {B} > 20.3.0.9"])[1] == {A: NO_ASN, B: NO_ASN}
    twice = [f"{A} {B} {B} > 20.3.0.9", f"{A} {B} > 20.3.0.9"]
    assert aims_of(tmp_path, twice)[1] == {A: 3, B: 3}


def test_the_only_as_is_left_out_where_it_settles_nothing():
    aims = Aims(*(np.empty(0, np.int64),) * 2, *(np.empty(0, bool),) * 2, np.array([3, 3]))
    group, settles = np.arange(2), np.array([False, True])
    found = aims_of_groups(aims, group, *(np.zeros(2, bool),) * 2, settles, np.array([2, 3]))
    assert [column.tolist() for column in found] == [[1], [ONLY], [1]]
    found = aims_of_groups(aims, group, *(np.zeros(2, bool),) * 2, settles, np.array([2, 3]), True)
    assert [column.tolist() for column in found] == [[0, 1], [ONLY_OF_SIBLINGS, ONLY], [1, 1]]


def found_in(tmp_path, *lines):
    seen = [observe(tmp_path, traces(*lines))]
    observed = merge_addresses(seen)
    addrs = observed.addrs[observed.is_router]
    return Spools(seen, addrs, 1).read(find_aims(prefix_table(tmp_path), len(addrs)))


def test_whether_some_destination_answered_and_whether_some_did_not_is_known(tmp_path):
    silent, heard = f"{A} {B} > 20.3.0.9", f"{A} {B} 20.3.0.9! > 20.3.0.9"
    for lines, expected in (
        ([silent], (True, False)),
        ([heard], (False, True)),
        ([silent, heard], (True, True)),
    ):
        found = found_in(tmp_path, *lines)
        assert (found.silent.tolist(), found.answered.tolist()) == ([expected[0]], [expected[1]])


def test_many_traces_to_one_as_that_break_off_on_the_way_move_no_router_there(tmp_path):
    # Traces to AS 3 pass AS 1, 2 and 4; a third of them breaks off at some router of AS 2. Those
    # that do not end at a router of which nothing goes on: it may be in AS 3.
    way = ["20.1.0.1", "20.2.0.2", "20.2.0.6", "20.2.0.10", "20.4.0.2", "20.4.0.6"]
    whole = [f"{' '.join(way)} > 20.3.{i}.9" for i in range(200)]
    broken = [f"{' '.join(way[: 3 + i % 2])} > 20.3.{i}.8" for i in range(100)]
    found = asn_of(infer(tmp_path, *whole, *broken, borders="elected"))
    assert [found[addr] for addr in way] == [1, 2, 2, 2, 4, 3]


def test_one_trace_is_aimed_at_one_as_all_along_and_shows_no_only_one(tmp_path):
    line = [f"{A} {B} > 20.3.0.9"]
    assert aims_of(tmp_path, line)[1] == {A: NO_ASN, B: NO_ASN}
    assert aims_of(tmp_path, line, line, workers=2)[1] == {A: 3, B: 3}


def test_neither_order_nor_threads_change_what_was_aimed_at(tmp_path):
    lines = [f"{A} {B} {C} > 20.{asn}.0.9" for asn in (3, 4)] + [f"{B} {C} > 20.0.0.1", f"{C} {B}"]
    one = aims_of(tmp_path, lines)
    assert aims_of(tmp_path, *([line] for line in reversed(lines)), workers=3) == one


# A router of AS 3, a customer of AS 1 and AS 2, which number the links to it; nothing answers
# behind it.
UPLINKS = ("20.1.3.2", "20.2.3.2")
STUB = [
    f"20.1.0.1 20.1.0.5 20.1.0.9 {UPLINKS[0]} * * > 20.3.0.77",
    f"20.2.0.1 20.2.0.5 20.2.0.9 {UPLINKS[1]} * * > 20.3.0.78",
    "20.1.0.1 20.1.0.5 20.1.0.9 20.1.0.13 > 20.1.0.99",
    "20.2.0.1 20.2.0.5 20.2.0.9 20.2.0.13 > 20.2.0.99",
]


@pytest.mark.parametrize("known", [False, True], ids=["interfaces", "routers"])
def test_the_last_router_before_a_silent_destination_is_in_its_as(tmp_path, known):
    aliases = alias_sets(UPLINKS) if known else None
    topology = infer(tmp_path, *STUB, borders="elected", aliases=aliases)
    ingresses = ingresses_of(topology)
    for addr, provider in zip(UPLINKS[: 1 if known else 2], (1, 2), strict=False):
        assert asn_of(topology)[addr] == 3
        assert ingresses[addr][0] == ([1, 2] if known else [provider])


def test_two_links_to_one_provider_do_not_outvote_what_was_aimed_at(tmp_path):
    # Merged, the router has two links that AS 1 numbers, to two routers of AS 1.
    uplinks = ("20.1.3.2", "20.1.3.6")
    lines = [
        f"20.1.0.1 20.1.0.5 20.1.0.9 {uplinks[0]} * * > 20.3.0.77",
        f"20.1.0.1 20.1.0.6 20.1.0.14 {uplinks[1]} * * > 20.3.0.78",
        "20.1.0.1 20.1.0.5 20.1.0.9 20.1.0.18 20.1.0.22 > 20.4.0.99",
        "20.1.0.1 20.1.0.6 20.1.0.14 20.1.0.26 20.1.0.30 > 20.5.0.99",
    ]
    alone = infer(tmp_path, *lines, borders="elected")
    assert [asn_of(alone)[addr] for addr in uplinks] == [3, 3]
    joined = infer(tmp_path, *lines, borders="elected", aliases=alias_sets(uplinks))
    assert asn_of(joined)[uplinks[0]] == 3
    assert ingresses_of(joined)[uplinks[0]][0] == [1]


def test_a_router_at_which_traces_to_many_ases_break_off_is_in_none_of_them_by_that(tmp_path):
    lines = [f"20.1.0.1 20.1.0.5 20.1.0.9 * * > 20.{asn}.0.9" for asn in range(2, 9)]
    lines += [f"20.1.0.1 20.1.0.5 20.1.0.9 * * > 20.{asn}.0.9" for asn in (30, 31, 32)]
    prefixes = prefix_table(tmp_path, "".join(f"20.{asn}.0.0\t16\t{asn}\n" for asn in range(1, 40)))
    topology = infer(tmp_path, *lines, borders="elected", prefixes=prefixes)
    assert asn_of(topology)["20.1.0.9"] == 1


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("n_ases", [8, 9])
def test_of_an_address_at_which_traces_to_many_ases_end_nothing_is_kept(
    tmp_path, monkeypatch, n_ases, workers
):
    monkeypatch.setattr("pipeline.infer.traces.spool.BLOCK_HOPS", 6)
    table = "".join(f"20.{asn}.0.0\t16\t{asn}\n" for asn in range(1, 40))
    lines = [f"{A} {B} {C} > 20.{asn}.0.9" for asn in range(11, 11 + n_ases)]
    pairs, only = aims_of(tmp_path, lines, workers=workers, table=table)
    kept = {(C, asn) for asn in range(11, 19)} if n_ases == 8 else set()
    assert (pairs, only[C]) == (kept, MANY)


def test_without_a_prefix_table_nothing_is_known_of_destinations(tmp_path):
    seen = [observe(tmp_path, traces(f"{A} {B}"))]
    addrs = parse_addrs([A, B])
    assert find_addrs(addrs, addrs).tolist() == [0, 1]
    found = Spools(seen, addrs, 1).read(find_aims(None, 2))
    assert (found.router.tolist(), found.only.tolist()) == ([], [NO_ASN, NO_ASN])
    assert found.only.dtype == np.int64


FIRST = ["20.1.0.1", "20.2.0.2"]
MIDDLE = ["20.2.0.6", "20.2.0.14", "20.2.0.18", "20.2.0.22"]
LAST = ["20.2.1.2", "20.2.1.6"]


def balanced_lines():
    """Traces to AS 3 over two times two routers of AS 2, two in three broken off there."""
    for i in range(160):
        way = [*FIRST, MIDDLE[i % 2], MIDDLE[2 + i // 2 % 2], LAST[i // 4 % 2]]
        yield from (f"{' '.join(way[:n])} > 20.3.{i}.{n}" for n in (3, 4, 5))


def test_of_an_as_of_which_nothing_answers_no_router_leads_on(tmp_path):
    """Nor are those its that lead to the last ones, though it would have their addresses lent."""
    others = [f"{FIRST[0]} 20.2.9.1 20.2.9.5 20.2.9.9 > 20.2.{i}.1" for i in (98, 99)]
    heard = f"{' '.join(FIRST)} * * 20.3.200.1! > 20.3.200.1"
    for lines, asn, without in (
        (others, 2, ()),
        (others, 3, ("broken-off",)),
        ([*others, heard], 3, ()),
    ):
        lines = *balanced_lines(), *lines
        found = asn_of(infer(tmp_path, *lines, borders="elected", without=without))
        assert {found[addr] for addr in MIDDLE} == {asn}
        assert {found[addr] for addr in LAST} == {3}


def test_the_only_as_before_the_one_that_is_aimed_at_keeps_its_routers(tmp_path):
    heard = f"{' '.join(FIRST)} * * 20.3.200.1! > 20.3.200.1"
    for without, asn in (((), 2), (("swallowed-ases",), 3)):
        lines = *balanced_lines(), heard
        found = asn_of(infer(tmp_path, *lines, borders="elected", without=without))
        assert {found[addr] for addr in MIDDLE} == {asn}
