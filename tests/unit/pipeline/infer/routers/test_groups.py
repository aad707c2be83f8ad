"""Point-to-point mates, and groups of addresses that are one router: on small examples."""

import numpy as np

from pipeline.infer.routers.groups import group_interfaces
from pipeline.infer.routers.subnet_mates import find_mates, part_mates
from pipeline.infer.traces.links import count_links
from pipeline.infer.traces.merge import merge_addresses
from pipeline.infer.traces.passes import Spools
from tests.addresses import format_addrs, parse_addrs
from tests.unit.pipeline.infer.handmade import (
    alias_sets,
    distinct_paths,
    observe,
    prefix_table,
    traces,
)


def mates(*addrs):
    table = parse_addrs(sorted(addrs, key=lambda a: tuple(parse_addrs([a])[0])))
    names = format_addrs(table)
    return {
        name: names[mate]
        for name, mate in zip(names, find_mates(table).tolist(), strict=True)
        if mate >= 0
    }


def test_the_two_hosts_of_a_slash_30_are_mates():
    found = mates("20.1.0.1", "20.1.0.2", "20.1.0.5", "2600::1", "2600::2")
    assert found == {
        "20.1.0.1": "20.1.0.2",
        "20.1.0.2": "20.1.0.1",
        "2600::1": "2600::2",
        "2600::2": "2600::1",
    }


def test_an_address_ending_in_0_or_3_makes_its_four_two_slash_31():
    found = mates("20.1.0.0", "20.1.0.1", "20.1.0.2", "20.1.0.3", "20.1.0.6", "20.1.0.7")
    assert found["20.1.0.1"] == "20.1.0.0"
    assert found["20.1.0.2"] == "20.1.0.3"
    assert found["20.1.0.6"] == "20.1.0.7"


def test_in_a_neighbourhood_of_slash_31_an_unseen_mate_is_not_guessed():
    assert mates("20.1.0.1", "20.1.0.2", "20.1.0.4", "20.1.0.7") == {}
    assert mates("20.1.0.1", "20.1.0.2", "20.1.1.4", "20.1.1.7") != {}


def test_two_addresses_of_one_router_are_not_the_two_ends_of_a_link():
    # 1 and 2 of four on one router: two /31, whose other ends are 0 and 3.
    addrs = parse_addrs(["20.1.0.1", "20.1.0.2", "20.1.0.5", "20.1.0.6"])
    known = np.array([4, 4, -1, -1])
    assert find_mates(addrs).tolist() == [1, 0, 3, 2]
    assert find_mates(addrs, known).tolist() == [-1, -1, 3, 2]
    outer = parse_addrs(["20.1.0.0", "20.1.0.1"])
    assert find_mates(outer).tolist() == [1, 0]
    assert find_mates(outer, np.array([4, 4])).tolist() == [-1, -1]


def test_a_private_mate_in_another_as_is_none():
    ends, private = np.array([1, 0, 3, 2, -1]), np.array([True, True, True, False, False])
    assert part_mates(ends, np.array([7, 7, 7, 8, 7]), private).tolist() == [1, 0, -1, -1, -1]
    assert part_mates(ends, np.array([7, 8, 7, 7, 7]), ~private).tolist() == [1, 0, 3, 2, -1]


def groups_of(tmp_path, *lines, aliases=None):
    """Addresses by group (those with more than one), and the suspect addresses."""
    seen = [observe(tmp_path, traces(*lines))]
    addrs = merge_addresses(seen).addrs
    links = Spools(seen, addrs, 1).read(count_links())
    alias = np.full(len(addrs), -1)
    if aliases is not None:
        router = aliases.routers_of(addrs)
        first = {number: i for i, number in reversed(list(enumerate(router.tolist())))}
        alias = np.array([-1 if number < 0 else first[number] for number in router.tolist()])
    origin = prefix_table(tmp_path).lookup(addrs)
    on_lan = np.zeros(len(addrs), bool)
    found = group_interfaces(
        distinct_paths(seen, addrs),
        links,
        mates=find_mates(addrs),
        on_lan=on_lan,
        alias=alias,
        origin=origin,
    )
    names = format_addrs(addrs)
    groups: dict[int, list[str]] = {}
    for name, group in zip(names, found.group.tolist(), strict=True):
        groups.setdefault(group, []).append(name)
    suspects = [name for name, is_suspect in zip(names, found.suspect, strict=True) if is_suspect]
    return sorted(group for group in groups.values() if len(group) > 1), suspects


ONE, TWO, THREE, FAR = "20.1.0.101", "20.1.0.105", "20.1.0.109", "20.1.0.114"


def test_addresses_before_one_address_and_its_mate_are_one_router(tmp_path):
    found, suspects = groups_of(tmp_path, f"{ONE} {FAR}", f"{TWO} {FAR}", "20.1.0.113")
    assert found == [[ONE, TWO, "20.1.0.113"]]
    assert suspects == []


