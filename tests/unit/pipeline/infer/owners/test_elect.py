"""The election of owners: on small examples, and on simulated networks.

The networks are like those of BRITE (``tests.oracles.networks``); none is a laboratory.
"""

from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest

from pipeline.infer.owners.elect import find_carriers
from tests.addresses import parse_addrs
from tests.oracles.truth.scores import judge_lab
from tests.oracles.truth.sources import drawn
from tests.unit.pipeline.infer.handmade import (
    alias_sets,
    asn_of,
    infer,
    ingresses_of,
    prefix_table,
)

# AS 1 numbers its links to AS 2 from its own space: 20.1.9.1 - 20.1.9.2 is one.
BORDER = "20.1.9.2"  # on AS 2's border router, which also has 20.2.0.5 and 20.2.0.9
LINES = [
    "20.1.0.1 20.1.0.5 20.1.9.2 20.2.0.14 20.2.0.22",
    "20.1.0.1 20.1.0.5 20.1.9.2 20.2.0.18 20.2.0.26",
    "20.2.0.34 20.2.0.5 20.2.0.18 20.2.0.26",
    "20.2.0.38 20.2.0.9 20.2.0.14 20.2.0.22",
    "20.2.0.34 20.2.0.5 20.1.9.1 20.1.0.6",
    "20.2.0.38 20.2.0.9 20.1.9.1 20.1.0.6",
]


def test_a_border_router_that_answers_with_its_neighbours_address_is_found(tmp_path):
    by_prefix = infer(tmp_path, *LINES)
    assert asn_of(by_prefix)[BORDER] == 1
    assert {"20.2.0.14", "20.2.0.18"} <= set(ingresses_of(by_prefix))
    elected = infer(tmp_path, *LINES, borders="elected")
    assert asn_of(elected)[BORDER] == 2
    assert ingresses_of(elected) == {BORDER: ([1], 2, 0, False), "20.1.9.1": ([2], 2, 0, False)}
    assert elected.counts["elected_otherwise"] == 1


def test_an_address_seen_after_several_routers_of_one_trace_joins_none_of_them(tmp_path):
    # 20.3.0.1 answers by its way out: before it come routers of AS 1 and of AS 2, and one trace
    # shows that these are two.
    lines = [
        *LINES,
        "20.1.0.5 20.3.0.1",
        "20.2.0.14 20.3.0.1",
        "20.1.0.5 20.1.9.2 20.2.0.14 20.4.0.1",
    ]
    topology = infer(tmp_path, *lines, borders="elected")
    assert topology.counts["suspect_addresses"] >= 1
    found = asn_of(topology)
    assert (found["20.1.0.5"], found["20.2.0.14"], found[BORDER]) == (1, 2, 2)


def test_ases_carry_traffic_of_others_if_an_address_of_theirs_is_passed_on_the_way():
    several, none = -2, -1
    row = np.array([0, 0, 1, 1, 2, -1, 3])
    only = np.array([1, 0, 1, none, several, several, none])
    # AS row 3 is a placeholder; the last entry stands for an AS that is not around.
    assert find_carriers(row, only, 3, 4).tolist() == [True, False, True, True, True]


# Customers of AS 1, each seen by two addresses of its border router: one of AS 1, from there, and
# one of its own, from inside. Nothing else shows whose router it is.
CUSTOMERS = {asn: (f"20.1.{asn}.2", f"20.{asn}.0.6") for asn in (3, 4, 5)}
CUSTOMER_LINES = [
    "20.1.0.1 20.1.0.41 20.1.0.45",
    *(f"20.1.0.1 20.1.0.5 {outer}" for outer, _ in CUSTOMERS.values()),
    *(f"20.{asn}.0.33 {inner}" for asn, (_, inner) in CUSTOMERS.items()),
]


