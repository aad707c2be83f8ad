"""Lock files that name their holder, and whether a process is alive.

A lock is released when its processes end, however they end, so a kill leaves none behind.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import json
import logging
import os
import socket
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]

START_TOLERANCE_S = 5.0  # setting the clock moves the start of every process a little
MAX_BYTES = 10_000  # of a lock file; ours are one line

logger = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Holder:
    """A process and what it does."""

    what: str
    host: str
    pid: int
    started: float  # seconds since 1970 UTC: of the process, so no later one is mistaken for it
    since: float  # seconds since 1970 UTC

    @classmethod
    def me(cls, what: str) -> Holder:
        """This process."""
        started = psutil.Process().create_time()
        return cls(what, socket.gethostname(), os.getpid(), started, time.time())

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(self.since))
        return f"{self.what} (process {self.pid} on {self.host}, since {since})"

    def is_gone(self) -> bool:
        """Whether the process has ended; False for one on another host, which is unknown."""
        if self.host != socket.gethostname():
            return False
        try:
            process = psutil.Process(self.pid)
            is_other = abs(process.create_time() - self.started) > START_TOLERANCE_S
            return is_other or process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True
        except psutil.Error:
            return False

    def to_text(self) -> str:
        """One line of JSON."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_text(cls, text: object) -> Holder | None:
        """The inverse; None for any other text."""
        try:
            return cls(**json.loads(str(text)))
        except (TypeError, ValueError):
            return None


class Seat:
    """A lock file for one holder at a time."""

    def __init__(self, path: Path):
        self._path = path

    def take(self, holder: Holder, *, wait: bool = False) -> int | None:
        """Hold the file under the name of ``holder``.

        Returns
        -------
        int or None
            A file descriptor: the lock is held until it, and every copy that a child was given,
            is closed. None while another holder has it; with ``wait`` it waits instead.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
                os.close(descriptor)
                raise
            logger.warning(
                "%s: its file system does not support locks; make sure that only one runs "
                "at a time",
                self._path,
            )
        except BaseException:  # asked to stop while waiting
            os.close(descriptor)
            raise
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.to_text().encode(), 0)
        return descriptor

    def holder(self) -> Holder | None:
        """The last holder."""
        with contextlib.suppress(OSError), self._path.open("rb") as file:
            return Holder.from_text(file.read(MAX_BYTES).decode(errors="replace"))
        return None
