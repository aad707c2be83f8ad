"""Streams that are closed or that nothing can be written to end no command, and hide no status."""

from __future__ import annotations

import errno
import logging
import os
import subprocess
import sys

import pytest

from pipeline.model.progress import Progress
from pipeline.terminal.lines import print_line, status_of, warn, warnings_of_modules
from pipeline.terminal.progress_lines import ProgressLines
from tests.real_data import REPOSITORY

FIRST_FILE = """
from pipeline.terminal.lines import open_closed_streams
open_closed_streams()
import os, subprocess, sys
with open(os.devnull) as file:
    taken = file.fileno() < 3
print("said"), print("said", file=sys.stderr)
sys.exit(taken or subprocess.run(["true"], stdout=sys.stdout).returncode)
"""


NO_ROOM = "2>file"  # to which nothing can be written: files may have no bytes


def run(words: list[str], redirected: str, cwd=REPOSITORY) -> subprocess.CompletedProcess:
    """A Python program whose streams a shell has redirected."""
    limit = "ulimit -f 0; " if redirected == NO_ROOM else ""
    return subprocess.run(
        ["sh", "-c", f'{limit}exec "$@" {redirected}', "sh", sys.executable, *words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "redirected", "status"),
    [
        (["--version"], ">&-", 0),
        (["frobnicate"], "2>&-", 2),
        (["frobnicate"], "<&- >&- 2>&-", 2),
        (["frobnicate"], NO_ROOM, 2),
        ([], NO_ROOM, 2),
    ],
)
def test_a_command_ends_with_its_status_whatever_stream_is_closed(
    words, redirected, status, tmp_path
):
    done = run(["-m", "pipeline.cli", *words], redirected, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


@pytest.mark.parametrize("module", ["flows.serve", "flows.nightly"])
def test_programs_of_their_own_take_closed_streams_too(module):
    pytest.importorskip("prefect")
    done = run(["-m", module, "--help"], ">&-")
    assert (done.returncode, done.stderr) == (0, "")


def test_no_file_takes_the_place_of_a_closed_stream():
    done = run(["-c", FIRST_FILE], "<&- >&- 2>&-")
    assert done.returncode == 0


class Unwritable:
    """A stream of a full disk."""

    def __init__(self) -> None:
        self.tried: list[str] = []

    def write(self, text: str) -> int:
        self.tried.append(text)
        raise OSError(errno.ENOSPC, "full")

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "full")

    def fileno(self) -> int:
        raise OSError(errno.EBADF, "none")


def test_work_goes_on_if_nobody_can_be_told_of_it(monkeypatch):
    stream = Unwritable()
    monkeypatch.setattr(sys, "stderr", stream)
    warn("a file was left out")
    lines = ProgressLines()
    for done in (1, 10):
        lines(Progress("search", done, 10, "ASes"))
    assert stream.tried == [
        "hopscope: a file was left out\n",
        "Searching: 1 of 10 ASes\n",
        "Searching: 10 of 10 ASes\n",
    ]


def test_a_result_that_cannot_be_written_is_one_line(monkeypatch, capsys):
    def program(_words: list[str]) -> int:
        print_line("the result")
        return 0

    assert status_of(program) == 0
    monkeypatch.setattr(sys, "stdout", Unwritable())
    assert status_of(program) == 2
    assert capsys.readouterr().err == "hopscope: standard output: No space left on device\n"


def test_warnings_that_modules_log_look_like_all_others(capsys):
    logger = logging.getLogger("pipeline.stages.somewhere")
    with warnings_of_modules():
        logger.warning("a %s\nfails", "\x1b[31mdisk")
        logger.info("nobody asked")
    logger.warning("afterwards")
    assert capsys.readouterr().err == "hopscope: a \ufffd[31mdisk fails\n"
