import math
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.collect import Collector
from pipeline.collect.schema import TASKS
from pipeline.errors import PipelineError
from pipeline.model.columns import concat, empty
from pipeline.model.search.results import SearchResults
from pipeline.model.search.tasks import Attempt, Outcome, SearchTask, TaskRun
from tests.soak import examples

ASN = np.array([10, 20, 30, 40])


def results_of(pairs):
    """Made-up results in which row r, source s has s + 1 levels and r + s farthest nodes."""
    row = np.array([r for r, _ in pairs], np.int64)
    source = np.array([s for _, s in pairs], np.int32)
    hops = [[10 * r + s] * (s + 1) for r, s in pairs]
    far = [[r] * (r + s) for r, s in pairs]

    def ptr(lists):
        return np.cumsum([0, *(len(x) for x in lists)]).astype(np.int64)

    return SearchResults(
        row=row,
        source=source,
        n_reached=row * 100 + source,
        eccentricity=source,
        hop_ptr=ptr(hops),
        hop_counts=np.array(list(chain(*hops)), np.int64),
        farthest_ptr=ptr(far),
        farthest=np.array(list(chain(*far)), np.int32),
    )


def outcome_of(pairs, error=None, run=None, failed=(), kind="pack", submitted=1.0):
    rows = sorted({r for r, _ in pairs})
    task = SearchTask(
        kind=kind,
        snapshot="",
        rows=np.array(rows, np.int64),
        source_ptr=np.append(0, np.cumsum([sum(r == row for r, _ in pairs) for row in rows])),
        sources=np.array([s for _, s in pairs], np.int32),
        device="cpu",
        name=f"msbfs_AS{ASN[rows[0]]}",
    )
    result = None if error else results_of(pairs)
    if result is not None and run is not None:
        result = replace(result, read_s=(run.ended - run.started) / 4)
    return Outcome(task, 1 + len(failed), submitted, result, run, error, failed)


def as_dict(results):
    return {
        (int(results.row[i]), int(results.source[i])): (
            results.hop_counts[results.hop_ptr[i] : results.hop_ptr[i + 1]].tolist(),
            results.farthest[results.farthest_ptr[i] : results.farthest_ptr[i + 1]].tolist(),
            int(results.n_reached[i]),
            int(results.eccentricity[i]),
        )
        for i in range(len(results.source))
    }


@settings(max_examples=examples(100), deadline=None)
@given(
    pairs=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=20),
    data=st.data(),
)
def test_any_order_of_outcomes_gives_the_same_columns(pairs, data):
    pairs = sorted(pairs)
    collector, left = Collector(ASN), data.draw(st.permutations(pairs))
    while left:
        n = data.draw(st.integers(1, len(left)))
        collector.add(outcome_of(sorted(left[:n])))
        left = left[n:]
    rows = np.arange(4)
    ptr = np.searchsorted([r for r, _ in pairs], np.arange(5)).astype(np.int64)
    sources = np.array([s for _, s in pairs], np.int32)
    measurement = collector.finish(rows, rows, ptr, sources)
    assert list(as_dict(measurement.results)) == pairs
    assert as_dict(measurement.results) == as_dict(results_of(pairs))
    assert measurement.failed == {}
    assert collector.n_units == len(pairs)


def test_ases_that_share_a_graph_each_get_their_sources():
    collector = Collector(ASN)
    collector.add(outcome_of([(0, 1), (0, 2), (0, 5)]))
    rows, owner = np.array([0, 2, 3]), np.array([0, 0, 3])
    measurement = collector.finish(
        rows, owner, np.array([0, 2, 4, 4]), np.array([1, 2, 2, 5], np.int32)
    )
    found = as_dict(measurement.results)
    assert list(found) == [(0, 1), (0, 2), (2, 2), (2, 5)]
    assert found[2, 5] == as_dict(results_of([(0, 5)]))[0, 5]
    assert measurement.n_tasks.tolist() == [1, 1, 0]


def test_failures_name_their_ases_and_keep_what_is_done():
    collector = Collector(ASN)
    collector.add(outcome_of([(0, 1)]))
    collector.add(outcome_of([(0, 2), (1, 0)], error=PipelineError("no memory"), kind="shard"))
    collector.add(outcome_of([(2, 0)]))
    rows = np.arange(3)
    measurement = collector.finish(
        rows, rows, np.array([0, 2, 3, 5]), np.array([1, 2, 0, 0, 9], np.int32)
    )
    assert measurement.failed == {
        0: "no memory",
        1: "no memory",
        2: "the run ended before it was searched",
    }
    assert list(as_dict(measurement.results)) == [(0, 1), (2, 0)]


def test_a_search_that_ran_twice_counts_once():
    collector = Collector(ASN)
    for _ in range(2):
        collector.add(outcome_of([(1, 0), (1, 3)]))
    measurement = collector.finish(
        np.array([1]), np.array([1]), np.array([0, 2]), np.array([0, 3], np.int32)
    )
    assert list(as_dict(measurement.results)) == [(1, 0), (1, 3)]


def test_tasks_table_and_busy_share():
    collector = Collector(ASN)
    lost = Attempt(1, 0.0, PipelineError("died"))
    collector.add(outcome_of([(0, 0)], run=TaskRun("a", "gpu", 2.0, 6.0), failed=(lost,)))
    collector.add(outcome_of([(1, 0)], run=TaskRun("b", "cpu", 1.0, 3.5), submitted=0.5))
    shard = outcome_of([(2, 0), (3, 0)], run=TaskRun("b", "cpu", 3.5, 10.0), kind="shard")
    collector.add(shard)
    rows = np.arange(4)
    measurement = collector.finish(
        rows, rows, np.arange(5), np.zeros(4, np.int32), n_threads={"a": 1, "b": 2, "c": 1}
    )
    tasks = measurement.tasks
    assert list(tasks) == TASKS.names
    assert tasks["status"] == ["retried", "ok", "ok", "ok"]
    assert tasks["attempt"] == [1, 2, 1, 1]
    assert tasks["read_s"] == [None, 1.0, 0.625, 1.625]
    assert tasks["worker"] == [None, "a", "b", "b"]
    assert [asns.tolist() for asns in tasks["asns"]] == [[10], [10], [20], [30, 40]]
    assert measurement.busy_share == pytest.approx({"a": 0.4, "b": 0.45, "c": 0.0})
    assert measurement.n_retries.tolist() == [1, 0, 0, 0]
    assert measurement.wall_s[:2].tolist() == [4.0, 2.5]
    assert all(math.isnan(s) for s in measurement.wall_s[2:])
    assert measurement.device == ["gpu", "cpu", "cpu", "cpu"]


def test_many_small_results_stay_few_pieces():
    collector = Collector(np.arange(2000))
    for i in range(2000):
        collector.add(Outcome(outcome_of([(0, 0)]).task, 1, 0.0, results_of([(i, 1)])))
    assert len(collector._pieces) < 300
    assert len(concat(collector._pieces).source) == 2000


def test_nothing_concatenates_to_nothing():
    assert len(concat([empty(SearchResults), empty(SearchResults)]).source) == 0
