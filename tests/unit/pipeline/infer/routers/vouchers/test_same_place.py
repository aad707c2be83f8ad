"""Routers with the same neighbours that different observers saw: one, and what forbids it."""

import numpy as np
import pytest

from pipeline.infer.routers import inferred
from pipeline.model.topology import NO_ASN
from tests.unit.pipeline.infer.handmade import alias_sets, infer, nodes_of

# A plain address has four addresses before it, and its mate was not seen.
SIDES = [f"20.1.{i}.1" for i in (1, 2, 3, 4)]
PLAIN = [f"20.1.9{i}.1 20.1.5{i}.1 {side} 20.1.60.1" for i, side in enumerate(SIDES)]
# X and Y follow one router, and Z follows them. Z's router answers another observer with W.
X, Y, Z, W = "20.1.1.1", "20.1.2.1", "20.1.3.1", "20.1.4.1"
ODD = [
    f"20.1.91.1 20.1.5.1 {X} {Z} 20.1.9.1! > 20.1.9.1",
    f"20.1.93.1 20.1.7.1 {X} {W} 20.1.9.1! > 20.1.9.1",
]


def by_y(after=Z, before="20.1.92.1 20.1.5.1", aim="20.1.9.9"):
    return f"{before} {Y} {after} > {aim}"


SAME_AIM = [f"20.1.91.1 20.1.5.1 {X} > 20.1.9.8", by_y("", aim="20.1.9.8")]
# For one of three destinations they send packets different ways.
DIVERGING = [
    f"20.1.91.1 20.1.5.1 {X} 20.1.8.1 20.1.8.5 > 20.1.9.9",
    *(f"20.1.91.1 20.1.5.1 {X} {Z} > 20.1.9.{aim}" for aim in (6, 7)),
    *(by_y(aim=f"20.1.9.{aim}") for aim in (6, 7, 9)),
]


def nodes(scratch, *lines, **options):
    return set(nodes_of(infer(scratch, *lines, borders="elected", routers="inferred", **options)))


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """Without other rules on where traces end."""
    monkeypatch.setattr(inferred, "join_last_routers", lambda _, links, root, *__: (root, False))


def without(monkeypatch):
    monkeypatch.setattr(inferred, "join_same_place", lambda spools, seen, links, root, *_: root)


def test_routers_before_a_plain_address_are_one(tmp_path, monkeypatch):
    assert set(SIDES) & nodes(tmp_path, *PLAIN) == {SIDES[0]}
    without(monkeypatch)
    assert set(SIDES) <= nodes(tmp_path, *PLAIN)


def test_routers_before_a_plain_address_that_one_observer_saw_are_several(tmp_path):
    lines = [f"20.1.91.1 20.1.5{i}.1 {side} 20.1.60.1" for i, side in enumerate(SIDES)]
    assert set(SIDES) <= nodes(tmp_path, *lines)


def test_of_very_many_routers_before_an_address_none_is_joined(tmp_path):
    sides = [f"20.1.{i}.1" for i in range(1, 11)]
    lines = [f"20.1.1{i}.1 20.1.15{i}.1 {side} 20.1.60.1" for i, side in enumerate(sides, 10)]
    lines = [line.replace("20.1.15", "20.1.2") for line in lines]
    assert set(sides) <= nodes(tmp_path, *lines)
    assert set(sides[:9]) & nodes(tmp_path, *lines[:9]) == {sides[0]}


@pytest.mark.parametrize("lines", [[*ODD, by_y()], [*ODD, *SAME_AIM]], ids=["address", "aim"])
def test_routers_between_the_same_two_are_one(tmp_path, monkeypatch, lines):
    found = nodes(tmp_path, *lines)
    assert X in found
    assert Y not in found
    without(monkeypatch)
    assert {X, Y} <= nodes(tmp_path, *lines)


@pytest.mark.parametrize(
    "lines",
    [
        [*ODD, by_y(before="20.1.92.1 20.1.6.1")],
        [*ODD, by_y("20.1.8.1")],
        [*ODD, by_y(before="20.1.91.1 20.1.5.1")],
        [*ODD, by_y(), f"20.1.94.1 {X} 20.1.8.1 {Y} 20.1.8.5"],
        [*ODD, *DIVERGING],
        [*ODD, SAME_AIM[0], by_y("* 20.1.9.8!", aim="20.1.9.8")],
    ],
    ids=["not-entered", "no-successor", "one-observer", "one-trace", "diverge", "silent"],
)
def test_other_routers_stay_apart(tmp_path, lines):
    assert {X, Y} <= nodes(tmp_path, *lines)


@pytest.mark.parametrize(
    "owners",
    [lambda owner: np.arange(len(owner)), lambda owner: np.full_like(owner, NO_ASN)],
    ids=["two-ases", "unmapped"],
)
def test_both_must_be_in_one_as(tmp_path, monkeypatch, owners):
    join = inferred.join_same_place
    monkeypatch.setattr(
        inferred,
        "join_same_place",
        lambda spools, seen, links, root, owner, *more: join(
            spools, seen, links, root, owners(owner), *more
        ),
    )
    assert {X, Y} <= nodes(tmp_path, *ODD, by_y())


def test_an_alias_set_takes_precedence(tmp_path):
    assert Y in nodes(tmp_path, *ODD, by_y(), aliases=alias_sets((X, "20.1.70.1")))
