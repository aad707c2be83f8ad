"""Processes that are stopped, not dead: their connections stay open, but silent."""

import signal
import threading
import time

import psutil
import pytest
from distributed import Client

from pipeline.schedule.cluster.open import _quiet
from pipeline.schedule.transport.drive import drive
from pipeline.schedule.transport.limits import Limits
from tests.integration.test_two_workers import scheduler, worker
from tests.served import wait_until

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

LIMITS = Limits(poll_s=0.5, answer_s=3, fetch_s=4, silent_s=10)


def work(task):
    time.sleep(0.02)
    return task * task


def drive_in_background(client, n_tasks, after_ten):
    """Outcomes by task; ``after_ten`` is called once ten have come."""
    found, left = {}, iter(range(n_tasks))

    def run():
        for outcome in drive(
            client, work, lambda: next(left, None), name="quiet", limits=LIMITS, max_attempts=5
        ):
            found[outcome.task] = outcome
            if len(found) == 10:
                after_ten()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout=240)
    assert not thread.is_alive(), f"the run hangs with {len(found)} of {n_tasks} outcomes"
    return found


@pytest.fixture
def connected():
    clients = []

    def connect(address):
        _quiet()
        clients.append(Client(address, set_as_default=False, timeout=120))
        return clients[-1]

    yield connect
    for client in clients:
        client.close(timeout=2)


def stop(process):
    process.send_signal(signal.SIGSTOP)
    stopped = psutil.Process(process.pid)
    wait_until(lambda: stopped.status() == psutil.STATUS_STOPPED, every_s=0.01)


def test_a_worker_that_is_stopped_with_results_does_not_delay_others(tmp_path, connected):
    with (
        scheduler(tmp_path) as (_, address),
        worker(address, tmp_path, "--no-nanny") as first,
        worker(address, tmp_path, "--no-nanny"),
    ):
        client = connected(address)
        client.wait_for_workers(2, timeout=180)
        try:
            found = drive_in_background(client, 60, lambda: stop(first))
        finally:
            first.send_signal(signal.SIGCONT)
    assert {str(outcome.error) for outcome in found.values()} == {"None"}
    assert {task: outcome.result for task, outcome in found.items()} == {
        task: task * task for task in range(60)
    }
    reasons = {str(attempt.error) for outcome in found.values() for attempt in outcome.failed}
    assert reasons  # it did hold something
    assert all("could not be fetched" in r or "does not respond" in r for r in reasons)


def test_a_scheduler_that_is_stopped_ends_the_run(tmp_path, connected):
    with scheduler(tmp_path) as (process, address), worker(address, tmp_path, "--no-nanny"):
        client = connected(address)
        client.wait_for_workers(1, timeout=180)
        try:
            found = drive_in_background(client, 60, lambda: stop(process))
        finally:
            process.send_signal(signal.SIGCONT)
    errors = [str(outcome.error) for outcome in found.values() if outcome.error is not None]
    assert sorted(found) == list(range(60))
    assert errors
    assert all("the scheduler does not answer" in error for error in errors)
