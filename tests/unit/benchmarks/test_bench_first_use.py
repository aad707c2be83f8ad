"""The program about first uses counts what all processes of a command take."""

from __future__ import annotations

import sys

import pytest

from benchmarks.bench_first_use import measured

BUSY = "import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}], check=True)"
LOOP = "import time\nwhile time.process_time() < 0.3: pass\nraise SystemExit({status})"


def test_processor_time_of_processes_below_counts(tmp_path):
    words = (sys.executable, "-c", BUSY.format(code=LOOP.format(status=0)))
    said = measured(words, tmp_path, tmp_path)
    assert said["processor_s"] >= 0.3
    assert not said["said_compiling"]


def test_that_a_command_compiles_is_noted(tmp_path):
    words = (sys.executable, "-c", "import sys; sys.stderr.write('compiling once')")
    assert measured(words, tmp_path, tmp_path)["said_compiling"]


def test_a_command_that_fails_is_no_measurement(tmp_path):
    with pytest.raises(SystemExit, match="CalledProcessError"):
        measured(
            (sys.executable, "-c", BUSY.format(code=LOOP.format(status=3))), tmp_path, tmp_path
        )
