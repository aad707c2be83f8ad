"""Without Prefect: one line that says what to install, and no traceback."""

from __future__ import annotations

import subprocess
import sys

import pytest

from flows.processes.missing import why_no_prefect
from tests.real_data import REPOSITORY

# As where Prefect is not installed: it is not found, and cannot be imported.
PROGRAM = """
import runpy, sys
from importlib.abc import MetaPathFinder

class Without(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "prefect":
            raise ModuleNotFoundError("No module named 'prefect'", name="prefect")

import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name == "prefect" else real(name, *a)
sys.meta_path.insert(0, Without())
module = sys.argv.pop(1)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    ("module", "what"), [("flows.nightly", "a nightly run"), ("flows.serve", "serve")]
)
def test_a_program_that_needs_prefect_says_so_where_it_is_not(tmp_path, module, what):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, module],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    said = f"{what} needs Prefect, which is not installed here: pip install 'hopscope[serve]'"
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_where_prefect_is_there_is_nothing_to_say():
    assert why_no_prefect("a nightly run") == ""
