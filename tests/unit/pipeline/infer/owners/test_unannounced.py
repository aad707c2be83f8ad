"""Routers with addresses that are not announced."""

import numpy as np
import pytest

from pipeline.infer.owners.unannounced import (
    FIRST_LEAD,
    FIRST_STAND_IN,
    find_possible,
    name_stand_ins,
    number_unannounced,
)
from pipeline.model.tables.delegations import Delegations
from pipeline.model.tables.intervals import table_of
from pipeline.model.topology import NO_ASN
from tests.addresses import parse_addrs
from tests.unit.pipeline.infer.handmade import alias_sets, asn_of, infer, ingresses_of
from tests.unit.pipeline.infer.owners.test_elect import BORDER, LINES

HOST = "20.3.7.7"
# The AS behind AS 1 has addresses of a block that is not announced.
UNANNOUNCED = [line.replace("20.2.0.", "20.0.5.") for line in LINES]
WITH_HOST = [*UNANNOUNCED, f"20.1.0.1 20.1.0.5 {BORDER} 20.0.5.14 {HOST}! > {HOST}"]
INNER = ("20.0.5.14", "20.0.5.18", "20.0.5.22", "20.0.5.26", "20.0.5.5", "20.0.5.9")


def test_each_unannounced_block_has_a_stand_in_of_its_own():
    texts = ["10.0.0.1", "20.0.5.1", "20.0.5.9", "20.0.6.1", "20.1.0.1"]
    addrs = parse_addrs([*texts, "2600:1::1", "2600:1:0:1::1", "2600:1:1::1"])
    origin = np.array([NO_ASN, NO_ASN, NO_ASN, NO_ASN, 1, NO_ASN, NO_ASN, NO_ASN])
    excluded = np.arange(8) == 0
    found = number_unannounced(addrs, origin, excluded)
    assert (found[0], found[4]) == (NO_ASN, 1)
    assert (found[[1, 2, 3, 5, 6, 7]] >= FIRST_STAND_IN).all()
    _, same = np.unique(found[[1, 2, 3, 5, 6, 7]], return_inverse=True)
    assert same.tolist() == [0, 0, 1, 2, 2, 3]


NONE = np.empty(0, np.int64)


def test_a_stand_in_is_named_by_most_hosts_behind_its_routers():
    # AS rows 0 to 2, placeholders 3 and 4. Behind routers of 3: AS 1 twice, AS 2 once by two ways,
    # which counts 2 / sqrt(2). Behind those of 4: AS 1 and AS 2 once each.
    router = np.array([0, 1, 2, 2, 3, 4, 5])
    owner = np.array([3, 3, 3, 3, 4, 4, 0])
    host = np.array([1, 1, 2, 2, 1, 2, 1])
    assert name_stand_ins(router, owner, host, 3, 5, 1.4, NONE).tolist() == [0, 1, 2, 1, 4]
    assert name_stand_ins(router, owner, host, 3, 5, 1.5, NONE).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("lead", "named"), [(1.27, True), (1.28, False)])
def test_what_a_router_says_of_several_ases_is_shared_among_them(lead, named):
    # AS row 0 behind placeholder 4 by one of four addresses of router 0 and both of router 1: votes
    # 1 / sqrt(4) + 2 / sqrt(2) = 1.914. Row 3 by one of router 0 and that of router 2: 1.5.
    router = np.array([0, 0, 0, 0, 1, 1, 2])
    host = np.array([0, 1, 2, 3, 0, 0, 3])
    found = name_stand_ins(router, np.full(7, 4), host, 4, 5, lead, NONE)
    assert found.tolist() == [0, 1, 2, 3, 0 if named else 4]


