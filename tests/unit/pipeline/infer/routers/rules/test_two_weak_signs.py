"""Routers for which two kinds of evidence agree: which are enough, and what forbids it."""

import numpy as np
import pytest

from pipeline.infer.routers import merge
from pipeline.model.topology import NO_ASN
from tests.unit.pipeline.infer.handmade import alias_sets, infer, nodes_of

# X and Y are one router of AS 1, entered by two links. Y is the mate of Z, seen right behind X. The
# router of Z answers another observer with W right behind X, so it vouches for nothing by itself.
X, Y, Z, W = "20.1.1.1", "20.1.2.1", "20.1.2.2", "20.1.3.1"
BASE = [
    f"20.1.91.1 20.1.5.1 {X} {Z} 20.1.9.1! > 20.1.9.1",
    f"20.1.93.1 20.1.7.1 {X} {W} 20.1.9.1! > 20.1.9.1",
]


def by_y(on="", before="20.1.92.1 20.1.6.1", aim="20.1.9.9"):
    return f"{before} {Y} {on} > {aim}"


LEAD = by_y(W)
SAME_AIM = [f"20.1.91.1 20.1.5.1 {X} > 20.1.9.8", by_y(aim="20.1.9.8")]
OTHER_AIM = by_y(aim="20.1.9.7")
GAP = [f"20.1.91.1 20.1.5.1 {X} * 20.1.40.1", by_y("* 20.1.40.1"), OTHER_AIM]


OTHERS = ("last-routers", "shared-ends")  # other rules on where traces end


def nodes(scratch, *lines, without=(), **options):
    options |= {"borders": "elected", "routers": "inferred", "without": (*OTHERS, *without)}
    return nodes_of(infer(scratch, *lines, **options))


def is_joined(scratch, *lines, **options):
    """Whether X and Y are one node; other nodes do not matter."""
    found = nodes(scratch, *lines, **options)
    assert X in found
    return Y not in found


@pytest.mark.parametrize(
    "lines",
    [[*BASE, LEAD], [*BASE, *SAME_AIM], [*BASE, by_y("20.1.8.1")], [*BASE, *GAP]],
    ids=["lead", "end", "none-ends", "gap"],
)
def test_a_mate_is_on_the_router_before_where_something_supports_it(tmp_path, lines):
    assert is_joined(tmp_path, *lines)
    assert not is_joined(tmp_path, *lines, without=["two-weak-signs"])


@pytest.mark.parametrize(
    "lines",
    [
        [*BASE, by_y()],
        [*BASE, by_y("20.1.8.1"), OTHER_AIM],
        [*BASE, by_y(W, before="20.1.91.1 20.1.6.1")],
        [*BASE, LEAD, f"20.1.94.1 {X} 20.1.8.1 {Y} 20.1.8.5"],
        [line.replace(Z, "20.1.4.2") for line in (*BASE, LEAD)],
    ],
    ids=["unsupported", "one-ends", "one-observer", "one-trace", "no-mate"],
)
def test_other_addresses_stay_apart(tmp_path, lines):
    assert not is_joined(tmp_path, *lines)


# The router of Y has a second address V, by a host, whose mate is seen right behind X, too; and
# traces of one observer show X and Y, and end at both.
V, U = "20.1.30.1", "20.1.30.2"
MATES = [
    f"20.1.92.1 20.1.6.1 {Y} 20.1.99.1! > 20.1.99.1",
    f"20.1.94.1 20.1.60.1 {V} 20.1.99.1! > 20.1.99.1",
    f"20.1.92.1 20.1.50.1 {X} > 20.1.9.6",
    by_y(),
]


def test_two_mates_are_enough_whatever_one_observer_sees(tmp_path):
    second = [  # its router is odd, too
        f"20.1.95.1 20.1.70.1 {X} {U} 20.1.98.1! > 20.1.98.1",
        f"20.1.96.1 20.1.71.1 {X} 20.1.31.1 20.1.98.1! > 20.1.98.1",
    ]
    assert is_joined(tmp_path, *BASE, *MATES, *second)
    assert not is_joined(tmp_path, *BASE, *MATES)
    assert not is_joined(tmp_path, *BASE, *MATES, *second, without=["two-weak-signs"])


