"""A tied child ends with its parent, however that ends."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

PARENT = """
import subprocess, sys, time
from flows.tied import tied

words = [sys.executable, "-c", "import time; print('runs', flush=True); time.sleep(600)"]
child = subprocess.Popen(tied(words), stdout=subprocess.PIPE, start_new_session=True)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_child_of_a_killed_parent_ends():
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        child = psutil.Process(int(parent.stdout.readline()))
        assert "flows.tied" not in child.cmdline()
        parent.kill()
    _, alive = psutil.wait_procs([child], timeout=10)
    for process in alive:
        process.kill()
    assert alive == []


def test_exit_status_and_words_are_those_of_the_program():
    from flows.tied import tied

    words = [sys.executable, "-c", "import sys; print(sys.argv[1:]); sys.exit(7)", "a b", "--c"]
    done = subprocess.run(tied(words), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "['a b', '--c']\n")