def test_two_alias_sets_are_two_routers(tmp_path):
    lines = [f"{ONE} {FAR}", f"{TWO} {FAR}", f"{THREE} {FAR}", "20.1.0.201", "20.1.0.205"]
    one, two = (ONE, "20.1.0.201"), (TWO, "20.1.0.205")
    found, suspects = groups_of(tmp_path, *lines, aliases=alias_sets(one))
    assert found == [[ONE, TWO, THREE, "20.1.0.201"]]
    found, suspects = groups_of(tmp_path, *lines, aliases=alias_sets(one, two))
    assert found == [[ONE, "20.1.0.201"], [TWO, "20.1.0.205"]]
    assert suspects == [FAR]


def test_joins_that_chain_into_two_alias_sets_are_refused(tmp_path):
    lines = [f"{ONE} {FAR}", f"{TWO} {FAR}", f"{TWO} 20.1.0.118", f"{THREE} 20.1.0.118"]
    known = alias_sets((ONE, "20.1.0.201"), (THREE, "20.1.0.205"))
    found, suspects = groups_of(tmp_path, *lines, "20.1.0.201", "20.1.0.205", aliases=known)
    assert found == [[ONE, TWO, "20.1.0.201"], [THREE, "20.1.0.205"]]
    assert suspects == ["20.1.0.118"]


def test_an_address_of_the_same_router_is_at_no_other_end(tmp_path):
    # A router that answers twice, the second time by its way out.
    found, suspects = groups_of(
        tmp_path, f"{ONE} {FAR}", f"{TWO} {FAR}", aliases=alias_sets((ONE, FAR))
    )
    assert (found, suspects) == ([[ONE, FAR]], [])


def test_an_address_with_two_sides_in_one_trace_joins_not_even_a_third(tmp_path):
    lines = [f"{ONE} {FAR}", f"{TWO} {FAR}", f"{THREE} {FAR}"]
    assert groups_of(tmp_path, *lines)[0] == [[ONE, TWO, THREE]]
    found, suspects = groups_of(tmp_path, *lines, f"{ONE} * {TWO}")
    assert found == []
    assert suspects == [FAR]


def test_joins_that_chain_into_a_conflict_are_refused(tmp_path):
    # ONE-TWO by one address, TWO-THREE by another; ONE and THREE stand in one trace.
    lines = [f"{ONE} {FAR}", f"{TWO} {FAR}", f"{TWO} 20.1.0.118", f"{THREE} 20.1.0.118"]
    assert groups_of(tmp_path, *lines)[0] == [[ONE, TWO, THREE]]
    found, suspects = groups_of(tmp_path, *lines, f"{THREE} * {ONE}")
    assert found == [[ONE, TWO]]
    assert suspects == ["20.1.0.118"]


def test_a_destinations_own_reply_is_no_evidence(tmp_path):
    found, _ = groups_of(tmp_path, f"{ONE} {FAR}! > {FAR}", f"{TWO} {FAR}! > {FAR}")
    assert found == []


def test_unmapped_addresses_are_in_no_group_and_make_none(tmp_path):
    private = "10.0.0.2"
    lines = [
        f"{ONE} {private} {FAR}",
        f"{TWO} {private}",
        f"{private} 20.1.0.118",
        f"{THREE} {FAR}",
    ]
    assert groups_of(tmp_path, *lines)[0] == []


def test_one_address_alone_does_not_join_groups_of_different_ases(tmp_path):
    other = [addr.replace("20.1.", "20.2.") for addr in (ONE, TWO)]
    apart = [
        *(f"{addr} 20.1.0.118" for addr in (ONE, TWO)),
        *(f"{addr} 20.2.0.118" for addr in other),
        *(f"{addr} {FAR}" for addr in (ONE, *other)),
    ]
    assert groups_of(tmp_path, *apart)[0] == [[ONE, TWO], other]
    # Two addresses that show the same are believed.
    again = [*apart, f"{ONE} 20.1.0.126", f"{other[0]} 20.1.0.126"]
    assert groups_of(tmp_path, *again)[0] == [[ONE, TWO, *other]]


def test_of_pairs_with_equal_support_those_in_one_as_are_joined_first(tmp_path):
    """One join excludes the other, since a trace shows the first and the last address."""
    first, middle, last = "20.1.0.1", "20.2.0.1", "20.2.0.9"
    successors = ("20.3.0.1", "20.3.0.9")
    ways = ((first, 0), (middle, 0), (middle, 1), (last, 1))
    lines = [f"{before} {successors[which]}" for before, which in ways]
    found, _ = groups_of(tmp_path, *lines, f"{first} 20.3.0.33 {last}")
    assert found == [[middle, last]]
