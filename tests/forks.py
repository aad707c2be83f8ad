"""Processes that have imported what they need, and are killed: copies of one that imported it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.real_data import REPOSITORY

SERVER = """
import os, sys

sys.argv = [""]
given = {{}}
exec({imports!r}, given)
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        exec({work!r}, given | {{"words": line.split()}})
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Forks:
    """Starts a process for some words, at most one at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process that is copied has ended"
        return line.strip()

    def start(self, *words: object) -> int:
        """Its number."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def status(self) -> int:
        """Wait until it has ended: its exit status, -9 if it was killed."""
        return int(self._line())


@contextmanager
def forks(imports: str, work: str) -> Iterator[Forks]:
    """A process that runs ``imports`` once and ``work``, which knows its ``words``, in copies.

    ``imports`` must not start threads, which no copy would have.
    """
    program = SERVER.format(imports=imports, work=work)
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    with process:
        started = Forks(process)
        assert started._line() == "ready"
        yield started
        assert process.stdin is not None
        process.stdin.close()
