"""What decides on a worker whether a task begins, or has been withdrawn."""

import pickle

from pipeline.schedule.transport import attempt as module
from pipeline.schedule.transport.attempt import Begun, WithdrawnError, attempt, pack, withdraw_here

DONE = []


def note(task):
    DONE.append(task)


def test_a_task_either_begins_or_is_withdrawn():
    here = Begun()
    assert here.begin(("a", 1, 1))
    assert here.withdraw([("a", 1, 1), ("a", 2, 1)]) == [("a", 1, 1)]
    assert not here.begin(("a", 2, 1))
    assert here.begin(("a", 2, 2))  # another attempt


def test_only_the_last_are_remembered(monkeypatch):
    monkeypatch.setattr(module, "N_REMEMBERED", 2)
    here = Begun()
    for i in range(3):
        assert here.begin((i,))
    assert here.withdraw([(0,), (1,), (2,)]) == [(1,), (2,)]


def test_a_task_that_was_withdrawn_does_not_run():
    DONE.clear()
    key = ("withdrawn-0", 1, 1)
    assert withdraw_here([key]) == []
    attempted = attempt(pack(key, "", note, 7))
    assert isinstance(pickle.loads(pickle.dumps(attempted)).error, WithdrawnError)
    assert DONE == []
    assert attempt(pack(("withdrawn-0", 1, 2), "", note, 8)).error is None  # another attempt
    assert DONE == [8]
