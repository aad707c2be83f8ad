"""Traces that cross an AS are counted once, however often they come back to it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from pipeline.model.measured.observations import Steps
from pipeline.model.topology import NO_ASN
from pipeline.report.tables.crossings import count_crossings


def snapshot_of(paths: list[tuple[int, list[int], int]], n_nodes: list[int]):
    """A snapshot of ASes of ``n_nodes``, and of paths: (vantage point, nodes, traces)."""
    rows: dict[tuple, list] = {}
    for vantage, nodes, n in paths:
        for end in range(1, len(nodes) + 1):
            key = (vantage, *nodes[:end])
            before = list(rows).index(key[:-1]) if end > 1 else -1
            rows.setdefault(key, [vantage, before, nodes[end - 1], 0])[3] += n
    columns = np.array(list(rows.values()), np.int32).reshape(-1, 4).T
    empty = np.zeros(len(rows))
    steps = Steps(columns[0], columns[1], empty, columns[2], empty, columns[3], empty)
    return SimpleNamespace(
        asn=np.arange(len(n_nodes)), n_nodes=np.array(n_nodes), steps=lambda: steps
    )


def test_each_trace_counts_once_in_each_as():
    # ASes of nodes 0 to 2, 3 to 4, 5. The second path leaves the first AS and comes back.
    paths = [(0, [0, 1, 3], 5), (0, [0, 3, 2, 5], 2), (1, [3, 4], 1), (2, [5, 3, 5], 4)]
    found = count_crossings(snapshot_of(paths, [3, 2, 1]), np.array([0, 1, 2]))
    assert found.n_traces.tolist() == [7, 12, 6]
    assert found.n_vantages.tolist() == [1, 3, 2]
    assert found.vantage_n_traces.tolist() == [7, 1, 4]
    assert found.vantage_n_ases.tolist() == [3, 1, 2]
    assert found.vantage_asn.tolist() == [0, 1, 2]
    some = count_crossings(snapshot_of(paths, [3, 2, 1]), np.array([0, 2]))
    assert some.n_traces.tolist() == [7, 6]


def test_a_vantage_point_is_where_most_of_its_traces_begin():
    paths = [(0, [3], 2), (0, [5, 0], 3), (0, [4], 2), (2, [5], 1), (2, [0], 1)]
    found = count_crossings(snapshot_of(paths, [3, 2, 1]), np.array([0, 1, 2]))
    assert found.vantage_asn.tolist() == [1, NO_ASN, 0]  # by two routers; none; of equal ones


def test_without_paths_nothing_is_known():
    without = SimpleNamespace(steps=lambda: None)
    assert len(count_crossings(without, np.array([0])).n_traces) == 0
