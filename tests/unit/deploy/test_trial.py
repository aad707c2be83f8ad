"""Wheels are tried with a Python of their version, and it is said where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from deploy import trial
from deploy.distribution import PLATFORM

MINE = Path(f"hopscope-1-cp3{sys.version_info[1]}-none-{PLATFORM}.whl")
OTHER = Path(f"hopscope-1-cp3{sys.version_info[1] + 1}-none-{PLATFORM}.whl")
ALL = Path("hopscope-1-py3-none-any.whl")


@pytest.mark.parametrize(("wheel", "fits"), [(MINE, True), (OTHER, False), (ALL, False)])
def test_a_python_of_the_version_of_a_wheel_is_taken(wheel, fits):
    assert trial.python_for(wheel, [sys.executable]) == (sys.executable if fits else None)


@pytest.fixture
def dist(tmp_path):
    for wheel in (MINE, OTHER, ALL):
        (tmp_path / wheel).touch()
    return tmp_path


def test_what_is_not_tried_is_named(dist, monkeypatch, capsys):
    monkeypatch.setattr(trial, "try_wheel", lambda wheel, python, root: "tried")
    assert trial.main(dist, [sys.executable]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [
        f"{MINE}: tried",
        f"{OTHER}: not tried: there is no such Python here",
        f"{ALL}: not tried: for other Pythons, without compiled code",
    ]


def test_a_wheel_that_fails_is_named_and_ends_with_1(dist, monkeypatch, capsys):
    def compiles(wheel, python, root):
        raise trial.TrialError("compiles 3 functions")

    monkeypatch.setattr(trial, "try_wheel", compiles)
    assert trial.main(dist, [sys.executable]) == 1
    assert f"{MINE}: FAILED: compiles 3 functions" in capsys.readouterr().out


def test_a_python_that_is_not_there_is_passed_over():
    assert trial.python_for(MINE, ["/nowhere/python3", sys.executable]) == sys.executable
