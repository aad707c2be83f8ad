"""Tables of results: what was added is found again, whole, the later of two, or not at all."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.model.columns import concat, empty, take
from pipeline.model.search.results import Figures, SearchResults
from pipeline.store.results import (
    ResultTable,
    check_results,
    first_of_equal,
    keys_of,
    result_table,
)
from pipeline.store.results.keys import positions_in
from pipeline.store.results.rows import to_rows
from pipeline.store.results.table import MAX_SEGMENTS
from tests.unit.pipeline.report.memory import MemorySnapshot
from tests.unit.pipeline.report.width_data import widths_of

HASHES = [f"{i:02x}" * 32 for i in range(1, 30)]
KEYS = keys_of(HASHES)


def searches(*found: tuple[int, int, list[int]]) -> SearchResults:
    """One search for each (row, source, hop counts)."""
    counts = [np.array(hops, np.int64) for _, _, hops in found]
    ptr = np.append(0, np.cumsum([len(hops) for hops in counts], dtype=np.int64))
    none = np.zeros(0, np.int64)
    return SearchResults(
        row=np.array([row for row, _, _ in found], np.int64),
        source=np.array([source for _, source, _ in found], np.int32),
        n_reached=np.array([hops.sum() for hops in counts], np.int64),
        eccentricity=np.array([len(hops) - 1 for hops in counts], np.int32),
        hop_ptr=ptr,
        hop_counts=np.concatenate([none, *counts]),
        farthest_ptr=ptr,
        farthest=np.concatenate([none, *counts]).astype(np.int32),
    )


def table_of(store) -> ResultTable:
    return result_table(store, "search.hops", "1" * 12, SearchResults, {})


def add(table: ResultTable, found, night="monday") -> None:
    table.append(found, KEYS[found.row], np.full(len(found.row), night, object))


def listed(lookup) -> list[tuple]:
    f = lookup.found
    return [
        (int(f.row[i]), int(f.source[i]), f.hop_counts[f.hop_ptr[i] : f.hop_ptr[i + 1]].tolist(), n)
        for i, n in enumerate(lookup.nights)
    ]


def test_what_was_added_is_found_by_its_graph_wherever_that_is_asked_for(tmp_path):
    table = table_of(tmp_path)
    add(table, searches((3, 7, [1, 2]), (3, 1, [1]), (5, 0, [1, 1, 1])))
    add(table, searches((9, 0, [1, 4])), "tuesday")
    found = table.find(KEYS[[9, 2, 3]])
    assert listed(found) == [
        (0, 0, [1, 4], "tuesday"),
        (2, 1, [1], "monday"),
        (2, 7, [1, 2], "monday"),
    ]
    assert found.found.farthest.dtype == np.int32
    assert listed(table.find(KEYS[:0])) == listed(table.find(KEYS[[20]])) == []
    other = result_table(tmp_path, "search.hops", "2" * 12, SearchResults, {})
    assert listed(other.find(KEYS)) == []  # of another version


def test_of_two_results_for_one_key_the_later_is_taken_even_if_the_clock_was_set_back(
    tmp_path, monkeypatch
):
    table = table_of(tmp_path)
    add(table, searches((3, 7, [1, 2])))
    monkeypatch.setattr("time.time_ns", lambda: 5)
    add(table, searches((3, 7, [1, 9])), "tuesday")
    assert listed(table.find(KEYS[[3]])) == [(0, 7, [1, 9], "tuesday")]


def test_many_segments_become_one_without_what_no_snapshot_has(tmp_path):
    table = table_of(tmp_path)
    for i in range(MAX_SEGMENTS + 1):
        add(table, searches((3, 7, [1, i]), (i, 2, [1])), f"night {i}")
    before = listed(table.find(KEYS[:6]))
    table.merge(lambda: KEYS[:6])
    assert len(table.segments()) == 1
    assert listed(table.find(KEYS[:6])) == before
    assert (3, 7, [1, MAX_SEGMENTS], f"night {MAX_SEGMENTS}") in before
    assert listed(table.find(KEYS[6:])) == []
    add(table, searches((3, 7, [5])))
    table.merge(lambda: KEYS[:0])
    assert len(table.segments()) == 2  # few
    assert check_results(tmp_path) == dict.fromkeys(table.segments(), "")


def test_a_broken_segment_is_named_and_its_results_are_unknown(tmp_path):
    table = table_of(tmp_path)
    add(table, searches((3, 7, [1, 2])))
    add(table, searches((4, 7, [1, 2])))
    path = table.segments()[0]
    data = bytearray(path.read_bytes())
    data[60] ^= 255
    path.write_bytes(data)
    found = table.find(KEYS[[3, 4]])
    assert listed(found) == [(1, 7, [1, 2], "monday")]
    assert [line.split(": ")[0] for line in found.broken] == [str(path)]
    assert [bool(why) for why in check_results(tmp_path).values()] == [True, False]


@pytest.mark.parametrize(("n_nodes", "is_right"), [(8, True), (7, False)])
def test_a_node_that_a_known_graph_does_not_have_is_named(tmp_path, n_nodes, is_right):
    """The source of a search; of graphs that no snapshot has nobody knows."""
    add(table_of(tmp_path), searches((3, 7, [1, 2])))
    (fault,) = check_results(tmp_path, KEYS[[1, 3]], np.array([1, n_nodes])).values()
    assert fault == ("" if is_right else "its column source has node 7, which is not there")
    assert set(check_results(tmp_path, KEYS[:3], np.ones(3, np.int64)).values()) == {""}
    assert set(check_results(tmp_path, KEYS[:0], np.empty(0, np.int64)).values()) == {""}


def test_nothing_is_no_segment_and_one_without_rows_changes_nothing(tmp_path):
    table = table_of(tmp_path)
    add(table, searches())
    assert table.segments() == []
    table.folder.mkdir(parents=True)
    nothing = to_rows(searches(), KEYS[:0], np.empty(0, object))  # as earlier versions wrote it
    table._write(nothing, 1)
    assert (listed(table.find(KEYS)), table.find(KEYS).broken) == ([], ())
    for source in range(MAX_SEGMENTS):
        add(table, searches((3, source, [1, 2])))
    table._write(nothing, 2 * 10**18)
    expected = [(3, source, [1, 2], "monday") for source in range(MAX_SEGMENTS)]
    assert listed(table.find(KEYS)) == expected
    assert set(check_results(tmp_path).values()) == {""}
    table.merge(lambda: KEYS)
    assert len(table.segments()) == 1
    assert listed(table.find(KEYS)) == expected


def test_a_row_group_without_rows_changes_nothing(tmp_path):
    table = table_of(tmp_path)
    rows = to_rows(searches((3, 7, [1]), (5, 1, [1])), KEYS[[3, 5]], np.full(2, "monday", object))
    table.folder.mkdir(parents=True)
    with pq.ParquetWriter(table.folder / f"{1:020d}-{'a' * 12}.parquet", rows.schema) as writer:
        for begin, n in ((0, 0), (0, 1), (0, 0), (1, 1), (0, 0)):
            writer.write_table(rows.slice(begin, n))
    assert listed(table.find(KEYS[[5]])) == [(0, 1, [1], "monday")]
    assert listed(table.find(KEYS[[3]])) == [(0, 7, [1], "monday")]


def test_what_dead_writers_left_is_neither_read_nor_kept(tmp_path):
    table = table_of(tmp_path)
    add(table, searches((3, 7, [1, 2])))
    left = table.folder / ".00000000000000000001-left.parquet"
    left.write_bytes(b"PAR1")
    assert len(listed(table.find(KEYS[[3]]))) == 1
    table.merge(lambda: None)
    assert sorted(os.listdir(table.folder)) == [table.segments()[0].name]


def test_nothing_is_left_of_a_write_that_fails(tmp_path, monkeypatch):
    table = table_of(tmp_path)

    def full(path):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("pipeline.store.results.table.fsync_file", full)
    with pytest.raises(OSError, match="No space left"):
        add(table, searches((3, 7, [1, 2])))
    assert os.listdir(table.folder) == []


def test_every_class_of_results_comes_back_as_it_was(tmp_path):
    links = {1: [(0, 1), (1, 2), (4, 5)], 2: [(0, 1)], 3: []}
    widths = widths_of(MemorySnapshot(links, {1: 7, 2: 2, 3: 1}, []))
    plain = {"metrics": widths.metrics, "is_weighted": False}
    columns = {"value": np.array([1.5, np.nan]), "is_estimated": np.array([True, False])}
    figures = Figures(
        "effective", np.array([4, 8]), columns, np.array([0, 2, 3]), np.array([0.5, np.nan, 1.0])
    )
    nothing = {"task": "effective", "columns": take(figures, np.empty(0, np.int64)).columns}
    for found, given in ((widths, plain), (figures, nothing)):
        table = result_table(tmp_path, type(found).__name__, "1", type(found), given)
        add(table, found)
        back = table.find(KEYS[found.row]).found
        wanted = concat([empty(type(found), **given), found])
        for name, value in vars(wanted).items():
            if isinstance(value, np.ndarray) and name != "row":
                np.testing.assert_array_equal(getattr(back, name), value, name)
                assert getattr(back, name).dtype == value.dtype or name == "eccentricity"
        if found is figures:
            for name, value in columns.items():
                np.testing.assert_array_equal(back.columns[name], value)


def test_keys_are_joined_whole():
    keys = KEYS[[4, 4, 2, 4, 9]]
    assert first_of_equal(keys).tolist() == [0, 0, 2, 0, 4]
    assert positions_in(KEYS[[9, 4]], keys).tolist() == [1, 1, -1, 1, 0]
    alike = keys_of([HASHES[3][:16] + "a" * 48, HASHES[3][:16] + "b" * 48])
    assert positions_in(alike[:1], alike).tolist() == [0, -1]
    assert first_of_equal(alike).tolist() == [0, 1]
    assert first_of_equal(KEYS[:0]).tolist() == positions_in(KEYS, KEYS[:0]).tolist() == []


FORGED = {
    "null": lambda values: pa.array([None, *values.to_pylist()[1:]], values.type),
    "another type": lambda values: pa.array(["x"] * len(values)),
    "-7": lambda values: pa.array(
        [-7 if isinstance(v, int) else [-7] for v in values.to_pylist()], values.type
    ),
}


@pytest.mark.parametrize("what", FORGED)
@pytest.mark.parametrize(
    "column", ["source", "n_reached", "eccentricity", "hop_counts", "farthest"]
)
def test_a_forged_column_costs_only_its_segment(tmp_path, column, what):
    table = table_of(tmp_path)
    add(table, searches((0, 3, [1, 2]), (1, 4, [1])))
    (path,) = table.segments()
    rows = pq.read_table(path)
    forged = FORGED[what](rows.column(column).combine_chunks())
    pq.write_table(rows.set_column(rows.column_names.index(column), column, forged), path)
    found = table.find(KEYS[:2])
    assert listed(found) == []
    assert f"its column {column} " in found.broken[0]
