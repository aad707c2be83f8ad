"""Mutants of a tiny project are judged by its tests, and nothing of them stays."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from tests.oracles.mutants import copies
from tests.oracles.mutants.copies import NOTICED, SURVIVED, SURVIVED_NEAR, TIMED_OUT, UNTESTED, Copy
from tests.oracles.mutants.rooms import Mutant
from tests.oracles.mutants.sites import find_sites

MODULE = Path("kernels/half.py")
HALF = """\
def half(n):
    if n < 0:
        n = 0
    while n % 2:
        n -= 1
    return n // 2
"""
TESTS = """\
from kernels.half import half

class TestHalf:
    def test_even(self):
        assert half(8) == 4

def test_odd():
    assert half(7) == 3

def test_always_fails():
    assert half(1) == 5
"""


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    project = tmp_path / "given"
    (project / "tests/unit/kernels").mkdir(parents=True)
    (project / "kernels").mkdir()
    (project / MODULE).write_text(HALF)
    (project / "tests/unit/kernels/test_half.py").write_text(TESTS)
    (project / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    return Copy.of(project, tmp_path)


def mutant(before: str, after: str) -> Mutant:
    (site,) = (one for one in find_sites(HALF) if one.before == before)
    return Mutant("kernels", MODULE, site, after)


@pytest.mark.parametrize(
    ("before", "after", "fate", "by"),
    [
        ("n // 2", "(n * 2)", NOTICED, "TestHalf::test_even"),
        ("n < 0", "(n <= 0)", SURVIVED, ""),  # the same answers: 0 becomes 0
        ("n -= 1", "pass", TIMED_OUT, ""),
    ],
)
def test_each_fate(copy, monkeypatch, before, after, fate, by):
    monkeypatch.setattr(copies, "STARTING_S", 8.0)
    monkeypatch.setattr(copies, "OF_A_FILE_S", 0.0)
    found, by_what = copy.judge(mutant(before, after))
    assert found == fate
    assert by in by_what
    assert (copy.root / MODULE).read_text() == HALF


def test_tests_that_fail_without_any_change_notice_nothing(copy):
    assert copy.judge(mutant("n < 0", "(n <= 0)"))[0] == SURVIVED
    assert copy.failing == ["tests/unit/kernels/test_half.py::test_always_fails"]


def test_a_module_without_tests_is_not_judged(copy):
    (copy.root / "tests/unit/kernels/test_half.py").unlink()
    assert copy.judge(mutant("n < 0", "(n <= 0)"))[0] == UNTESTED


def test_the_nearest_tests_and_the_wider_ones_run_apart(copy):
    other = "from kernels.half import half\ndef test_nothing():\n    assert half(0) == 0\n"
    (copy.root / "tests/unit/kernels/test_wider.py").write_text(other)
    one = mutant("n < 0", "(n <= 0)")
    assert copy.judge(one, slice(1))[0] == SURVIVED_NEAR
    assert copy.judge(one, slice(1, None))[0] == SURVIVED
    found, by = copy.judge(mutant("n -= 1", "n += 1"), slice(1, None))
    assert (found, by) == (SURVIVED, "")  # only the nearest test would notice it


def test_what_is_not_noticed_when_the_time_is_over_has_survived_the_nearest_tests(copy):
    one = mutant("n // 2", "(n * 2)")
    assert copy.judge(one, until=time.monotonic())[0] == SURVIVED_NEAR
    assert (copy.root / MODULE).read_text() == HALF
