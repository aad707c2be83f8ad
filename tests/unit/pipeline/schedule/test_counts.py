"""What a run has done so far: ASes that share a graph are done together, retries count once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from pipeline.model.search.tasks import Attempt, Outcome, SearchTask, WidthResults, WidthTask
from pipeline.schedule.counts import RunCounts, _sums

ROWS = np.array([1, 3, 4, 6])  # of a snapshot of eight; 3 and 4 share a graph, owned by 3
OWNER = np.array([1, 3, 3, 6])


@pytest.fixture
def counts():
    cluster = SimpleNamespace(
        client=SimpleNamespace(status="closed"),
        n_lost=1,
    )
    return RunCounts(cluster, 8, ROWS)


def search(rows, source_ptr, sources):
    return SearchTask(
        "pack", "", np.array(rows), np.array(source_ptr), np.array(sources), "cpu", ""
    )


def done(task, n_searches, retries=0, error=None):
    result = SimpleNamespace(source=np.zeros(n_searches)) if error is None else None
    failed = tuple(Attempt(i + 1, 0.0, RuntimeError()) for i in range(retries))
    return Outcome(task, 1 + retries, 0.0, result, error=error, failed=failed)


def left(counts):
    return counts.now()["ases_left"]


def test_an_as_is_left_until_the_last_of_its_sources_is_searched(counts):
    # AS 3 is searched from 0 and 5, AS 4 from 5 and 7: three searches of their one graph.
    counts.expect_searches(OWNER, np.array([0, 2, 4, 6, 6]), np.array([0, 1, 0, 5, 5, 7]))
    assert left(counts) == 3  # that of row 6 has no source
    counts.note(done(search([1, 3], [0, 2, 4], [0, 1, 0, 5]), 4, retries=2))
    assert left(counts) == 2
    counts.note(done(search([3], [0, 1], [7]), 1))
    assert left(counts) == 0
    found = counts.now()
    assert (found["ases"], found["searches"], found["retries"]) == (4, 5, 2)
    assert found["lost_workers"] == 1


def test_a_task_that_failed_leaves_nothing_to_do_and_counts_no_search(counts):
    counts.expect_searches(OWNER, np.array([0, 1, 1, 1, 1]), np.array([0]))
    counts.note(done(search([1], [0, 1], [0]), 0, error=RuntimeError()))
    assert left(counts) == 0
    assert counts.now()["searches"] == 0


def test_widths_and_searches_of_an_as_are_both_awaited(counts):
    counts.expect_tasks(2)
    assert counts.now()["tasks_left"] == 2
    counts.expect_searches(OWNER, np.array([0, 1, 1, 1, 1]), np.array([0]))
    counts.expect("widths", OWNER, np.array([True, False, False, True]))
    assert left(counts) == 2
    counts.note(done(search([1], [0, 1], [0]), 1))
    assert left(counts) == 2
    task = WidthTask("widths", "", np.array([1]), (), "cpu", "")
    counts.note(Outcome(task, 1, 0.0, WidthResults(None, {}, 9)))
    assert left(counts) == 1
    assert counts.now()["searches"] == 10
    assert counts.now()["tasks_left"] == 0
    counts.answered("widths", np.array([6]))
    assert left(counts) == 0


def test_what_workers_keep_is_summed_over_those_that_say_so():
    said = {"graphs": 2, "cpu_bytes": 10}
    workers = {
        "a": {"metrics": {"hopscope": said}},
        "b": {"metrics": {"hopscope": said | {"gpu_bytes": 7}}},
        "c": {"metrics": {}},
        "d": {"metrics": {"hopscope": None}},
    }
    assert _sums({"workers": workers}) == {"graphs": 4, "cpu_bytes": 20, "gpu_bytes": 7}
