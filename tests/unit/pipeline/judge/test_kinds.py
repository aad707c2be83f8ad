"""Kinds of wrong owners, in a network of a few ASes."""

import pytest

from pipeline.judge.kinds import (
    FURTHER,
    NO_AS,
    NOWHERE,
    SIBLING,
    TO_CUSTOMER,
    TO_NEIGHBOR,
    TO_PEER,
    TO_PROVIDER,
    TWO_AWAY,
    Neighborhood,
)
from pipeline.judge.truth import Truth, neighbors_by_links
from pipeline.model.topology import NO_ASN

# ASes 1 - 2 - 3 - 4 - 5 in a row, a router each; 1 is a provider of 2, 2 a peer of 3.
ASN_OF = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
LINKS = frozenset(map(frozenset, ("ab", "bc", "cd", "de")))


@pytest.fixture
def around():
    truth = Truth(
        ASN_OF,
        {},
        LINKS,
        neighbors_by_links(LINKS, ASN_OF),
        relationships={(1, 2): -1, (2, 3): 0},
        organisations={4: "x", 5: "x", 3: "y"},
    )
    return Neighborhood.of(truth)


@pytest.mark.parametrize(
    ("stated", "true", "kind"),
    [
        (2, 1, TO_CUSTOMER),
        (1, 2, TO_PROVIDER),
        (3, 2, TO_PEER),
        (2, 3, TO_PEER),
        (3, 4, TO_NEIGHBOR),
        (5, 4, SIBLING),
        (1, 3, TWO_AWAY),
        (1, 4, FURTHER),
        (99, 4, FURTHER),
        (NO_ASN, 4, NO_AS),
        (None, 4, NOWHERE),
    ],
)
def test_a_wrong_owner_is_of_one_kind(around, stated, true, kind):
    assert around.kind(stated, true) == kind
