"""A task on a worker: unpacked, and not run once it has been withdrawn."""

import pickle

from pipeline.schedule.transport.attempted import WithdrawnError
from pipeline.schedule.transport.remote.attempt import attempt, pack, withdraw_here

DONE = []


def note(task):
    DONE.append(task)


def test_a_task_that_was_withdrawn_does_not_run():
    DONE.clear()
    key = ("withdrawn-0", 1, 1)
    assert withdraw_here([key]) == []
    attempted = attempt(pack(key, "", note, 7))
    assert isinstance(pickle.loads(pickle.dumps(attempted)).error, WithdrawnError)
    assert DONE == []
    assert attempt(pack(("withdrawn-0", 1, 2), "", note, 8)).error is None  # another attempt
    assert DONE == [8]
