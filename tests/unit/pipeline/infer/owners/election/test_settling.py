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

A, B = 0, 1  # AS rows


@pytest.mark.parametrize(
    ("also", "is_customer"),
    [(None, True), (ONLY_OF_SIBLINGS, True), (ONLY, False), (HOST, False)],
    ids=["nothing", "only-of-siblings", "only", "host"],
)
def test_of_what_is_behind_a_router_only_some_shows_that_it_is_no_customer(also, is_customer):
    """Group 0 is linked to groups 1 and 2, of two ASes that number links to each other."""
    entries = [[(1, A), (2, B)], [(0, A), (2, A), (2, B)], [(0, B), (1, A), (1, B)]]
    if also is not None:
        entries[0].append((also, A))
    other, numbered = np.array([row for rows in entries for row in rows]).T
    ptr = offsets(np.array([len(rows) for rows in entries]))
    goes_on = np.array([False, True, True])
    around = Surroundings(ptr, other, numbered, np.full(len(other), -1), goes_on, goes_on)
    labels = np.array([A, A, B])
    found = find_customers(around, labels, np.ones(3, bool), np.zeros(3, bool))
    assert found.tolist() == [is_customer, False, False]
