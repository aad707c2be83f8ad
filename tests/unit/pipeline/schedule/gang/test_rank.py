"""Each rank reads its own part from the store, and the parts are the graph."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from pipeline.errors import StoreError
from pipeline.schedule.gang.rank import read_part
from pipeline.schedule.gang.result import widths_of_ranks
from pipeline.schedule.gang.widths import brought
from tests.integration.measured import LARGE, make_snapshot
from tests.oracles.widths import Truth, check_widths
from tests.ranks import on_ranks, run_ranks


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return make_snapshot(tmp_path_factory.mktemp("store"))


class Noted:
    """A snapshot that notes how many arcs of it were read."""

    def __init__(self, snapshot):
        self._snapshot, self.n_heads = snapshot, 0

    def __getattr__(self, name):
        return getattr(self._snapshot, name)

    def heads(self, row, first, last):
        self.n_heads += last - first
        return self._snapshot.heads(row, first, last)


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_parts_are_the_graph_and_each_arc_is_read_by_one_rank(snapshot, n_ranks):
    row = snapshot.row_of(LARGE)
    graph = snapshot.graph(row)
    noted = [Noted(snapshot) for _ in range(n_ranks)]
    parts = run_ranks(
        n_ranks, lambda rank, collective: read_part(noted[rank], row, rank, collective)
    )
    assert [each.n_heads for each in noted] == [len(part.indices) for part in parts]
    assert sum(each.n_heads for each in noted) == graph.n_arcs
    whole = parts[0].split
    for part in parts:
        first = int(whole.first[part.rank])
        for place in range(0, whole.n_own(part.rank), 7):
            node = int(whole.original(np.array([first + place]))[0])
            heads = part.indices[part.indptr[place] : part.indptr[place + 1]]
            expected = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
            np.testing.assert_array_equal(whole.original(heads), expected)


@pytest.mark.parametrize("asn", [30, 50, 80])
@pytest.mark.parametrize("n_ranks", [2, 3])
def test_columns_of_widths_are_right(snapshot, asn, n_ranks):
    from kernels.partition import Rank

    row = snapshot.row_of(asn)
    asked = ("diameter", "radius", "center", "periphery", "eccentricities")
    parts = run_ranks(n_ranks, lambda rank, link: read_part(snapshot, row, rank, link))
    ends = on_ranks(parts, lambda part, link: Rank(part, link, "cpu").widths(asked))
    known = [brought(end, rank) for rank, end in enumerate(ends)]
    widths = widths_of_ranks(known, row, asked, read_s=0.5)
    assert widths.exact.all()
    check_widths(widths, Truth(snapshot.graph(row)))


def test_ranks_bring_no_value_per_node_that_was_not_requested(snapshot):
    from kernels.partition import Rank

    row = snapshot.row_of(LARGE)
    parts = run_ranks(2, lambda rank, link: read_part(snapshot, row, rank, link))

    def bytes_of(*asked, most=None):
        ends = on_ranks(parts, lambda part, link: Rank(part, link, "cpu").widths(asked, most))
        known = [brought(end, rank) for rank, end in enumerate(ends)]
        assert [end.whole is None for end in known] == [False, True]
        return max(len(pickle.dumps(end)) for end in known)

    n_nodes = int(snapshot.n_nodes[row])
    assert bytes_of("diameter", "radius") < 4_000 < n_nodes
    assert bytes_of("center", "periphery") < n_nodes  # few of them are in either
    assert bytes_of("eccentricities", most=1) < 4_000  # none is known
    assert n_nodes // 2 * 5 < bytes_of("eccentricities") < n_nodes // 2 * 5 + 4_000


def test_a_part_outside_the_as_is_an_error(snapshot):
    row = snapshot.row_of(30)
    with pytest.raises(StoreError, match="AS30 has 300 nodes, not 301"):
        snapshot.degrees(row, 0, 301)
    with pytest.raises(StoreError, match="arcs, not"):
        snapshot.heads(row, 0, int(snapshot.n_arcs[row]) + 1)
