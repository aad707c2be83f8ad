"""The three executors have what a run needs."""

import inspect

import pytest

from pipeline.schedule.cluster.executors import ClientExecutor, ClusterExecutor
from pipeline.schedule.executor import Executor
from pipeline.schedule.in_process.local import LocalExecutor

GIVEN = (None, {}, ("cpu",))


@pytest.mark.parametrize(
    "executor",
    [LocalExecutor(), ClusterExecutor(*GIVEN), ClientExecutor(*GIVEN)],
    ids=lambda executor: type(executor).__name__,
)
def test_each_executor_has_all_of_the_interface(executor):
    methods = {name for name in vars(Executor) if not name.startswith("_")}
    wanted = methods | set(Executor.__annotations__)
    assert {"client", "facts", "own", "allowed", "n_threads", "describe"} <= wanted
    assert [name for name in wanted if not hasattr(executor, name)] == []
    for name in methods:
        if inspect.isfunction(of_protocol := vars(Executor)[name]):
            asked = [*inspect.signature(of_protocol).parameters][1:]
            assert [*inspect.signature(getattr(executor, name)).parameters] == asked


def test_tasks_may_run_on_every_worker_of_ours_but_on_those_of_others_once_checked(monkeypatch):
    joined = {"tcp://a:1": {"gpu": ""}}
    monkeypatch.setattr(ClientExecutor, "meet", lambda self, workers: None)
    there = ["tcp://a:1", "tcp://b:1"]
    task = type("Task", (), {"device": "cpu"})
    assert ClusterExecutor(None, joined, ("cpu",)).allowed(task, there) is None
    assert ClientExecutor(None, joined, ("cpu",)).allowed(task, there) == ["tcp://a:1"]
