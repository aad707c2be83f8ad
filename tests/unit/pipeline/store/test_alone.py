"""Runs in their own process are marked while they last, and longer if the process ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pipeline.store import leftovers, remove_leftovers
from pipeline.store.alone import ALONE, alone, crashed_alone, forget_crashed

CRASHED = """
import os, signal, sys
from pathlib import Path
from pipeline.store.alone import alone
with alone(Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGSEGV)
"""


@pytest.fixture
def crashed(tmp_path):
    """A store with the mark of a run whose process has crashed."""
    words = [sys.executable, "-c", CRASHED, str(tmp_path)]
    assert subprocess.run(words, check=False, timeout=120).returncode == -11
    return tmp_path


def test_a_run_that_ends_leaves_nothing(tmp_path):
    with alone(tmp_path):
        assert len(list((tmp_path / ALONE).iterdir())) == 1
        assert crashed_alone(tmp_path) == []
    with pytest.raises(ValueError, match="its own"), alone(tmp_path):
        raise ValueError("its own")
    assert list(tmp_path.iterdir()) == []


def test_one_that_crashed_is_told_apart_from_one_that_lasts(crashed):
    with alone(crashed):
        (mark,) = crashed_alone(crashed)
        forget_crashed(crashed)
        assert not mark.exists()
        assert len(list((crashed / ALONE).iterdir())) == 1
    assert list(crashed.iterdir()) == []


def test_doctor_names_and_removes_the_mark(crashed):
    (left,) = (path for path in leftovers(crashed, None) if path.is_relative_to(crashed))
    assert left.parent.name == ALONE
    remove_leftovers(crashed, None)
    assert list(crashed.iterdir()) == []


def test_without_a_store_nothing_is_written(tmp_path):
    with alone(tmp_path / "none"):
        assert crashed_alone(tmp_path / "none") == []
    assert list(tmp_path.iterdir()) == []
