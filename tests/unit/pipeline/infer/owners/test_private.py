"""Routers that answer with private addresses."""

import numpy as np
import pytest

from pipeline.infer.owners.private import Around, follow_private_links
from pipeline.model.topology import NO_ASN
from tests.unit.pipeline.infer.handmade import asn_of, infer, ingresses_of


def follow(pairs, asn, private, gaps=(), aims=()):
    columns = [np.array(rows, np.int64).reshape(-1, 2).T for rows in (pairs, gaps, aims)]
    around = Around(*(column for pair in columns for column in pair))
    return follow_private_links(around, np.array(asn), np.array(private)).tolist()


def test_a_run_of_private_addresses_is_in_the_as_before_it():
    found = follow([(0, 1), (1, 2), (2, 3)], [7, NO_ASN, NO_ASN, 8], [False, True, True, False])
    assert found == [7, 7, 7, 8]


def test_a_private_address_with_nothing_behind_it_may_be_a_customers():
    assert follow([(0, 1)], [7, NO_ASN], [False, True]) == [7, NO_ASN]


def test_one_at_which_traces_to_the_as_before_it_end_is_not_a_customers():
    known = [(0, 1)], [7, NO_ASN], [False, True]
    assert follow(*known, aims=[(1, 8), (1, 7)]) == [7, 7]
    assert follow(*known, aims=[(1, 8), (0, 7)]) == [7, NO_ASN]


def test_a_private_address_is_in_the_as_of_the_private_one_behind_it():
    # Nothing is known of what comes before the first; it leads to the second.
    found = follow([(0, 2), (1, 2), (2, 3)], [7, NO_ASN, NO_ASN, 8], [False, True, True, False])
    assert found == [7, 7, 7, 8]
    # What a public address is behind it says nothing: the border may lie between them.
    assert follow([(0, 1)], [NO_ASN, 8], [True, False]) == [NO_ASN, 8]


@pytest.mark.parametrize(("behind", "expected"), [(7, 7), (8, NO_ASN), (NO_ASN, NO_ASN)])
def test_behind_a_gap_both_sides_must_agree(behind, expected):
    found = follow([(1, 2)], [7, NO_ASN, behind], [False, True, False], gaps=[(0, 1)])
    assert found == [7, expected, behind]


@pytest.mark.parametrize(
    "pairs", [[(0, 2), (1, 2), (2, 3), (3, 0)], [(1, 2), (2, 3), (3, 0), (0, 2)]]
)
def test_an_address_behind_two_ases_is_in_none(pairs):
    # One private address in two networks. What comes behind it stays unknown too.
    found = follow(pairs, [7, 8, NO_ASN, NO_ASN], [False, False, True, True])
    assert found == [7, 8, NO_ASN, NO_ASN]


def test_neither_the_first_answer_nor_a_public_address_is_named_by_what_comes_before():
    assert follow([(0, 1)], [NO_ASN, 8], [True, False]) == [NO_ASN, 8]
    assert follow([(0, 1)], [7, NO_ASN], [False, False]) == [7, NO_ASN]


@pytest.mark.parametrize(
    ("aims", "expected"), [([8], 8), ([8, 8], 8), ([8, 7], NO_ASN), ([], NO_ASN)]
)
def test_behind_a_gap_it_is_in_the_only_as_that_traces_were_aimed_at(aims, expected):
    found = follow([], [7, NO_ASN], [False, True], gaps=[(0, 1)], aims=[(1, a) for a in aims])
    assert found == [7, expected]


def test_what_traces_were_aimed_at_says_nothing_where_a_known_router_comes_before():
    # The destinations may be a customer's whose routers do not answer.
    assert follow([(0, 1)], [7, NO_ASN], [False, True], aims=[(1, 8)]) == [7, NO_ASN]


def test_next_to_a_vantage_point_what_traces_were_aimed_at_says_nothing():
    assert follow([], [NO_ASN], [True], aims=[(0, 8)]) == [NO_ASN]
    assert follow([(0, 1)], [NO_ASN] * 2, [True] * 2, aims=[(1, 8)]) == [NO_ASN] * 2
    found = follow([(1, 2)], [NO_ASN] * 3, [False, True, True], gaps=[(0, 1)], aims=[(2, 8)])
    assert found == [NO_ASN, 8, 8]


def test_an_as_that_is_entered_behind_a_private_address_is_entered_directly(tmp_path):
    lines = [
        "20.1.0.1 20.1.0.5 10.0.0.9 20.2.0.1 20.2.0.5 20.2.0.9",
        "20.1.0.1 20.1.0.5 10.0.0.9 20.2.0.1 20.2.0.14 20.2.0.18",
    ]
    found = infer(tmp_path, *lines, borders="elected")
    assert asn_of(found)["10.0.0.9"] == 1
    assert ingresses_of(found)["20.2.0.1"] == ([1], 2, 0, False)
    by_prefix = infer(tmp_path, *lines)
    assert ingresses_of(by_prefix)["20.2.0.1"] == ([1], 0, 2, True)
