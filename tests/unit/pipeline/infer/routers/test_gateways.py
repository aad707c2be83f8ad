"""Gateways: addresses seen right before one host are one router, and what forbids it."""

import pytest

from tests.unit.pipeline.infer.handmade import alias_sets, asn_of, infer, nodes_of

HOST = "20.3.9.9"
# A stub, entered over links of two providers: nothing but a host is seen behind it.
A, B = "20.1.1.1", "20.2.1.1"
ENTERED = (f"20.1.91.1 {A} {HOST}! > {HOST}", f"20.2.92.1 {B} {HOST}! > {HOST}")


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
        (ENTERED[0], f"20.2.92.1 {B} > {HOST}"),  # it did not answer
        (*ENTERED, f"20.2.93.1 {A} {B} 20.4.1.1"),  # two of one trace
        (*ENTERED, f"20.4.91.1 20.4.1.1 {HOST}! > {HOST}", f"20.5.1.1 {HOST}! > {HOST}"),  # 4 ASes
        (ENTERED[0], f"20.2.92.1 10.0.0.1 {HOST}! > {HOST}"),  # unmapped
    ],
    ids=["gap", "silent", "one-trace", "anycast", "unmapped"],
)
def test_a_host_that_is_no_evidence_joins_nothing(tmp_path, lines):
    found = merged(tmp_path, *lines)
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
