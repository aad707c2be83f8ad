"""A Prefect worker as a child process; it and the runs it started end with this process.

Its temporary files (workspaces of runs, storage) are in a folder of this process, since it leaves
them if it is killed: the next run removes what a dead process had. Its runs have the usual one.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from flows import TMPDIR_OF_RUNS
from flows.processes.die_with_parent import tied
from flows.processes.server import open_log, stop_process
from pipeline.errors import UsageError
from pipeline.places import in_one_line
from pipeline.store.versions.held import TEMPORARY, held_folder, own_folder


class PrefectWorker:
    """A worker of one pool, that is running."""

    def __init__(
        self,
        words: Sequence[str],
        cwd: Path,
        environment: dict[str, str],
        log: Path,
        scratch: Path,
        held: Sequence[int] = (),
    ):
        self.log, self._scratch = log, scratch
        self._words, self._cwd = tuple(words), cwd
        own = {"TMPDIR": str(scratch), TMPDIR_OF_RUNS: tempfile.gettempdir()}
        self._environment, self._held = environment | own, tuple(held)
        self.process = self._started()

    def start_again(self) -> None:
        """Start another one in place of one that was stopped, whose temporary files go."""
        for path in self._scratch.iterdir():
            shutil.rmtree(path, ignore_errors=True)
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
    environment: dict[str, str],
    log: Path,
    held: Sequence[int] = (),
) -> Iterator[PrefectWorker]:
    """Run ``prefect worker start`` with some options until the block ends.

    Parameters
    ----------
    words : sequence of str
        Options.
    cwd : Path
    environment : dict of str to str
    log : Path
        Where it and its runs print.
    held : sequence of int
        Descriptors of locks that it holds as long as it lives.

    Raises
    ------
    UsageError
        If there is no room for temporary files.
    """
    with contextlib.ExitStack() as stack:
        try:
            scratch = stack.enter_context(held_folder(own_folder(), TEMPORARY))
        except OSError as error:
            raise UsageError(
                f"{in_one_line(error)}; set TMPDIR to a folder that can be written and has room"
            ) from None
        worker = PrefectWorker(words, cwd, environment, log, scratch, held)
        stack.callback(worker.stop)
        yield worker
