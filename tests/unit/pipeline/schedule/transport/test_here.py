"""Tasks in this process: outcomes, attempts and deadlines as on a cluster."""

from __future__ import annotations

import threading
import time
from collections import Counter

import numpy as np
import pytest

from pipeline.errors import FormatError, OutOfMemoryError, PipelineError, RetryableError
from pipeline.model.search.results import THIS_PROCESS
from pipeline.schedule.transport.drive import SCHEDULES, drive
from pipeline.schedule.transport.here import Here
from pipeline.schedule.transport.limits import Limits

QUICK = Limits(poll_s=0.05, least_s=0.2, first_s=0.0, patience=1.0)
CALLS: Counter[int] = Counter()
FREE = threading.Event()


@pytest.fixture(autouse=True)
def _fresh():
    CALLS.clear()
    FREE.clear()
    yield
    FREE.set()  # what hangs ends with its test


def run(task):
    CALLS[task] += 1
    if task % 10 == 3 and CALLS[task] < 3:
        raise RetryableError(f"task {task}: not now")
    if task == 17:
        raise FormatError("x", "line 1", "bad")
    if task == 19:
        raise RetryableError("never")
    if task == 21:
        raise KeyError(task)
    return task * task


def driven(tasks, run=run, **more):
    todo = iter(tasks)
    outcomes = drive(Here(), run, lambda: next(todo, None), name="here", **more)
    return {outcome.task: outcome for outcome in outcomes}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_errors_become_outcomes_and_what_may_pass_is_tried_again(schedule):
    todo = iter(range(24))
    found = SCHEDULES[schedule](Here(), run, lambda: next(todo, None), name="here")
    outcomes = {outcome.task: outcome for outcome in found}
    assert sorted(outcomes) == list(range(24))
    assert (outcomes[13].result, outcomes[13].attempts) == (169, 3)
    assert isinstance(outcomes[17].error, FormatError)
    assert outcomes[17].attempts == CALLS[17] == 1
    assert isinstance(outcomes[19].error, RetryableError)
    assert outcomes[19].attempts == 3
    assert isinstance(outcomes[21].error, PipelineError)
    assert {outcome.run.worker for outcome in outcomes.values()} == {THIS_PROCESS}


def test_what_is_said_of_several_tasks_word_for_word_is_said_once(caplog):
    def busy(task):
        CALLS[task] += 1
        if CALLS[task] == 1:
            raise RetryableError("bfs_AS1: not now" if task else "bfs_AS2: not now")
        return task

    found = driven(range(4), busy)
    assert [found[task].attempts for task in range(4)] == [2] * 4
    assert sorted(record.getMessage() for record in caplog.records) == [
        "attempt 1: bfs_AS1: not now; trying again",
        "attempt 1: bfs_AS2: not now; trying again",
    ]


def test_tasks_too_large_for_the_memory_are_split():
    def tight(task):
        if task > 4:
            raise MemoryError(task)
        return task

    found = driven([8, 2], tight, smaller=lambda task: [task // 2, task // 2 - 1])
    assert sorted(found) == [2, 3, 4]
    assert all(outcome.error is None for outcome in found.values())


def test_without_smaller_tasks_a_lack_of_memory_is_the_tasks_own():
    def hog(task):
        if task == 1:
            raise MemoryError
        return task

    found = driven([1, 2], hog)
    assert isinstance(found[1].error, OutOfMemoryError)
    assert found[2].error is None


HELD = np.zeros(3, np.int64)


def test_results_are_not_overwritten_by_later_tasks():
    def held(task):
        HELD[:] = task
        return HELD

    found = driven([1, 2, 3], held)
    assert [found[task].result.tolist() for task in (1, 2, 3)] == [[1] * 3, [2] * 3, [3] * 3]


def test_what_cannot_be_copied_has_failed():
    (outcome,) = driven([1], lambda task: threading.Lock()).values()
    assert "pickle" in str(outcome.error)


def test_a_task_that_hangs_costs_its_own_outcome_alone():
    def hangs(task):
        if task == 0:
            FREE.wait(30)
        return task

    found = driven([0, 1, 2], hangs, limits=QUICK, cost=lambda task: 1e-3)
    assert isinstance(found[0].error, PipelineError)
    assert found[0].attempts == 3
    assert "no answer from worker this process" in str(found[0].error)
    assert [found[task].result for task in (1, 2)] == [1, 2]


def test_an_interrupt_does_not_wait_for_what_runs():
    began = threading.Event()

    def hangs(task):
        began.set()
        FREE.wait(30)

    def interrupt():
        if began.wait(10):
            raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        driven([0], hangs, limits=QUICK, beat=interrupt)
    assert time.monotonic() - started < 20
