"""Clusters of a run's own: opened, refused by their address, ended."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from multiprocessing import forkserver

import pytest

from kernels._cpu.threads import n_cores, n_threads
from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError
from pipeline.schedule.cluster.open import open_cluster
from pipeline.schedule.cluster.own.start import start
from pipeline.schedule.run import measure
from tests.integration.measured import (
    config_for,
    credentials_of,
    make_snapshot,
    measured,
)

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def test_a_cluster_does_not_decide_the_threads_of_the_next(snapshot, tmp_path, monkeypatch):
    monkeypatch.delenv("HOPSCOPE_THREADS", raising=False)
    for n_workers in (1, 2):
        config = config_for(snapshot, tmp_path / str(n_workers), workers=n_workers, device="cpu")
        with open_cluster(config) as own:
            each = own.client.run(n_threads)
        assert list(each.values()) == [max(1, n_cores() // n_workers)] * n_workers
        assert "HOPSCOPE_THREADS" not in os.environ


def test_workers_have_variables_that_were_set_after_the_process_they_are_forked_from(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("HOPSCOPE_TEST_SET_LATE", raising=False)
    config = AnalyzeConfig(
        store=tmp_path, out=tmp_path, device="cpu", workers=1, dashboard="127.0.0.1:0"
    )
    for value in ("first", "second"):
        forkserver.ensure_running()
        monkeypatch.setenv("HOPSCOPE_TEST_SET_LATE", value)
        with start(config) as client:
            assert list(client.run(os.getenv, "HOPSCOPE_TEST_SET_LATE").values()) == [value]


def test_nothing_to_search_needs_no_cluster(snapshot, tmp_path):
    config = config_for(snapshot, tmp_path, asns=(60,), scheduler="tcp://127.0.0.1:1")
    assert len(measure(snapshot, config).results.source) == 0


def test_own_cluster_of_one_worker_agrees_and_ends(snapshot, wanted, tmp_path):
    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        dashboard = f"127.0.0.1:{taken.getsockname()[1]}"  # taken: another is used quietly
        config = config_for(snapshot, tmp_path, workers=1, device="cpu", dashboard=dashboard)
        measurement = measure(snapshot, config)
    assert measured(snapshot, measurement) == wanted
    assert measurement.cluster["n_workers"] == 1
    address = measurement.cluster["scheduler"].removeprefix("tls://").split(":")
    with contextlib.closing(socket.socket()) as probe:
        assert probe.connect_ex((address[0], int(address[1]))) != 0


def test_an_address_where_nobody_answers_is_named(snapshot, tmp_path, monkeypatch):
    monkeypatch.setattr("pipeline.schedule.cluster.open.CONNECT_S", 1.0)
    config = config_for(snapshot, tmp_path, scheduler="tcp://127.0.0.1:1")
    with pytest.raises(UsageError, match=r"^--scheduler tcp://127.0.0.1:1: no Dask") as caught:
        measure(snapshot, replace(config, distances=True))
    assert not list(tmp_path.glob(".*distances*"))
    assert "\n" not in str(caught.value)


def test_a_scheduler_that_takes_connections_and_says_nothing_is_named(
    snapshot, tmp_path, monkeypatch
):
    monkeypatch.setattr("pipeline.schedule.cluster.open.GREET_S", 0.5)
    with contextlib.closing(socket.socket()) as stuck:
        stuck.bind(("127.0.0.1", 0))
        stuck.listen()
        address = f"tcp://127.0.0.1:{stuck.getsockname()[1]}"
        with pytest.raises(UsageError, match=rf"^--scheduler {address}: no Dask scheduler answers"):
            measure(snapshot, config_for(snapshot, tmp_path, scheduler=address))


@pytest.mark.parametrize(
    "address",
    [
        "localhost",
        "",
        "tcp://",
        "http://127.0.0.1:8786",
        "tcp://[::1",
        "inproc://x",
        "tcp://127.0.0.1:99999",
        "tcp://127.0.0.1:0",
        "tcp:// :1",
    ],
)
def test_an_invalid_address_is_refused_at_once(snapshot, tmp_path, address):
    with pytest.raises(UsageError, match=r"^--scheduler .*: give tcp://HOST:PORT") as caught:
        measure(snapshot, config_for(snapshot, tmp_path, scheduler=address))
    assert "\n" not in str(caught.value)


def test_gpu_without_a_gpu_says_so(snapshot, tmp_path, monkeypatch):
    monkeypatch.setattr("pipeline.schedule.cluster.own.start.visible_gpus", list)
    with pytest.raises(UsageError, match="no NVIDIA GPU"):
        measure(snapshot, config_for(snapshot, tmp_path, device="gpu"))


@pytest.mark.gpu
def test_gpu_and_cores_agree_with_scipy(snapshot, wanted, tmp_path):
    with (
        open_cluster(config_for(snapshot, tmp_path, device="gpu")) as cluster,
        credentials_of(cluster),
    ):
        for options in ({"pack": 1}, {"pack": 7, "verify": True}, {}):
            there = config_for(snapshot, tmp_path, scheduler=cluster.address, **options)
            measurement = measure(snapshot, replace(there, device="gpu"))
            assert measured(snapshot, measurement) == wanted
            assert set(measurement.tasks["device"]) == {"gpu"}
            assert measured(snapshot, measure(snapshot, replace(there, device="cpu"))) == wanted


LOSING = """
import os, signal, sys
from multiprocessing import forkserver, popen_forkserver
from pathlib import Path
from pipeline.config import AnalyzeConfig
from pipeline.errors import ClusterLostError
from pipeline.schedule.cluster.own.start import start

