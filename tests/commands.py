"""Commands of ``hopscope`` in the process of the tests.

For tests of what a command does; starting Python and importing takes longer than most of them.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline.cli import main


@dataclass(frozen=True)
class Done:
    """Exit status of a command, and what it printed on stdout and stderr."""

    status: int
    said: str


def hopscope(words: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Done:
    """Run a command in a folder.

    Parameters
    ----------
    words : sequence of str
        After ``hopscope``.
    folder : Path
        Working folder while it runs.
    variables : mapping
        Variables of the environment that are set while it runs.
    """
    said = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True)
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        patch.chdir(folder)
        for name, value in variables.items():
            patch.setenv(name, value)
        try:
            main(list(words))
        except SystemExit as ended:
            return Done(int(ended.code or 0), said.buffer.getvalue().decode())
    raise AssertionError("a command exits")