def test_the_habit_is_not_learned_from_ties(tmp_path):
    # LINES show one link that AS 1 numbers, with an end in AS 2 beyond doubt. Merged, each router
    # of a customer is a tie, first settled for the lower number: so AS 1 would seem to have its
    # links numbered by the others, three times.
    known = alias_sets(*CUSTOMERS.values())
    found = asn_of(infer(tmp_path, *LINES, *CUSTOMER_LINES, borders="elected", aliases=known))
    for asn, addrs in CUSTOMERS.items():
        assert found[min(addrs, key=lambda a: tuple(parse_addrs([a])[0]))] == asn
    assert found[BORDER] == 2


def test_one_link_numbered_the_rarer_way_does_not_outvote_inner_links(tmp_path):
    # 13 times the larger, lower AS numbers the link to the other. AS 3 is larger and lower than
    # AS 4, which numbers theirs; the router at its end in AS 3 has two inner links.
    pairs = [(10 + 2 * i, 11 + 2 * i) for i in range(13)]
    lines = [
        line.replace("20.2.", f"20.{high}.").replace("20.1.", f"20.{low}.")
        for low, high in pairs
        for line in [*LINES, "20.1.0.1 20.1.0.9 20.1.0.13 20.1.0.17 20.1.0.21 20.1.0.25"]
    ]
    table = prefix_table(tmp_path, "".join(f"20.{asn}.0.0\t16\t{asn}\n" for asn in range(1, 99)))
    lines += [
        "20.3.0.33 20.3.0.6 20.4.9.2 20.4.0.6",
        "20.3.0.37 20.3.0.10 20.4.9.2 20.4.0.6",
        "20.3.0.41 20.3.0.45 20.3.0.49 20.3.0.53",
        "20.4.0.41 20.4.9.1 20.3.0.5",
        "20.4.0.41 20.4.9.1 20.3.0.9",
    ]
    found = asn_of(infer(tmp_path, *lines, borders="elected", prefixes=table))
    assert (found["20.10.0.6"], found["20.10.9.2"]) == (10, 11)
    assert {found[addr] for addr in ("20.4.9.1", "20.3.0.6", "20.3.0.10")} == {3}
    assert found["20.4.9.2"] == 4


# A border router of AS 2 with two links that AS 1 numbers, and three routers of AS 2 behind it that
# answer with addresses which are also seen behind another router.
UPLINKS = ("20.1.9.2", "20.1.9.6")
NEXT = ("20.2.1.1", "20.2.1.5", "20.2.1.9")
KNOWN = [UPLINKS, ("20.2.0.33", "20.2.0.77"), *((a, a.replace("20.2.1.", "20.2.7.")) for a in NEXT)]
AMONG_KNOWN = [
    line
    for addr in NEXT
    for line in (
        f"20.1.0.1 20.1.0.5 {UPLINKS[0]} {addr}",
        f"20.1.0.1 20.1.0.9 {UPLINKS[1]} {addr}",
        f"20.2.0.33 {addr}",
    )
]


def test_between_two_known_routers_an_adjacency_is_a_link(tmp_path):
    # Two links to AS 1 against three to routers of AS 2, whose numbering is unknown.
    found = infer(tmp_path, *AMONG_KNOWN, borders="elected", aliases=alias_sets(*KNOWN))
    assert asn_of(found)[UPLINKS[0]] == 2
    assert ingresses_of(found)[UPLINKS[0]][0] == [1]


def test_a_link_is_not_counted_again_as_an_adjacency(tmp_path):
    # A customer's last router, numbered by AS 1, behind a router of AS 1 that answers with a
    # private address: so the other end of its link is unknown, but it is the router before it.
    edge, before = "20.1.3.2", ("10.0.0.9", "20.1.0.66")
    lines = [
        f"20.1.0.1 20.1.0.5 {before[0]} {edge} * * > 20.3.0.77",
        f"20.1.0.33 {before[1]} 20.1.0.70 20.1.0.74",
    ]
    known = alias_sets(before, (edge, "20.3.0.200"))
    found = infer(tmp_path, *lines, borders="elected", aliases=known)
    assert asn_of(found)[edge] == 3
    assert ingresses_of(found)[edge] == ([1], 1, 0, False)


