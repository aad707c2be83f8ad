"""Routers that answer with private addresses."""

import numpy as np
import pytest

from pipeline.infer.owners.private import follow_private_links
from pipeline.model.topology import NO_ASN
from tests.unit.pipeline.infer.handmade import asn_of, infer, ingresses_of


def follow(pairs, asn, private):
    near, far = np.array(pairs, np.int64).reshape(-1, 2).T
    return follow_private_links(near, far, np.array(asn), np.array(private)).tolist()


def test_a_run_of_private_addresses_is_in_the_as_before_it():
    found = follow([(0, 1), (1, 2), (2, 3)], [7, NO_ASN, NO_ASN, 8], [False, True, True, False])
    assert found == [7, 7, 7, 8]


def test_a_private_address_with_nothing_behind_it_may_be_a_customers():
    assert follow([(0, 1)], [7, NO_ASN], [False, True]) == [7, NO_ASN]


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