def test_a_stand_in_is_named_after_an_as_of_its_holder_alone():
    # Behind placeholder 3: AS row 0 three times, row 1 once; the holder has rows 1 and 2. No holder
    # of placeholder 4 is known; 5 is held by an AS that nothing names.
    router, owner = np.arange(6), np.array([3, 3, 3, 3, 4, 5])
    host = np.array([0, 0, 0, 1, 0, 0])
    possible = np.array([3 << 32 | 1, 3 << 32 | 2, 5 << 32 | 6])
    found = name_stand_ins(router, owner, host, 3, 6, FIRST_LEAD, possible)
    assert found.tolist() == [0, 1, 2, 1, 0, 5]


def test_only_holders_of_all_addresses_limit_the_names_of_a_block():
    addrs = parse_addrs(["20.0.5.1", "20.0.5.9", "20.0.6.1", "20.0.6.200", "20.1.0.1"])
    numbered = FIRST_STAND_IN + np.array([0, 0, 1, 1, -9])
    blocks = table_of(addrs[[0, 2, 4]], addrs[[1, 2, 4]], np.array([7, 7, 8]))
    held = Delegations(blocks, np.array([7, 7, 8]), np.array([300, 400, 500]))
    found = find_possible(addrs, numbered, held)
    assert found.stand_in.tolist() == [FIRST_STAND_IN] * 2  # 20.0.6.200 is held by nobody
    assert found.asn.tolist() == [300, 400]
    assert len(find_possible(addrs, numbered, None).asn) == 0


def test_customers_name_no_stand_in_once_they_have_routers_of_their_own(tmp_path):
    # Traces to AS 3 end at two routers of the block; those to its customers, AS 4 to 6, at one each
    # of their own, which are in the block by their addresses.
    way = "20.1.0.1 20.1.0.5 20.1.9.2"
    inner = ["20.0.5.14", "20.0.5.18"]
    lines = [f"{way} {' '.join(inner[: i + 1])} > 20.3.{i}.8" for i in range(2)]
    for asn in (4, 5, 6):
        lines += [
            f"{way} 20.0.5.14 20.0.5.{40 + 8 * asn + 4 * n} > 20.{asn}.{n}.8" for n in range(2)
        ]
    found = asn_of(infer(tmp_path, *lines, borders="elected"))
    assert {found[addr] for addr in inner} == {3}


def test_a_router_with_inner_links_that_nobody_announces_is_not_its_neighbours(tmp_path):
    by_prefix = infer(tmp_path, *UNANNOUNCED)
    assert asn_of(by_prefix)[BORDER] == 1
    found = infer(tmp_path, *UNANNOUNCED, borders="elected")
    assert asn_of(found)[BORDER] == NO_ASN
    assert {asn_of(found)[addr] for addr in INNER} == {NO_ASN}
    assert asn_of(found)["20.1.9.1"] == 1


@pytest.mark.parametrize("merged", [False, True])
def test_hosts_behind_unannounced_routers_name_their_owner(tmp_path, merged):
    aliases = alias_sets((BORDER, "20.0.5.5", "20.0.5.9")) if merged else None
    found = infer(tmp_path, *WITH_HOST, borders="elected", aliases=aliases)
    border = "20.0.5.5" if merged else BORDER
    assert asn_of(found)[border] == 3
    assert {asn_of(found)[addr] for addr in set(INNER) & set(asn_of(found))} == {3}
    assert ingresses_of(found)[border][0] == [1]


def test_true_aliases_claim_no_ingress_for_a_neighbour(tmp_path):
    # A trace comes in from AS 6 by an unannounced link; the router's other outer link is AS 1's.
    lines = [*UNANNOUNCED, "20.6.0.1 20.6.0.5 20.0.5.33 20.0.5.14", "20.0.5.34"]
    joined = (BORDER, "20.0.5.5", "20.0.5.9", "20.0.5.33")
    known = infer(tmp_path, *lines, borders="elected", aliases=alias_sets(joined))
    assert asn_of(known)["20.0.5.5"] == NO_ASN  # though AS 1 is before and after it
    assert "20.0.5.5" not in ingresses_of(known)
