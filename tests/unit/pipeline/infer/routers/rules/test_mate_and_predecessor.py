"""Joining the mate of an address with what is before that address: what it takes, case by case."""

import numpy as np
import pytest

from pipeline.infer.routers.rules.mate_and_predecessor import join_mates
from pipeline.model.topology import NO_ASN

# Address 0, whose mate is 1, was seen right behind 2 (and 3).
MATES = np.array([1, 0, -1, -1, -1, -1])
ONE_AS = [7] * 6


def joined(before, owner=ONE_AS, *, by_one=False, root=range(6), mate=True):
    """Routers after joining, by their smallest addresses."""
    sides = np.array([1, *before] if mate else before)
    return join_mates(
        np.array(root),
        np.array(owner),
        np.array([0]),
        np.array([by_one]),
        np.array([0] + [len(sides)] * 6),
        sides,
        MATES,
    ).tolist()


def test_a_mate_is_on_the_router_before():
    assert joined([2]) == [0, 1, 1, 3, 4, 5]
    assert joined([2, 3]) == [0, 1, 1, 1, 4, 5]
    assert joined([2], root=[0, 1, 2, 3, 2, 5]) == [0, 1, 1, 3, 1, 5]


@pytest.mark.parametrize(
    "case",
    [
        {"owner": [7, 7, 8, 7, 7, 7]},
        {"owner": [7, NO_ASN, NO_ASN, 7, 7, 7]},
        {"mate": False},
        {"root": [0, 1, 2, 3, 1, 2]},
    ],
    ids=["two-ases", "unmapped", "mate-unusable", "both-large"],
)
def test_a_mate_is_not_joined(case):
    root = list(case.get("root", range(6)))
    assert joined([2], **case) == root


@pytest.mark.parametrize("root", [range(6), [0, 1, 2, 2, 4, 5]])
def test_what_one_observer_saw_joins_nothing(root):
    assert joined([2], by_one=True, root=root) == list(root)
    assert joined([2, 3], by_one=True, root=root) == list(root)


def test_no_two_large_routers_are_joined_through_a_third():
    assert joined([2, 3], root=[0, 1, 2, 3, 2, 3]) == [0, 1, 2, 3, 2, 3]
