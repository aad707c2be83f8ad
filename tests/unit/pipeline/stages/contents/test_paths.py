"""Paths through a router, on traces written by hand."""

from __future__ import annotations

import pytest

import hopscope
from pipeline.config import IngestConfig
from pipeline.errors import UsageError
from pipeline.graphs import build_graphs
from pipeline.stages.ingest import ingest
from tests.unit.pipeline.infer.handmade import infer
from tests.unit.pipeline.stages.small_store import A, B, P, Q, X, Y, make_store
from tests.unit.pipeline.store.snapshots import write

ALONG = [A, X, Y, P]
GAP = None


@pytest.fixture
def night(tmp_path):
    return hopscope.open(make_store(tmp_path / "store"))["night"]


def paths(night, address):
    return sorted(night.paths(address)["path"].to_pylist(), key=str)


def test_a_path_is_listed_where_it_crosses_the_router_first_in_the_middle_or_last(night):
    assert paths(night, X) == sorted([ALONG, [A, X, Q], [B, X]], key=str)
    assert paths(night, B) == [[B, X]]
    assert paths(night, Q) == sorted([[A, X, Q], [P, Q]], key=str)


def test_hops_that_did_not_answer_are_a_gap_in_the_path(night):
    assert [A, GAP, Y] in paths(night, Y)
    assert paths(night, Y) == sorted([ALONG, [P, Y, A], [A, GAP, Y]], key=str)


def test_paths_of_most_traces_come_first(tmp_path):
    lines = [f"{A} {X}", f"{B} {X}", f"{B} {X}"]
    write(tmp_path, "night", build_graphs([infer(tmp_path, *lines)]))
    found = hopscope.open(tmp_path)["night"].paths(X)
    assert found["path"].to_pylist() == [[B, X], [A, X]]
    assert found["n_traces"].to_pylist() == [2, 1]


def test_an_address_of_no_router_is_refused(night):
    with pytest.raises(UsageError, match=r"9\.9\.9\.9"):
        night.paths("9.9.9.9")


def test_a_snapshot_without_traces_says_so(tmp_path):
    file = tmp_path / "edges.txt"
    file.write_text("1 2\n2 3\n")
    ingest(IngestConfig(inputs=(file,), store=tmp_path / "store", snapshot="plain", asn=1))
    with pytest.raises(UsageError, match="snapshot plain keeps no paths"):
        hopscope.open(tmp_path / "store")["plain"].paths(A)
