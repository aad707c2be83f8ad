"""Routers at which traces to the same destinations end: one router, and what speaks against it."""

import pytest

from tests.unit.pipeline.infer.handmade import alias_sets, infer, node_of_addr, nodes_of

# A router of AS 3, entered by A and by B, that answers only sometimes: some traces to the same
# destinations end at C before it.
A, B, C = "20.3.1.1", "20.3.2.1", "20.3.8.1"


def by_a(*aims, on=""):
    return [f"20.3.91.1 20.3.5.1 {A} {on} > 20.3.9.{aim}" for aim in aims]


def by_b(*aims, on="", before="20.3.6.1"):
    return [f"20.3.92.1 {before} {B} {on} > 20.3.9.{aim}" for aim in aims]


def by_c(*aims):
    return [f"20.3.93.1 {C} > 20.3.9.{aim}" for aim in aims]


LED_ON = f"20.3.93.1 {C} 20.3.94.1 {B} > 20.3.9.1"
# The one before is in another AS.
OUTSIDE = [f"20.4.93.1 20.4.8.1 20.4.{i}.1 20.4.{i}.5 > 20.4.9.{i}" for i in (5, 6, 7)]
BASE = [*by_a(1, 2, 3), *by_b(1, 2), *by_c(1, 2), LED_ON]


OTHERS = ("common-successors", "two-weak-signs")


def nodes(scratch, *lines, **options):
    return nodes_of(infer(scratch, *lines, borders="elected", routers="inferred", **options))


@pytest.mark.parametrize(
    "lines",
    [
        BASE,
        [*by_a(1, 3), *by_b(1), "20.4.93.1 20.4.8.1 > 20.3.9.1", *OUTSIDE],
        [
            *by_a(1, 3),
            *by_b(1),
            *by_c(1),
            LED_ON,
            *by_a(11, on="20.3.7.1"),
            *(line.replace("20.3.92.1", "20.3.91.1") for line in by_b(12, on="20.3.7.1")),
        ],
        [*BASE[1:], *by_a(1, on=A), *by_a(2, on=A)],
    ],
    ids=["two-destinations", "no-third-router", "common-successors", "answered-twice"],
)
def test_routers_with_the_same_ends_are_one(tmp_path, lines):
    node = node_of_addr(infer(tmp_path, *lines, borders="elected", routers="inferred"))
    assert node[A] == node[B]
    assert {A, B} <= set(nodes(tmp_path, *lines, without=["shared-ends"]))


@pytest.mark.parametrize(
    "lines",
    [
        [*BASE, *by_b(4)],
        [*by_a(1, 3), *by_b(1), *by_c(1), LED_ON],
        [*BASE, *by_b(3, on="20.3.7.1")],
        [*BASE, f"20.3.91.1 20.3.5.1 {A} * 20.3.9.6! > 20.3.9.6"],
        [*by_a(1, 2, 3), *by_b(1, 2, before="20.3.5.1"), *by_c(1, 2), LED_ON],
        [*BASE, f"20.3.91.1 {A} 20.3.4.1 {B} 20.3.4.5 > 20.3.9.4"],
    ],
    ids=["others-too", "one-destination", "leads-on", "silent", "one-before", "one-trace"],
)
def test_other_routers_stay_apart(tmp_path, lines):
    assert {A, B} <= set(nodes(tmp_path, *lines, without=OTHERS))


@pytest.mark.parametrize(("n_ends", "are_one"), [(3, True), (9, True), (10, False)])
def test_destinations_at_which_very_many_routers_are_the_last_are_no_evidence(
    tmp_path, n_ends, are_one
):
    # Each of the others is the last of a third destination, too.
    others = [
        f"20.3.{100 + i}.1 20.3.{120 + i}.1 > 20.3.9.{aim}"
        for i in range(n_ends - 3)
        for aim in (1, 2, 30 + i)
    ]
    lines = [*BASE, *others]
    assert ({A, B} <= set(nodes(tmp_path, *lines, without=OTHERS))) is not are_one


def test_nothing_is_believed_where_traces_were_aimed_at_routers(tmp_path):
    lines = []
    for i in range(20, 24):
        aims, one, other = (f"20.3.9.{i}", f"20.3.9.1{i}"), f"20.3.{i}.5", f"20.3.{i}.9"
        lines += [f"20.3.95.1 20.3.{i}.1 {one} > {aim}" for aim in aims]
        lines += [f"20.3.96.1 20.3.{i}.2 {one} 20.3.{i}.3 {other} > {aim}" for aim in aims]
    assert {A, B} <= set(nodes(tmp_path, *BASE, *lines))


def test_an_alias_set_takes_precedence(tmp_path):
    assert B in nodes(tmp_path, *BASE, aliases=alias_sets((A, "20.3.91.1")))
