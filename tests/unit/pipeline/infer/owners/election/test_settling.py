"""Customers: routers that are in none of the ASes that they are linked to."""

import numpy as np
import pytest

from pipeline.infer.owners.election.settling import find_customers
from pipeline.infer.owners.election.surroundings import (
    HOST,
    ONLY,
    ONLY_OF_SIBLINGS,
    Surroundings,
)
from pipeline.model.columns.ragged import offsets


@pytest.mark.parametrize(("a", "b"), [(0, 1), (50, 60)], ids=["few-ases", "more-than-addresses"])
@pytest.mark.parametrize(
    ("also", "is_customer"),
    [(None, True), (ONLY_OF_SIBLINGS, True), (ONLY, False), (HOST, False)],
    ids=["nothing", "only-of-siblings", "only", "host"],
)
def test_of_what_is_behind_a_router_only_some_shows_that_it_is_no_customer(also, is_customer, a, b):
    """Group 0 is linked to groups 1 and 2, of two ASes that number links to each other."""
    entries = [[(1, a), (2, b)], [(0, a), (2, a), (2, b)], [(0, b), (1, a), (1, b)]]
    if also is not None:
        entries[0].append((also, a))
    other, numbered = np.array([row for rows in entries for row in rows]).T
    ptr = offsets(np.array([len(rows) for rows in entries]))
    goes_on = np.array([False, True, True])
    around = Surroundings(ptr, other, numbered, np.full(len(other), -1), goes_on, goes_on)
    labels = np.array([a, a, b])
    found = find_customers(around, labels, np.ones(3, bool), np.zeros(3, bool))
    assert found.tolist() == [is_customer, False, False]


@pytest.mark.parametrize("row", [0, 50], ids=["few-ases", "more-than-addresses"])
def test_a_router_that_is_linked_to_one_as_is_no_customer(row):
    """Group 2 ends traces behind group 1, whose AS numbers links to group 0 in another one."""
    entries = [[(1, row)], [(0, row), (2, row)], [(1, row)]]
    other, numbered = np.array([each for rows in entries for each in rows]).T
    goes_on = np.array([True, True, False])
    ptr = offsets(np.array([len(rows) for rows in entries]))
    around = Surroundings(ptr, other, numbered, np.full(len(other), -1), goes_on, goes_on)
    labels = np.array([row + 1, row, row])
    found = find_customers(around, labels, np.array([True, True, False]), np.zeros(3, bool))
    assert found.tolist() == [False, False, False]