# Both are right behind one router, and one address of an odd router is behind both.
ORIGIN = [
    f"20.1.91.1 20.1.5.1 {X} 20.1.20.1",
    f"20.1.92.1 20.1.5.1 {Y} 20.1.20.1",
    f"20.1.93.1 20.1.5.1 {X} 20.1.21.1 20.1.99.1! > 20.1.99.1",
    f"20.1.93.1 20.1.5.1 {X} 20.1.20.1 20.1.99.1! > 20.1.99.1",
]
DEAD_ENDS = [
    *(f"20.1.91.1 20.1.5.1 {X} > 20.1.9.{aim}" for aim in (6, 8)),
    f"20.1.92.1 20.1.5.1 {Y} > 20.1.9.8",
]
TWO_ENDS = [*DEAD_ENDS, *(line.replace("9.8", "9.7") for line in DEAD_ENDS)]
BEHIND_X = f"20.1.91.1 20.1.5.1 {X} 20.1.22.1"


@pytest.mark.parametrize(
    "lines",
    [ORIGIN, DEAD_ENDS, [*TWO_ENDS, BEHIND_X]],
    ids=["next", "dead-ends", "two-ends"],
)
def test_what_observers_see_behind_one_router_is_one(tmp_path, lines):
    assert is_joined(tmp_path, *lines)
    several = [line.replace("20.1.92.1 20.1.5.1", "20.1.91.1 20.1.5.1") for line in lines]
    assert not is_joined(tmp_path, *several)
    assert not is_joined(tmp_path, *lines, without=["two-weak-signs"])


@pytest.mark.parametrize(
    "lines",
    [
        [line.replace(f"5.1 {Y}", f"6.1 {Y}") for line in ORIGIN],
        [line.replace(f"5.1 {Y}", f"6.1 {Y}") for line in DEAD_ENDS],
        [*DEAD_ENDS, BEHIND_X],
        [ORIGIN[0], ORIGIN[1].replace("20.1.20.1", "20.1.22.1")],
    ],
    ids=["next-no-origin", "ends-no-origin", "one-end-that-goes-on", "origin-alone"],
)
def test_one_kind_is_not_enough(tmp_path, lines):
    assert not is_joined(tmp_path, *lines)


# One observer sees both, each behind a router of its own, and nothing else before one address.
ALONE = [f"20.1.91.1 20.1.5.1 {X} 20.1.20.1", f"20.1.91.1 20.1.6.1 {Y} 20.1.20.1"]


def test_all_that_is_before_one_address_is_one(tmp_path, monkeypatch):
    assert is_joined(tmp_path, *ALONE)
    assert not is_joined(tmp_path, *ALONE, without=["two-weak-signs"])


@pytest.mark.parametrize(
    "more",
    [
        "20.1.91.1 20.1.7.1 20.1.8.1 20.1.20.1",
        f"20.1.91.1 20.1.7.1 {X} 20.1.20.1",
        f"20.1.91.1 20.1.5.1 {X} > 20.1.9.6",
        f"20.1.91.1 20.1.5.1 {Y} 20.1.20.1",
        f"20.1.91.1 20.1.5.1 {X} 20.1.20.1 20.1.23.1 > 20.1.9.5",
    ],
    ids=["third", "two-before", "end", "origin", "diverge"],
)
def test_other_routers_before_one_address_stay_apart(tmp_path, more):
    apart = f"20.1.91.1 20.1.6.1 {Y} 20.1.24.1 > 20.1.9.5" if "9.5" in more else ALONE[1]
    assert not is_joined(tmp_path, *ALONE, more, apart)


@pytest.mark.parametrize(
    "owners",
    [lambda owner: np.arange(len(owner)), lambda owner: np.full_like(owner, NO_ASN)],
    ids=["two-ases", "unmapped"],
)
def test_both_must_be_in_one_as(tmp_path, monkeypatch, owners):
    join = merge.join_two_kinds
    monkeypatch.setattr(
        merge,
        "join_two_kinds",
        lambda paths, seen, links, root, owner, *more: join(
            paths, seen, links, root, owners(owner), *more
        ),
    )
    assert not is_joined(tmp_path, *BASE, LEAD)


def test_an_alias_set_takes_precedence(tmp_path):
    assert not is_joined(tmp_path, *BASE, LEAD, aliases=alias_sets((X, "20.1.5.1")))
