import pytest

from pipeline.model.search.tasks import TaskRun
from pipeline.schedule.transport.window import Window


@pytest.mark.parametrize(
    ("seconds", "n_threads", "n_tasks", "is_short"),
    [
        ([], 0, 16, False),
        ([], 2, 16, False),
        ([], 100, 200, False),
        ([1.0], 2, 16, False),
        ([0.002], 2, 40, True),
        ([0.0], 2, 64, True),
        ([0.0], 8, 256, True),
        ([0.0], 500, 1000, True),
        ([1.0] + 16 * [0.0], 2, 64, True),  # the last 16 decide
        ([0.0] + 16 * [1.0], 2, 16, False),
    ],
)
def test_more_of_short_tasks(seconds, n_threads, n_tasks, is_short):
    window = Window()
    for each in seconds:
        window.note(TaskRun("tcp://a:1", "cpu", 5.0, 5.0 + each))
    assert window.n_tasks(n_threads) == n_tasks
    assert window.is_short is is_short
