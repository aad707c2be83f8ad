"""What workers are forked from: when it is started, and with what."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from multiprocessing.context import ForkServerProcess

import pytest

from kernels.host import compiled_modules
from pipeline.schedule.cluster.own import forking

STOPS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class Server:
    """Stands for ``multiprocessing.forkserver``; notes what it was started with."""

    def __init__(self):
        self.starts, self.modules = [], []

    def set_forkserver_preload(self, modules):
        self.modules = modules

    def ensure_running(self):
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self.starts.append((os.environ.get("OMP_NUM_THREADS"), STOPS <= blocked))


@pytest.fixture
def server(monkeypatch):
    server = Server()
    monkeypatch.setattr(forking, "forkserver", server)
    monkeypatch.setattr(forking, "_imported", set())
    return server


def test_it_starts_with_the_kernels_of_the_run_and_leaves_the_environment_alone(
    server, monkeypatch
):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    before = dict(os.environ)
    forking.start(("searches", "widths", "weights"))
    assert server.starts == [("1", True)]
    work = ("searches", "widths", "weights")
    kernels = {name for kind in work for name in compiled_modules(kind)}
    assert kernels <= set(server.modules)
    assert dict(os.environ) == before


def test_signals_reach_this_process_again_once_it_has_started(server):
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    forking.start(("searches",))
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


LEFT = """
import multiprocessing, signal, time
from pipeline.schedule.cluster.own import forking

def wait(ready):
    ready.set()
    time.sleep(600)

if __name__ == "__main__":
    forking.start(())
    context = multiprocessing.get_context(forking.METHOD)
    ready = context.Event()
    process = context.Process(target=wait, args=(ready,), daemon=True)
    process.start()
    ready.wait()
    process.terminate()
    process.join(0.2)
    print(process.is_alive(), flush=True)
"""


def test_what_is_forked_is_not_ended_by_sigterm_but_with_this_process(tmp_path):
    script = tmp_path / "left.py"
    script.write_text(LEFT)
    done = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


@pytest.mark.parametrize("on_gpus", [True, False])
def test_where_there_are_gpus_it_imports_cupy_too(server, on_gpus):
    forking.start(("searches",), on_gpus=on_gpus)
    assert ("cupy" in server.modules) == on_gpus


def test_of_the_kernels_it_imports_only_those_of_the_run(server):
    forking.start(("searches",))
    assert not set(compiled_modules("widths")) & set(server.modules)


FORKED = """
import importlib, os, sys
from pipeline.schedule.cluster.own.forking import GPU_MODULES

for name in GPU_MODULES:
    importlib.import_module(name)
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.environ["CUDA_VISIBLE_DEVICES"] = "0"
import cupy
os._exit(0 if int(cupy.arange(3).sum()) == 3 else 1)
"""


@pytest.mark.gpu
def test_a_process_that_has_imported_cupy_and_kernels_can_still_be_forked():
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=120)


class Child(ForkServerProcess):
    """A process that was never started."""

    pid = None

    def __init__(self, pid: int):
        self.pid, self.is_killed = pid, False

    def kill(self):
        self.is_killed = True


@pytest.mark.parametrize(("pids", "killed"), [(None, [1, 2]), ({2, None}, [2]), ((), [])])
def test_only_the_workers_that_are_meant_are_killed(monkeypatch, pids, killed):
    children = [Child(1), Child(2)]
    monkeypatch.setattr(forking, "active_children", lambda: children)
    forking.kill_forked(pids)
    assert [child.pid for child in children if child.is_killed] == killed
