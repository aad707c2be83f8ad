"""Gateways: addresses seen right before one host are one router, and what forbids it."""

import pytest

from pipeline.infer import infer_topology
from tests.unit.pipeline.infer.handmade import (
    alias_sets,
    asn_of,
    infer,
    nodes_of,
    observe,
    prefix_table,
    traces,
)

HOST = "20.3.9.9"
# A stub, entered over links of two providers: nothing but a host is seen behind it.
A, B = "20.1.1.1", "20.2.1.1"
ENTERED = (f"20.1.91.1 {A} {HOST}! > {HOST}", f"20.2.92.1 {B} {HOST}! > {HOST}")


# The rules that join last routers of the same AS on less evidence.
OTHERS = ("last-routers", "shared-ends")


def merged(scratch, *lines, **options):
    options = {"borders": "elected", "routers": "inferred", **options}
    return infer(scratch, *lines, **options)


def test_addresses_right_before_one_host_are_one_router(tmp_path):
    topology = merged(tmp_path, *ENTERED)
    assert topology.counts["inferred_aliases"] == 1
    assert A in nodes_of(topology)
    assert B not in nodes_of(topology)


@pytest.mark.parametrize(
    "lines",
    [
        (ENTERED[0], f"20.2.92.1 {B} * {HOST}! > {HOST}"),  # not right before it
        (ENTERED[0], f"20.2.92.1 {B} > {HOST}", f"20.2.92.1 {B} > 20.3.9.8"),  # it did not answer
        (*ENTERED, f"20.2.93.1 {A} {B} 20.4.1.1"),  # two of one trace
        (*ENTERED, f"20.4.91.1 20.4.1.1 {HOST}! > {HOST}", f"20.5.1.1 {HOST}! > {HOST}"),  # 4 ASes
        (ENTERED[0], f"20.2.92.1 10.0.0.1 {HOST}! > {HOST}"),  # unmapped
    ],
    ids=["gap", "silent", "one-trace", "anycast", "unmapped"],
)
def test_a_host_that_is_no_evidence_joins_nothing(tmp_path, lines):
    found = merged(tmp_path, *lines, without=OTHERS)
    assert {A, lines[1].split()[1]} <= set(nodes_of(found))


def test_no_host_is_believed_where_traces_contradict_many(tmp_path):
    lines = [*ENTERED]
    for i in range(4, 7):
        lines.append(f"20.{i}.1.1 20.{i}.2.1 20.{i}.9.9! > 20.{i}.9.9")
        lines.append(f"20.{i}.1.1 20.{i}.9.9! > 20.{i}.9.9")
    assert merged(tmp_path, *lines).counts["inferred_aliases"] == 0


def test_an_alias_set_takes_precedence(tmp_path):
    topology = merged(tmp_path, *ENTERED, aliases=alias_sets((A, "20.1.91.1")))
    assert nodes_of(topology) == sorted([A, B, "20.2.92.1"])


def test_both_ends_of_what_looks_like_a_link_may_be_one_gateway(tmp_path):
    """20.1.1.1 and 20.1.1.2, a /30 by their numbers, are on a router that has links to two."""
    ends = ("20.1.1.1", "20.1.1.2")
    lines = [f"20.1.9{i}.1 20.{i}.2.1 {end} {HOST}! > {HOST}" for i, end in enumerate(ends, 1)]
    topology = merged(tmp_path, *lines)
    assert ends[1] not in nodes_of(topology)
    assert {"20.1.2.1", "20.2.2.1"} <= set(asn_of(topology))


# Two entries of the same stub, whose destinations do not answer.
SILENT = (f"20.1.91.1 20.1.5.1 {A} > 20.3.9.1", f"20.2.92.1 20.2.5.1 {B} > 20.3.9.1")


def test_dead_ends_of_the_same_traces_are_one_router(tmp_path):
    assert merged(tmp_path, *SILENT).counts["inferred_aliases"] == 1


ELSEWHERE = ("20.1.91.1 20.1.6.1 > 20.5.9.1", "20.2.92.1 20.2.6.1 > 20.6.9.1")


@pytest.mark.parametrize(
    ("others", "joined"),
    [
        (("", ""), False),  # each has one trace
        ((SILENT[0].replace("3.9.1", "3.9.2"), SILENT[1].replace("3.9.1", "3.9.2")), False),
        ((ELSEWHERE[0], ""), False),
        (ELSEWHERE, True),
        (("20.5.9.1! > 20.5.9.1", "20.2.92.1 20.6.9.1! > 20.6.9.1"), True),  # they answered
    ],
    ids=["one-trace", "firewall", "one-of-both", "ends-elsewhere", "answered"],
)
def test_where_all_traces_of_a_vantage_point_end_is_no_dead_end(tmp_path, others, joined):
    seen = []
    for at, (line, other) in enumerate(zip(SILENT, others, strict=True)):
        (tmp_path / str(at)).mkdir()
        for part in (line, other):
            batch = traces(*filter(None, [part]), source=f"20.9.9.{at}")
            seen.append(observe(tmp_path / str(at), batch))
    for workers in (1, 3):
        options = {"prefixes": prefix_table(tmp_path), "workers": workers, "without": OTHERS}
        assert ({A, B} <= set(nodes_of(infer_topology(seen, **options)))) != joined


@pytest.mark.parametrize(
    "line",
    [
        f"20.1.91.1 20.1.5.1 {A} > 20.3.9.2",  # only one of them is the last router to this
        f"20.1.91.1 {A} 20.4.1.1 > 20.4.9.1",  # a router is behind it
        f"20.1.91.1 {A} * 20.4.1.1 > 20.4.9.1",  # the same, after a gap
    ],
    ids=["another-aim", "leads-on", "leads-on-after-a-gap"],
)
def test_other_last_routers_are_not_joined(tmp_path, line):
    assert {A, B} <= set(nodes_of(merged(tmp_path, *SILENT, line, without=OTHERS)))


def test_dead_ends_of_unannounced_destinations_are_not_joined(tmp_path):
    lines = [line.replace("20.3.9.1", "20.0.9.1") for line in SILENT]
    assert {A, B} <= set(nodes_of(merged(tmp_path, *lines)))


def test_dead_ends_of_more_than_three_ases_are_not_joined(tmp_path):
    others = [f"20.{i}.91.1 20.{i}.1.1 > 20.3.9.1" for i in (3, 4)]
    assert {A, B} <= set(nodes_of(merged(tmp_path, *SILENT, *others, without=OTHERS)))


def test_many_destinations_are_compared_by_some_of_them(tmp_path):
    lines = [line.replace("> 20.3.9.1", f"> 20.3.9.{i}") for i in range(1, 12) for line in SILENT]
    assert merged(tmp_path, *lines).counts["inferred_aliases"] == 1
    assert merged(tmp_path, *lines[::-1]).counts["inferred_aliases"] == 1
