import pytest

from pipeline.model.search.tasks import TaskRun
from pipeline.schedule.transport.window import FEW, MAX_HELD, Window


@pytest.mark.parametrize(
    ("seconds", "n_threads", "n_tasks", "n_held"),
    [
        ([], 0, 16, FEW),
        ([], 2, 16, FEW),
        ([], 100, 200, FEW),
        ([1.0], 2, 16, FEW),
        ([0.002], 2, 40, 10.0),
        ([0.0], 2, 64, MAX_HELD),
        ([0.0], 8, 256, MAX_HELD),
        ([0.0], 500, 1000, MAX_HELD),
        ([1.0] + 16 * [0.0], 2, 64, MAX_HELD),  # the last 16 decide
        ([0.0] + 16 * [1.0], 2, 16, FEW),
    ],
)
def test_more_of_short_tasks(seconds, n_threads, n_tasks, n_held):
    window = Window()
    for each in seconds:
        window.note(TaskRun("tcp://a:1", "cpu", 5.0, 5.0 + each))
    assert window.n_tasks(n_threads) == n_tasks
    assert window.n_held == pytest.approx(n_held)
