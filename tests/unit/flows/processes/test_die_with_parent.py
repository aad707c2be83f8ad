"""A tied program and all that it started end with the parent, however it ends."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from flows.processes.die_with_parent import tied

PROGRAM = """
import os, subprocess, sys, time

words = [sys.executable, "-c", "import time; time.sleep(600)"]
own_session = subprocess.Popen(words, start_new_session=True)
print(os.getpid(), own_session.pid, flush=True)
time.sleep(600 if sys.argv[1] != "ends" else 0)
"""
PARENT = f"""
import subprocess, sys, time
from flows.processes.die_with_parent import tied

words = tied([sys.executable, "-c", {PROGRAM!r}, sys.argv[1]])
child = subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True)
print(child.pid, child.stdout.readline().decode(), flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to a subreaper")
def test_all_below_a_killed_parent_ends():
    words = [sys.executable, "-c", PARENT, "waits"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        below = [psutil.Process(int(pid)) for pid in parent.stdout.readline().split()]
        parent.kill()
    _, alive = psutil.wait_procs(below, timeout=20)
    for process in alive:
        process.kill()
    assert len(below) == 3
    assert alive == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to a subreaper")
@pytest.mark.parametrize("how", ["ends", "waits"])
def test_processes_that_a_program_left_end_with_it(how):
    words = tied([sys.executable, "-c", PROGRAM, how])
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as keeper:
        assert keeper.stdout
        below = [psutil.Process(int(pid)) for pid in keeper.stdout.readline().split()]
        if how != "ends":
            keeper.terminate()
    _, alive = psutil.wait_procs(below, timeout=5)
    for process in alive:
        process.kill()
    assert alive == []
    assert keeper.returncode == {"ends": 0, "waits": 128 + 15}[how]


def test_program_that_is_not_there_is_named():
    done = subprocess.run(tied(["no-such-program"]), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (127, "no-such-program: No such file or directory\n")


def test_exit_status_and_words_are_those_of_the_program():
    words = [sys.executable, "-c", "import sys; print(sys.argv[1:]); sys.exit(7)", "a b", "--c"]
    done = subprocess.run(tied(words), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "['a b', '--c']\n")
