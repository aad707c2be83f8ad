"""An existing Dask cluster: ``dask scheduler`` and two ``dask worker``, started separately."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from pipeline.errors import UsageError
from pipeline.schedule.cluster import open as cluster
from pipeline.schedule.run import measure
from tests.integration.measured import config_for, expected, make_snapshot, measured

START_S = 180  # seconds; a busy machine takes 10

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@contextlib.contextmanager
def dask(*arguments, cwd):
    """A ``dask`` command in the background; yields the process and its log."""
    log = cwd / f"{arguments[0]}-{time.monotonic_ns()}.log"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with log.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            stdout=stream,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=environment,
        )
    try:
        yield process, log
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(log, pattern):
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if found := re.search(pattern, log.read_text()):
            return found
        time.sleep(0.1)
    raise AssertionError(f"no {pattern!r} in {START_S} s:\n{log.read_text()}")


@contextlib.contextmanager
def scheduler(cwd):
    arguments = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    with dask(*arguments, cwd=cwd) as (process, log):
        yield process, wait_for(log, r"Scheduler at:\s+(tcp://127\.0\.0\.1:\d+)")[1]


@contextlib.contextmanager
def worker(address, cwd, *options):
    arguments = ("worker", address, "--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard")
    arguments += options
    with dask(*arguments, "--local-directory", str(cwd), cwd=cwd) as (process, log):
        wait_for(log, r"Registered to:")
        yield process


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return make_snapshot(tmp_path_factory.mktemp("store"))


def test_the_whole_measurement_on_two_workers_started_separately(snapshot, tmp_path):
    with (
        scheduler(tmp_path) as (_, address),
        worker(address, tmp_path),
        worker(address, tmp_path),
    ):
        config = config_for(snapshot, tmp_path / "out", scheduler=address, pack=1)
        measurement = measure(snapshot, config)
        assert measurement.failed == {}
        assert measured(snapshot, measurement) == expected(snapshot)
        assert len(set(measurement.tasks["worker"])) == 2
        assert measurement.cluster["scheduler"] == address
        assert measurement.cluster["own"] is False
        assert measurement.cluster["dashboard"] == ""  # it has none
        # It is not ours, so it is still there for the next run and for others.
        again = measure(snapshot, config_for(snapshot, tmp_path / "out", scheduler=address))
        assert measured(snapshot, again) == expected(snapshot)


def test_no_worker_is_reported_and_a_scheduler_that_dies_ends_the_run(
    snapshot, tmp_path, monkeypatch
):
    monkeypatch.setattr(cluster, "WORKERS_S", 0.5)
    with scheduler(tmp_path) as (process, address):
        config = config_for(snapshot, tmp_path / "out", scheduler=address, pack=1)
        with pytest.raises(UsageError, match=rf"--scheduler {address}: it has no worker") as none:
            measure(snapshot, config)
        assert str(none.value).endswith(" --dashboard-address 127.0.0.1:0")
        with worker(address, tmp_path):
            found = {}

            def kill(progress):
                if progress.done > 3:
                    process.kill()

            def run():
                found["measurement"] = measure(snapshot, config, kill)

            thread = threading.Thread(target=run, daemon=True)
            thread.start()
            thread.join(timeout=240)
            assert not thread.is_alive(), "the run waits for a scheduler that is gone"
            failed = found["measurement"].failed
            assert failed
            assert all("scheduler is gone" in reason for reason in failed.values())
