"""Shells complete commands, options and choices, as docs/options.md says."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.real_data import REPOSITORY

CALLED = "import sys; sys.argv[0] = 'hopscope'; from pipeline.cli import main; main()"


def completed(words: str, shell: str = "bash") -> list[str]:
    """What a shell is given for words; the last one is being typed."""
    asked = {
        "_HOPSCOPE_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run(
        [sys.executable, "-c", CALLED],
        cwd=REPOSITORY,
        env=os.environ | asked,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("hopscope ge", ["generate"]),
        ("hopscope analyze --dev", ["--device"]),
        ("hopscope analyze --device c", ["cpu"]),
        ("hopscope export night --format p", ["parquet"]),
        ("hopscope ingest night --format wa", ["warts"]),
        ("hopscope analyze --metrics hops,dia", ["hops,diameter"]),
        ("hopscope analyze --metrics hops,ho", []),
        ("hopscope generate int", ["internet"]),
        ("hopscope search weighted", ["weighted_shortest_path"]),
        ("hopscope generate internet --r", ["--routers"]),
        ("hopscope generate grid --r", ["--routers", "--rows"]),
        ("hopscope generate --r", ["--routers", "--rows"]),
    ],
)
def test_words_are_completed(words, expected):
    assert completed(words) == expected


def test_fish_is_served_too():
    assert "generate" in " ".join(completed("hopscope ge", "fish"))
