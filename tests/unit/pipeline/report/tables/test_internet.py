"""The tables of all ASes together, against figures counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.model.measured.observations import Steps
from pipeline.report.tables import internet as module
from pipeline.report.tables.internet import internet
from pipeline.report.tables.summarise import summarise
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.width_data import widths_of


def made(snapshot: MemorySnapshot, **changes):
    return internet(summarise(snapshot, measured(snapshot, **changes)))


@pytest.fixture
def four() -> MemorySnapshot:
    """Four ASes: 10 is entered by 12 traces at two routers, 20 by 30, 30 by none, 40 by 5."""
    path = [(i, i + 1) for i in range(11)]
    snapshot = MemorySnapshot(
        {10: [(0, 1)], 20: path, 30: [], 40: [(0, 1), (1, 2)]},
        {10: 2, 20: 12, 30: 1, 40: 3},
        [
            (10, 0, [20], 7, 0, False),
            (10, 1, [99], 5, 0, False),
            (20, 0, [10], 30, 0, False),
            (20, 5, [10], 0, 4, True),
            (40, 2, [20], 5, 0, False),
        ],
        addrs={
            10: ["192.0.2.1", "192.0.2.2"],
            20: [f"198.51.100.{i + 1}" for i in range(12)],
            30: ["203.0.113.9"],
            40: ["203.0.113.1", "203.0.113.2", "203.0.113.3"],
        },
    )
    snapshot.of_borders = [(10, 20, 37), (10, 20, 1), (10, 30, 2), (10, 99, 5), (20, 40, 6)]
    return snapshot


def test_ases_are_sized_by_entering_traces_and_linked_within_the_report(four):
    found = made(four)
    assert found.has_traces
    assert found.n_entering.tolist() == [12, 30, 0, 5]
    # 10: 20, 30 and 99, which is not in the report; 20: 10 and 40.
    assert found.n_neighbors.tolist() == [3, 2, 1, 1]
    assert found.map.at.tolist() == [1, 0, 3]  # 30 was not entered
    ends = {tuple(sorted(pair)) for pair in found.map.links.tolist()}
    assert ends == {(0, 1), (0, 2)}
    assert found.map.weight.tolist() == [38, 6]
    assert found.map.n_linked == 2
    assert ((found.map.x >= 0) & (found.map.x <= 1)).all()


def test_ases_that_no_trace_enters_are_sized_by_those_that_cross_them(four):
    """Two vantage points, whose traces begin in AS30; AS10 is crossed by more than enter it."""
    vantage, before, node = np.array([[0, -1, 14], [0, 0, 0], [1, -1, 14]], np.int32).T
    none = np.zeros(3)
    four.of_paths = Steps(vantage, before, none, node, none, np.array([40, 40, 3]), none)
    found = made(four)
    assert found.has_paths
    assert found.n_entering.tolist() == [12, 30, 0, 5]
    assert found.n_traces.tolist() == [40, 30, 43, 5]
    assert found.n_vantages.tolist() == [0, 0, 2, 0]
    assert found.map.at.tolist() == [2, 0, 1, 3]


def test_without_traces_ases_are_sized_by_nodes():
    snapshot = MemorySnapshot(
        {10: [(0, 1)], 20: [(0, 1), (1, 2)]},
        {10: 2, 20: 3},
        [(10, 0, [20], 0, 0, False), (20, 0, [10], 0, 0, False)],
    )
    snapshot.of_borders = [(10, 20, 0)]
    found = made(snapshot)
    assert not found.has_traces
    assert found.map.at.tolist() == [1, 0]
    assert len(found.map.links) == 1
    assert "traces" not in {one.what for one in found.extremes}


def test_extremes_name_the_as_and_the_ingress(four):
    found = {one.what: one for one in made(four, widths=widths_of(four)).extremes}
    assert (found["diameter"].value, found["diameter"].at) == (11, (1,))
    assert (found["max_hops"].value, found["max_hops"].at) == (11, (1,))
    assert (found["ingresses"].value, found["ingresses"].at) == (2, (0,))
    assert (found["neighbors"].value, found["neighbors"].at) == (3, (0,))
    most = found["traces"]
    assert (most.value, most.at, most.where) == (30, (1,), ("198.51.100.1",))
    assert {one.n for one in found.values()} == {1}
    assert "diameter" not in {one.what for one in made(four).extremes}


def test_who_shares_a_largest_figure_is_named_or_counted():
    asns = range(1, 6)
    entries = [(1, 0, [9], 7, 0, False), (1, 1, [9], 7, 0, False)]
    entries += [(asn, 0, [9], 7, 0, False) for asn in (2, 4, 5)] + [(3, 0, [9], 6, 0, False)]
    snapshot = MemorySnapshot(
        {asn: [(0, 1)] for asn in asns},
        dict.fromkeys(asns, 2),
        sorted(entries),
        addrs={asn: [f"192.0.2.{2 * asn}", f"192.0.2.{2 * asn + 1}"] for asn in asns},
    )
    found = {one.what: one for one in made(snapshot).extremes}
    assert (found["ingresses"].n, found["ingresses"].at) == (1, (0,))
    assert (found["max_hops"].n, found["max_hops"].at) == (5, (0, 1, 2))
    most = found["traces"]
    assert (most.value, most.n, most.at) == (7, 5, (0, 0, 1))  # two ingresses of one AS
    assert most.where == ("192.0.2.2", "192.0.2.3", "192.0.2.4")


def test_distributions_count_each_as_once(four):
    by = {one.column: one for one in made(four, widths=widths_of(four)).distributions}
    nodes = by["n_nodes"]
    assert dict(zip(nodes.firsts, nodes.counts, strict=True)) == {1: 1, 2: 2, 5: 0, 10: 1}
    ingresses = by["n_ingresses"]
    assert dict(zip(ingresses.firsts, ingresses.counts, strict=True)) == {0: 1, 1: 2, 2: 1}
    # Means: 1 (each of two reaches the other), 6 (1 to 11), none, 1.5.
    hops = by["mean_hops"]
    assert dict(zip(hops.firsts, hops.counts, strict=True)) == {
        1: 2,
        **dict.fromkeys(range(2, 6), 0),
        6: 1,
    }
    assert hops.n_missing == 1
    assert sum(by["diameter"].counts) == 4


def test_of_many_ases_and_links_the_busiest_are_shown(monkeypatch):
    monkeypatch.setattr(module, "MAX_ASES", 5)
    monkeypatch.setattr(module, "MAX_LINKS", 3)
    asns = range(1, 9)
    snapshot = MemorySnapshot(
        {asn: [] for asn in asns},
        dict.fromkeys(asns, 1),
        [(asn, 0, [99], 10 * asn, 0, False) for asn in asns],
    )
    snapshot.of_borders = [(a, b, a * b) for a in asns for b in asns if a < b]
    found = made(snapshot)
    assert found.map.at.tolist() == [7, 6, 5, 4, 3]
    assert found.map.n_linked == 10
    assert found.map.weight.tolist() == [56, 48, 42]


def test_a_report_of_nothing_has_a_map_of_nothing():
    found = made(MemorySnapshot({1: []}, {1: 0}, []))
    assert len(found.map.at) == len(found.map.links) == len(found.extremes) == 0
    assert np.array_equal(found.n_entering, [0])