of_multiprocessing = popen_forkserver.forkserver.connect_to_new_process

def connect_and_lose(fds):
    forkserver.ensure_running()
    server = forkserver._forkserver._forkserver_pid
    os.kill(server, signal.SIGSTOP)
    try:
        return of_multiprocessing(fds)
    finally:
        os.kill(server, signal.SIGKILL)

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    config = AnalyzeConfig(
        store=folder, out=folder, device="cpu", workers=2, dashboard="127.0.0.1:0"
    )
    popen_forkserver.forkserver.connect_to_new_process = connect_and_lose
    try:
        with start(config):
            print("started", flush=True)
    except ClusterLostError as error:
        print(error, flush=True)
    popen_forkserver.forkserver.connect_to_new_process = of_multiprocessing
    with start(config) as client:
        print(len(client.run(os.getpid)), flush=True)
"""


def run_script(tmp_path, text, *arguments, **options):
    """A process of its own that runs a program, which other tests of this one do not feel."""
    script = tmp_path / "script.py"
    script.write_text(text)
    return subprocess.Popen(
        [sys.executable, str(script), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        **options,
    )


def test_a_start_that_loses_the_process_it_forks_from_ends_and_the_next_one_works(tmp_path):
    """It dies while it makes a worker, which therefore has no process at all."""
    process = run_script(tmp_path, LOSING, tmp_path)
    said, complained = process.communicate(timeout=180)
    assert process.returncode == 0, complained
    lost, started = said.splitlines()
    assert lost.startswith("workers cannot be started: ")
    assert started == "2"


SCRIPT = """
import sys, time
from pathlib import Path
from pipeline.schedule.run import measure
from pipeline.store import open_snapshot
from tests.integration.measured import config_for

def slow(progress):
    print("done", progress.done, flush=True)
    time.sleep(0.1)

if __name__ == "__main__":
    snapshot = open_snapshot(Path(sys.argv[1]))
    try:
        measure(snapshot, config_for(snapshot, Path(sys.argv[2]), pack=1, workers=2), slow)
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_ctrl_c_ends_workers_silently(tmp_path):
    """The terminal sends SIGINT to us and to every worker at once."""
    make_snapshot(tmp_path / "store")
    process = run_script(
        tmp_path,
        SCRIPT,
        tmp_path / "store",
        tmp_path / "out",
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    for line in process.stdout:
        if line.startswith("done 5"):
            os.killpg(process.pid, signal.SIGINT)
            break
    said, complained = process.communicate(timeout=180)
    assert said.splitlines()[-1] == "interrupted"
    assert complained == ""
    assert process.returncode == 0
