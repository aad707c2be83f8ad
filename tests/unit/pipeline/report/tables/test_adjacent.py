"""Neighbours of ASes: traces and links of each pair, counted by hand."""

from __future__ import annotations

from pipeline.report.tables.adjacent import neighbors_of_ases
from pipeline.report.tables.summarise import summarise
from tests.unit.pipeline.report.memory import MemorySnapshot, measured


def snapshot(**given) -> MemorySnapshot:
    return MemorySnapshot(
        {10: [(0, 1), (1, 2)], 20: [(0, 1)], 30: []},
        {10: 3, 20: 2, 30: 1},
        [
            (10, 0, [20, 99], 5, 0, False),  # 3 from AS 20, 2 from AS 99
            (10, 1, [20], 4, 0, False),
            (10, 2, [77], 0, 6, True),  # AS 77 is behind a gap
            (20, 0, [10], 1, 0, False),
        ],
        **given,
    )


def found_in(of: MemorySnapshot) -> dict[int, list[tuple]]:
    found = summarise(of, measured(of)).adjacent
    columns = (found.asn, found.n_in, found.n_out, found.n_links)
    pairs = list(zip(*(column.tolist() for column in columns), strict=True))
    return {asn: pairs[found.ptr[i] : found.ptr[i + 1]] for i, asn in enumerate(of.asn.tolist())}


def test_traces_of_all_ingresses_and_exits_and_links_add_up_by_neighbour():
    exits = [(10, 0, 30, 8), (10, 2, 20, 1), (10, 2, 30, 2), (20, 1, 10, 6)]
    found = found_in(snapshot(exits=exits, borders=[(10, 20), (10, 20), (10, 30), (30, 99)]))
    assert found == {
        10: [(30, 0, 10, 1), (20, 7, 1, 2), (99, 2, 0, 0)],
        20: [(10, 1, 6, 2)],
        30: [(10, 0, 0, 1), (99, 0, 0, 1)],
    }


def test_neighbours_whose_traces_are_not_known_by_neighbour_are_listed_all_the_same():
    old = snapshot()
    old.ingresses().neighbor_n_direct[:] = -1
    assert found_in(old)[10] == [(20, 0, 0, 0), (99, 0, 0, 0)]


def test_ases_that_are_not_in_the_report_have_none():
    whole = snapshot(exits=[(10, 0, 30, 8)], borders=[(10, 20)])
    summary = summarise(whole, measured(whole))
    tables = summary.ingresses, summary.exits, summary.as_links
    found = neighbors_of_ases(whole.asn[1:], *tables)
    assert found.ptr.tolist() == [0, 1, 1]
    assert found.asn.tolist() == [10]