def test_two_routers_of_one_as_next_to_it_outvote_one_link(tmp_path):
    # Behind a router whose link AS 1 numbers are two of AS 2, each seen behind others as well.
    lines = [
        line
        for b, x in (("20.2.1.1", 4), ("20.2.2.1", 5))
        for line in (
            f"20.1.0.1 20.1.0.5 {BORDER} {b} 20.2.{x}.17",
            f"20.2.{x + 1}.33 20.2.{x + 1}.37 {b} 20.2.{x}.17 20.2.{x}.21",
            f"20.2.{x + 3}.33 {b} 20.2.{x}.17",
            f"20.2.{x + 1}.37 20.2.{x + 3}.33 20.2.1.200",
        )
    ]
    assert asn_of(infer(tmp_path, *lines, borders="elected"))[BORDER] == 2


# A router whose link AS 1 numbers; right behind it one with a private address, before five of AS 2.
BEFORE_PRIVATE = [
    f"20.1.0.1 20.1.0.5 {BORDER} 10.0.0.2 20.2.{x}.9 20.2.{x}.14 20.2.{x}.22" for x in range(5)
]


def test_a_router_before_a_private_address_is_in_the_as_behind_it(tmp_path):
    found = infer(tmp_path, *BEFORE_PRIVATE, borders="elected")
    assert asn_of(found)[BORDER] == asn_of(found)["10.0.0.2"] == 2
    assert ingresses_of(found) == {BORDER: ([1], 5, 0, False)}


@pytest.mark.parametrize(("without", "asn"), [((), 2), (("private-places",), 1)])
def test_a_private_address_of_several_networks_says_something_of_each_or_of_none(
    tmp_path, without, asn
):
    lines = [*BEFORE_PRIVATE, "20.3.0.1 20.3.0.5 20.3.0.9 10.0.0.2 20.3.0.14"]
    found = infer(tmp_path, *lines, borders="elected", without=without)
    assert asn_of(found)[BORDER] == asn
    assert asn_of(found)["20.3.0.9"] == 3


# A router seen only right behind AS 1, by an address of AS 1, with hosts of AS 3 behind it.
EDGE, HOST = "20.1.9.6", "20.3.7.7"


def test_a_router_that_leads_to_hosts_alone_is_in_their_as(tmp_path):
    lines = [*LINES, f"20.1.0.1 20.1.0.5 {EDGE} {HOST}! > {HOST}"]
    found = infer(tmp_path, *lines, borders="elected")
    assert asn_of(found)[EDGE] == 3
    assert ingresses_of(found)[EDGE] == ([1], 1, 0, False)


def test_hosts_behind_a_router_that_leads_on_say_nothing(tmp_path):
    # A destination that never answered otherwise may be a router of the next AS.
    lines = [*LINES, f"20.1.0.1 20.1.0.5 {EDGE} {HOST}! > {HOST}", f"20.1.0.5 {EDGE} 20.1.0.49"]
    assert asn_of(infer(tmp_path, *lines, borders="elected"))[EDGE] == 1


def test_the_router_next_to_a_vantage_is_in_the_as_of_the_hosts_behind_it(tmp_path):
    # Its own address is the first of a trace, with the whole network behind; nothing passes
    # through from router to router.
    own = "20.3.0.1"
    lines = [
        *LINES,
        f"20.1.0.1 20.1.0.5 {EDGE} {HOST}! > {HOST}",
        f"{own} 20.1.0.6 20.1.0.46",
    ]
    known = alias_sets((EDGE, own))
    assert asn_of(infer(tmp_path, *lines, borders="elected"))[EDGE] == 3
    assert asn_of(infer(tmp_path, *lines, borders="elected", aliases=known))[EDGE] == 3


