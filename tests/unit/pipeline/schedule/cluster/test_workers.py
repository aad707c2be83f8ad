"""Which workers may run a task, as they come and go; addresses of schedulers."""

from types import SimpleNamespace

import pytest
from distributed.comm import CommClosedError

from pipeline.errors import ClusterLostError, UsageError
from pipeline.schedule.cluster import workers
from pipeline.schedule.cluster.address import check_address
from pipeline.schedule.cluster.executors import ClientExecutor

A, B, C = "tcp://a:1", "tcp://b:1", "tcp://c:1"
ON_GPU, ON_CPU = SimpleNamespace(device="gpu"), SimpleNamespace(device="cpu")


@pytest.fixture
def mixed(monkeypatch):
    """A has a GPU, B has none; workers that join are asked, and have not answered yet."""
    cluster = ClientExecutor(None, {A: {"gpu": "H"}, B: {"gpu": ""}}, ("cpu", "gpu"))
    monkeypatch.setattr(cluster, "meet", lambda workers: None)
    return cluster


@pytest.mark.parametrize(
    ("task", "there", "allowed"),
    [
        (ON_CPU, [A, B], None),
        (ON_GPU, [A, B], [A]),
        (ON_GPU, [A], None),
        (ON_CPU, [A, C], [A]),  # C joined and has not been probed
        (ON_GPU, [A, C], [A]),
        (ON_GPU, [B], [A]),  # A left: wait for it, since B cannot
        (ON_CPU, [C], None),  # no other worker is left
    ],
)
def test_workers_that_may_run_a_task(mixed, task, there, allowed):
    assert mixed.allowed(task, there) == allowed


def test_a_worker_that_came_is_used_once_it_is_known(mixed):
    mixed.facts = mixed.facts | {C: {"gpu": "H"}}
    assert mixed.allowed(ON_GPU, [A, B, C]) == [A, C]
    assert mixed.allowed(ON_CPU, [A, B, C]) is None


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.1:8786", "host.example:1", "tls://[::1]:65535", "ucx://gpu-1:8786"]
)
def test_addresses_that_are(address):
    check_address(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost",
        "tcp://",
        "tcp://h",
        "http://h:1",
        "tcp://[::1",
        "tcp://h:0",
        "tcp://h:65536",
    ],
)
def test_addresses_that_are_not(address):
    with pytest.raises(UsageError, match="give tcp://HOST:PORT"):
        check_address(address)


@pytest.mark.parametrize(
    ("raised", "error", "words"),
    [
        (TimeoutError(), UsageError, "does not answer \\(within 9 s\\)"),
        (CommClosedError("closed"), ClusterLostError, "is gone: closed"),
    ],
)
def test_a_scheduler_that_is_gone_is_not_taken_for_a_slow_one(monkeypatch, raised, error, words):
    def fail(*_):
        raise raised

    monkeypatch.setattr(workers, "ask", fail)
    client = SimpleNamespace(scheduler=SimpleNamespace(address=A))
    with pytest.raises(error, match=f"the scheduler at {A} {words}"):
        workers.ask_scheduler(client, None, 9)
