"""Last routers of all traces to one destination: one router, and what speaks against it."""

import numpy as np
import pytest

from pipeline.infer.traces import distinct
from tests.unit.pipeline.infer.handmade import alias_sets, infer, nodes_of

# A router of AS 3, entered by A and by B; traces to other destinations go on from A.
A, B = "20.3.1.1", "20.3.2.1"
FIRST = f"20.3.91.1 20.3.5.1 {A} > 20.3.9.1"
SECOND = f"20.3.92.1 20.3.6.1 {B} > 20.3.9.1"
ON = f"20.3.91.1 20.3.5.1 {A} 20.3.7.1 > 20.3.9.2"

THIRD = "20.3.93.1 20.3.8.1 > 20.3.9.1"


def nodes(scratch, *lines, **options):
    return nodes_of(infer(scratch, *lines, borders="elected", routers="inferred", **options))


def test_two_last_routers_of_one_destination_are_one(tmp_path):
    found = nodes(tmp_path, FIRST, SECOND, ON)
    assert A in found
    assert B not in found


@pytest.mark.parametrize(
    "lines",
    [
        (FIRST, SECOND.replace("20.3.9.1", "20.3.9.3"), ON),  # another destination
        (FIRST.replace("20.3.9.1", "20.4.9.1"), SECOND.replace("20.3.9.1", "20.4.9.1"), ON),
        (FIRST, SECOND, ON, THIRD, "20.3.93.1 20.3.8.1 20.3.8.5 > 20.3.9.7"),
        (FIRST, SECOND, ON, f"20.3.91.1 {A} 20.3.4.1 {B} 20.3.4.5 > 20.3.9.4"),
        (FIRST, SECOND, ON, f"20.3.91.1 20.3.5.1 {A} * 20.3.9.1! > 20.3.9.1"),
        (  # both lead on, to different places, and one is the last router to more
            FIRST,
            SECOND,
            ON,
            f"20.3.92.1 20.3.6.1 {B} 20.3.8.1 > 20.3.9.5",
            f"20.3.92.1 20.3.6.1 {B} > 20.3.9.6",
        ),
    ],
    ids=["another", "another-as", "three", "one-trace", "silent", "lead-on"],
)
def test_other_last_routers_stay_apart(tmp_path, lines):
    assert {A, B} <= set(nodes(tmp_path, *lines))


# One observer sees B too, on its way to another destination.
TOO = f"20.3.91.1 20.3.6.1 {B} > 20.3.9.8"


@pytest.mark.parametrize(
    ("lines", "are_one"),
    [
        ((FIRST, SECOND, ON, TOO), True),
        ((FIRST, SECOND.replace("20.3.6.1", "20.3.5.1"), ON), True),
        ([line.replace("20.3.6.1", "20.3.5.1") for line in (FIRST, SECOND, ON, TOO)], False),
    ],
    ids=["one-observer", "one-before", "both"],
)
def test_routers_that_one_observer_enters_from_one_place_are_two(tmp_path, lines, are_one):
    assert (B not in nodes(tmp_path, *lines)) == are_one


def test_nothing_is_believed_where_traces_were_aimed_at_routers(tmp_path):
    lines = [f"20.3.{i}.1 20.3.{i}.5 20.3.{i}.9 > 20.3.{i}.10" for i in range(20, 24)]
    lines += [f"20.3.{i}.1 20.3.{i}.9 20.3.{i}.5 > 20.3.{i}.10" for i in range(20, 24)]
    assert B not in nodes(tmp_path, FIRST, SECOND, ON, *lines[:1], *lines[4:5])
    assert {A, B} <= set(nodes(tmp_path, FIRST, SECOND, ON, *lines))


def test_an_alias_set_takes_precedence(tmp_path):
    found = nodes(tmp_path, FIRST, SECOND, ON, aliases=alias_sets((A, "20.3.91.1")))
    assert {A, B} & set(found) == {B} | ({A} & set(found))
    assert B in found


def test_of_very_many_destinations_some_are_looked_at(tmp_path, monkeypatch):
    numbers = range(10, 74)
    pairs = [(f"20.3.1.{i}", f"20.3.2.{i}", f"20.3.9.{i}") for i in numbers]
    lines = [
        f"20.3.9{k + 1}.1 20.3.{5 + k}.1 {pair[k]} > {pair[2]}" for pair in pairs for k in (0, 1)
    ]
    lines += [
        f"20.3.91.1 20.3.5.1 {pair[0]} 20.3.7.{i} > 20.3.8.{i}" for i, pair in enumerate(pairs)
    ]
    every = set(nodes(tmp_path, *lines))
    monkeypatch.setattr(distinct, "_MOST_TRACES", 64)
    some = set(nodes(tmp_path, *lines))
    joined = [pair[1] not in every for pair in pairs]
    assert all(joined)
    left = np.array([pair[1] in some for pair in pairs])
    assert 0.3 < left.mean() < 0.9