def test_addresses_that_each_show_an_as_show_it_together(tmp_path):
    # Three links to one provider and one to another, and hosts of AS 3 right behind each.
    ways_in = ("20.1.9.6", "20.1.9.10", "20.1.9.14", "20.6.9.6")
    lines = [
        *LINES,
        *(line.replace("20.1.", "20.6.").replace("20.2.", "20.7.") for line in LINES),
        f"20.1.0.1 20.1.0.5 20.1.9.6 {HOST}! > {HOST}",
        f"20.1.0.1 20.1.0.9 20.1.9.10 {HOST}! > {HOST}",
        f"20.1.0.1 20.1.0.13 20.1.9.14 {HOST}! > {HOST}",
        f"20.6.0.1 20.6.0.5 20.6.9.6 {HOST}! > {HOST}",
    ]
    apart = asn_of(infer(tmp_path, *lines, borders="elected"))
    assert {apart[addr] for addr in ways_in} == {3}
    known = alias_sets(ways_in)
    assert asn_of(infer(tmp_path, *lines, borders="elected", aliases=known))[ways_in[0]] == 3


def test_a_customer_that_numbers_the_link_to_its_provider_keeps_its_router(tmp_path):
    # Both links are numbered from AS 2, and AS 2 is known to number its links to AS 6: no router
    # of a third AS would be numbered so.
    more = [line.replace("20.1.", "20.6.").replace("20.2.", "20.1.") for line in LINES]
    lines = [
        *LINES,
        *more,
        *(line.replace("20.1.", "20.5.").replace("20.2.", "20.4.") for line in LINES),
        "20.1.0.34 20.1.0.5 20.1.0.18 20.2.9.6",
        "20.2.0.41 20.2.0.26 20.2.0.30",
    ]
    known = alias_sets(("20.2.9.6", "20.2.0.30"))
    found = asn_of(infer(tmp_path, *lines, borders="elected", aliases=known))
    assert found["20.2.0.30"] == 2


# Seed, ASes, least and most routers of an AS, length of the prefixes of links; more.
NETWORKS = [
    (
        seed,
        f"n_transit={n_ases}",
        f"transit={sizes}",
        f"slash31={slash31}",
        f"from_peer={by}",
        *more,
    )
    for seed, n_ases, sizes, slash31, more in (
        (1, 12, (6, 18), 0.0, ("n_vantage_points=5",)),
        (2, 8, (9, 24), 1.0, ("n_vantage_points=5",)),
        (3, 14, (4, 12), 1.0, ("attachment=3", "n_vantage_points=5")),
        (4, 10, (7, 20), 0.0, ("outgoing=0.4", "silent=0.1", "limited=0.2", "n_vantage_points=6")),
    )
    for by in ("lower", "either")
]


@pytest.fixture(scope="module")
def totals():
    """Counts of all networks together, elected and by prefix."""
    both: dict[str, Counter[str]] = {"elected": Counter(), "prefix": Counter()}
    for seed, *fields in NETWORKS:
        with drawn("brite", seed, *fields).open(together=True) as lab:
            for borders, total in both.items():
                counts = asdict(judge_lab(lab, routers="interfaces", borders=borders))
                total.update({name: n for name, n in counts.items() if isinstance(n, int)})
    return both


def test_simulated_networks_give_no_false_link_and_most_true_ones(totals):
    found = totals["elected"]
    assert found["links_false"] == 0
    assert found["links_found"] / found["links_true"] > 0.9


def test_elected_ingresses_of_simulated_networks_are_right(totals):
    found, plain = totals["elected"], totals["prefix"]
    assert found["ingresses_right"] / found["ingresses"] > 0.95
    assert plain["ingresses_right"] / plain["ingresses"] < 0.6
    assert found["borders_found"] > 1.2 * plain["borders_found"]


def test_elected_ases_of_simulated_routers_are_right(totals):
    found, plain = totals["elected"], totals["prefix"]
    assert found["addrs_right"] / found["addrs"] > 0.98
    assert plain["addrs_right"] / plain["addrs"] < found["addrs_right"] / found["addrs"] - 0.01


@pytest.mark.parametrize(("inside", "beyond"), [(1, 2), (2, 1)])
def test_between_equal_ases_a_router_is_in_that_of_its_own_address(tmp_path, inside, beyond):
    line = f"20.{inside}.0.10 20.{inside}.0.5 20.{beyond}.0.5 20.{beyond}.0.10 > 20.{beyond}.9.9"
    found = asn_of(infer(tmp_path, line, borders="elected"))
    assert found[f"20.{inside}.0.5"] == inside
