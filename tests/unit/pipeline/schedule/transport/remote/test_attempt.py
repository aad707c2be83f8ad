"""A task on a worker: unpacked, and not run once it has been refused."""

import pickle

from pipeline.errors import RetryableError
from pipeline.schedule.transport.remote.attempt import attempt, pack, refuse_here

DONE = []


def note(task):
    DONE.append(task)


def test_a_task_that_was_refused_does_not_run():
    DONE.clear()
    key = ("refused-0", 1, 1)
    assert refuse_here([key]) == []
    attempted = attempt(pack(key, "", note, 7))
    assert isinstance(pickle.loads(pickle.dumps(attempted)).error, RetryableError)
    assert DONE == []
    assert attempt(pack(("refused-0", 1, 2), "", note, 8)).error is None  # another attempt
    assert DONE == [8]
