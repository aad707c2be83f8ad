"""What decides where a task runs whether it begins."""

from pipeline.schedule.transport import attempted as module
from pipeline.schedule.transport.attempted import BegunTasks


def test_a_task_either_begins_or_is_refused():
    here = BegunTasks()
    assert here.begin(("a", 1, 1))
    assert here.refuse([("a", 1, 1), ("a", 2, 1)]) == [("a", 1, 1)]
    assert not here.begin(("a", 2, 1))
    assert here.begin(("a", 2, 2))  # another attempt


def test_only_the_last_are_remembered(monkeypatch):
    monkeypatch.setattr(module, "N_REMEMBERED", 2)
    here = BegunTasks()
    for i in range(3):
        assert here.begin((i,))
    assert here.refuse([(0,), (1,), (2,)]) == [(1,), (2,)]
