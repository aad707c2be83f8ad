"""Routers before one plain address that different observers saw: one, and what forbids it."""

import numpy as np
import pytest

from pipeline.infer.routers import merge
from pipeline.model.topology import NO_ASN
from tests.unit.pipeline.infer.handmade import alias_sets, infer, nodes_of

# A plain address has four addresses before it, and its mate was not seen.
SIDES = [f"20.1.{i}.1" for i in (1, 2, 3, 4)]
PLAIN = [f"20.1.9{i}.1 20.1.5{i}.1 {side} 20.1.60.1" for i, side in enumerate(SIDES)]
# For one of three destinations each sends packets to a router of its own.
DIVERGING = [
    line
    for i, path in enumerate(PLAIN)
    for line in (
        *(f"{path} > 20.1.9.{aim}" for aim in (6, 7)),
        f"{path.rsplit(' ', 1)[0]} 20.1.8{i}.1 20.1.88.5 > 20.1.9.9",
    )
]


OTHERS = ("last-routers", "shared-ends")  # other rules on where traces end


def nodes(scratch, *lines, without=(), **options):
    options |= {"borders": "elected", "routers": "inferred", "without": (*OTHERS, *without)}
    return set(nodes_of(infer(scratch, *lines, **options)))


def test_routers_before_a_plain_address_are_one(tmp_path):
    assert set(SIDES) & nodes(tmp_path, *PLAIN) == {SIDES[0]}
    assert set(SIDES) <= nodes(tmp_path, *PLAIN, without=["common-successors"])


def test_routers_before_a_plain_address_that_one_observer_saw_are_several(tmp_path):
    lines = [f"20.1.91.1 20.1.5{i}.1 {side} 20.1.60.1" for i, side in enumerate(SIDES)]
    assert set(SIDES) <= nodes(tmp_path, *lines)


def test_of_very_many_routers_before_an_address_none_is_joined(tmp_path):
    sides = [f"20.1.{i}.1" for i in range(1, 11)]
    lines = [f"20.1.1{i}.1 20.1.15{i}.1 {side} 20.1.60.1" for i, side in enumerate(sides, 10)]
    lines = [line.replace("20.1.15", "20.1.2") for line in lines]
    assert set(sides) <= nodes(tmp_path, *lines)
    assert set(sides[:9]) & nodes(tmp_path, *lines[:9]) == {sides[0]}


@pytest.mark.parametrize(
    "lines",
    [
        [*PLAIN, " ".join(f"20.1.95.{i} {side}" for i, side in enumerate(SIDES)) + " 20.1.8.5"],
        DIVERGING,
    ],
    ids=["one-trace", "diverge"],
)
def test_other_routers_stay_apart(tmp_path, lines):
    assert set(SIDES) <= nodes(tmp_path, *lines)


def test_those_that_diverge_less_than_by_themselves_are_one(tmp_path):
    split = [line.replace("20.1.60.1", "20.1.8.9 20.1.88.5") for line in DIVERGING]
    assert set(SIDES) & nodes(tmp_path, *DIVERGING, *split) == {SIDES[0]}


@pytest.mark.parametrize(
    "changed",
    [
        lambda owner, is_plain: (owner, np.zeros_like(is_plain)),
        lambda owner, is_plain: (np.arange(len(owner)), is_plain),
        lambda owner, is_plain: (np.full_like(owner, NO_ASN), is_plain),
    ],
    ids=["odd", "two-ases", "unmapped"],
)
def test_the_address_is_plain_and_both_are_in_one_as(tmp_path, monkeypatch, changed):
    join = merge.join_same_place
    monkeypatch.setattr(
        merge,
        "join_same_place",
        lambda paths, seen, links, root, owner, is_plain, *more: join(
            paths, seen, links, root, *changed(owner, is_plain), *more
        ),
    )
    assert set(SIDES) <= nodes(tmp_path, *PLAIN)


def test_an_alias_set_takes_precedence(tmp_path):
    aliases = alias_sets((SIDES[1], "20.1.70.1"))
    assert set(SIDES) & nodes(tmp_path, *PLAIN, aliases=aliases) == set(SIDES[:2])
