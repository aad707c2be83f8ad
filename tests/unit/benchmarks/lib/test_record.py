"""A record names the command that made it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.lib.record import REPOSITORY, record


@pytest.mark.parametrize(
    ("program", "words", "command"),
    [
        ("benchmarks/bench_list.py", ["--n", "3"], "python benchmarks/bench_list.py --n 3"),
        ("tests/oracles/ablation/__main__.py", ["ixp"], "python -m tests.oracles.ablation ixp"),
        ("benchmarks/bench_list.py", ["/far/away"], "python benchmarks/bench_list.py away"),
    ],
)
def test_programs_and_modules_are_named_as_they_are_typed(
    program: str, words: list[str], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [str(REPOSITORY / program), *words])
    path = record("it", [{"wall_s": 1.5}], tmp_path, more=2)
    found = json.loads(path.read_text())
    assert found["command"] == command
    assert (found["rows"], found["more"]) == ([{"wall_s": 1.5}], 2)
