"""What is planted when, as it is written."""

from __future__ import annotations

import re

import pytest

from pipeline.generate.networks.planting.kinds import KINDS
from pipeline.generate.networks.planting.orders import (
    PLANTED_SHARES,
    PLANTS,
    parse_order,
)
from pipeline.generate.networks.planting.shares import SHARES


def test_names_are_those_of_the_rows() -> None:
    assert list(PLANTS) == list(KINDS)
    assert set(PLANTED_SHARES) == set(SHARES)
    assert all(says.endswith(".") for says in PLANTS.values())


@pytest.mark.parametrize(
    ("text", "first", "last", "stays", "turns"),
    [
        ("mpls@2", 2, 5, True, {2}),
        ("link-cut@2-3", 2, 3, False, {2, 4}),
        ("link-cut@4-4", 4, 4, False, {4, 5}),
        ("silent=0.3@5-5", 5, 5, True, {5}),
    ],
)
def test_orders_as_they_are_written(
    text: str, first: int, last: int, stays: bool, turns: set[int]
) -> None:
    order = parse_order(text, 5)
    assert (order.first, order.last, order.stays, order.turns) == (first, last, stays, turns)
    assert order.what == text.partition("@")[0]


@pytest.mark.parametrize(
    ("text", "n_nights", "message"),
    [
        ("link-cut", 5, "'link-cut' is not KIND@NIGHT"),
        ("link-cut@x", 5, "is not KIND@NIGHT"),
        ("earthquake@2", 5, "earthquake@2: there is no such kind; kinds are transit-as-lost, "),
        ("ipv6=1@2", 5, "'ipv6' cannot be planted on a night; shares that can are silent, "),
        ("link-cut@1", 5, "nights with a plant are 2 to 5"),
        ("link-cut@6", 5, "nights with a plant are 2 to 5"),
        ("link-cut@4-3", 5, "nights with a plant are 2 to 5"),
        ("link-cut@1", 1, "a change needs a night before it: give --nights 2 or more"),
    ],
)
def test_what_is_no_order(text: str, n_nights: int, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_order(text, n_nights)
