"""A Prefect worker as a child process; it and the runs it started end with this process."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from flows.processes.die_with_parent import tied
from flows.processes.server import open_log, stop_process


class PrefectWorker:
    """A worker of one pool, that is running."""

    def __init__(
        self,
        words: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        log: Path,
        held: Sequence[int] = (),
    ):
        self.log = log
        self._words, self._cwd = tuple(words), cwd
        self._environment, self._held = dict(environment), tuple(held)
        self.process = self._started()

    def start_again(self) -> None:
        """Start another one in place of one that was stopped."""
        self.process = self._started()

    def stop(self) -> None:
        """End it and everything it started."""
        stop_process(self.process)

    def _started(self) -> subprocess.Popen:
        with open_log(self.log) as output:
            return subprocess.Popen(
                tied([sys.executable, "-m", "prefect", "worker", "start", *self._words]),
                cwd=self._cwd,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=self._held,
            )


@contextlib.contextmanager
def prefect_worker(
    words: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    log: Path,
    held: Sequence[int] = (),
) -> Iterator[PrefectWorker]:
    """Run ``prefect worker start`` with some options until the block ends.

    Parameters
    ----------
    words : sequence of str
        Options.
    cwd : Path
    environment : mapping of str to str
    log : Path
        Where it and its runs print.
    held : sequence of int
        Descriptors of locks that it holds as long as it lives.
    """
    worker = PrefectWorker(words, cwd, environment, log, held)
    try:
        yield worker
    finally:
        worker.stop()
