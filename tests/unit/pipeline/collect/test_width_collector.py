"""Widths of shared graphs go to every AS that has them; failures are named."""

import numpy as np
import pytest

from kernels import Shard
from kernels.eccentricity.shard import widths
from pipeline.collect.width_collector import NOT_MEASURED, WidthCollector
from pipeline.model.columns import empty, take
from pipeline.model.search.results import Figures, Widths
from pipeline.model.search.tasks import WidthResults
from pipeline.schedule.work.measure_columns import widths_of_shard
from tests.shapes import graph_of, path, star

METRICS = ("diameter", "center", "eccentricities")


def found_of(graphs, rows, metrics=METRICS):
    shard = Shard.from_graphs(graphs)
    columns = widths_of_shard(widths(shard, metrics), shard.node_ptr, np.array(rows), metrics)
    return WidthResults(columns, {}, int(columns.n_searches.sum()))


def texts(found):
    """Each row as its path, center and eccentricities."""
    ragged = (
        (found.path_ptr, found.path),
        (found.center_ptr, found.center),
        (found.eccentricity_ptr, found.eccentricity),
        (found.count_ptr, found.counts),
        (found.component_ptr, found.component_size),
    )
    return [
        (int(row), *(values[ptr[i] : ptr[i + 1]].tolist() for ptr, values in ragged))
        for i, row in enumerate(found.row)
    ]


PATH = ([2, 1, 0], [1], [2, 1, 2], [0, 1, 2], [3])
STAR = ([1, 0, 2], [0], [1, 2, 2, 2], [0, 1, 3], [4])


def test_rows_that_share_a_graph_each_get_its_widths():
    rows, owner = np.array([1, 4, 6, 9]), np.array([1, 4, 1, 9])
    collector = WidthCollector("widths", METRICS, owner)
    parts = graph_of(5, [(0, 1), (3, 4)])
    collector.add(found_of([star(3)], [4]))
    collector.add(found_of([path(3), parts], [1, 9]))
    collector.add(found_of([path(3)], [1]))  # measured twice
    found, failed = collector.finish(rows)
    assert failed == {}
    lines = texts(found)
    assert [line[0] for line in lines] == [1, 4, 6, 9]
    assert [sorted(line[1]) for line in lines] == [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1]]
    assert lines[0][2:] == lines[2][2:] == PATH[1:]
    assert lines[1][2:] == STAR[1:]
    assert lines[3][2:] == ([0, 1], [1, 1, 0, 1, 1], [0, 2], [2, 2])
    assert found.component_id[-2:].tolist() == [0, 3]
    assert found.diameter_lower.tolist() == [2, 2, 2, 1]


def test_failures_are_reported_for_all_that_share_the_graph():
    rows = np.array([0, 1, 2, 3])
    collector = WidthCollector("widths", METRICS, np.array([0, 1, 1, 3]))
    collector.fail(np.array([1]), "no memory")
    collector.add(found_of([path(3)], [0]))
    found, failed = collector.finish(rows)
    assert failed == {1: "no memory", 2: "no memory", 3: NOT_MEASURED}
    assert found.row.tolist() == [0]


def test_an_interval_of_what_failed_is_kept():
    collector = WidthCollector("widths", METRICS, np.array([0]))
    collector.add(found_of([path(3)], [0]))
    collector.fail(np.array([0]), "workers lost")
    found, failed = collector.finish(np.array([0]))
    assert (found.row.tolist(), failed) == ([0], {0: "workers lost"})


def test_bounds_that_were_not_requested_are_left_out():
    collector = WidthCollector("widths", ("radius",), np.array([0]))
    collector.add(found_of([path(5)], [0], ("radius",)))
    found, _ = collector.finish(np.array([0]))
    assert found.radius_lower.tolist() == found.radius_upper.tolist() == [2]
    assert found.diameter_lower.tolist() == found.diameter_upper.tolist() == [-1]
    assert found.component_diameter.tolist() == [-1]
    assert found.component_radius.tolist() == [2]


def test_figures_of_shared_graphs_go_to_every_as():
    collector = WidthCollector("effective", (), np.array([2, 2, 7]))
    values = {
        "effective_diameter": np.array([1.5]),
        "effective_estimated": np.array([False]),
        "effective_error": np.array([0.0]),
        "n_effective_searches": np.array([3]),
    }
    one = Figures("effective", np.array([2]), values, np.zeros(2, np.int64), np.empty(0))
    collector.add(WidthResults(one, {7: "cut"}, 3))
    found, failed = collector.finish(np.array([2, 5, 7]))
    values = found.columns["effective_diameter"].tolist()
    assert (found.row.tolist(), values) == ([2, 5], [1.5, 1.5])
    assert failed == {7: "cut"}


@pytest.mark.parametrize("is_weighted", [False, True])
def test_nothing_has_the_dtypes_of_something(is_weighted):
    none = empty(Widths, metrics=METRICS, is_weighted=is_weighted)
    some = found_of([path(3)], [0]).found
    again = take(none, np.empty(0, np.int64))
    for name in ("row", "exact", "path", "center_ptr", "counts", "component_size"):
        assert getattr(none, name).dtype == getattr(again, name).dtype == getattr(some, name).dtype
    assert none.diameter_lower.dtype == (np.float64 if is_weighted else np.int64)
