"""Processes of a stage do not load the main module of the flow run."""

from __future__ import annotations

import subprocess
import sys

MAIN = """
import multiprocessing, sys
from flows.processes.main_module import without_main_module

print("main is loaded")  # once more in each child that imports this file

if __name__ == "__main__":
    before = (__spec__, __file__)
    with without_main_module():
        process = multiprocessing.get_context("spawn").Process(target=print, args=("child ran",))
        process.start()
        process.join()
    assert process.exitcode == 0
    assert (__spec__, __file__) == before
"""


def test_spawned_process_does_not_import_the_main_module(tmp_path):
    program = tmp_path / "main.py"
    program.write_text(MAIN)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")) == ["", "child ran", "main is loaded"]
