"""Advisory locks (flock): who writes or reads a version, and whose turn it is to change a store.

A lock is released with its process, however it ends, so a kill leaves no lock behind. On a file
system without flock nothing is ever treated as abandoned: readers and writers work as always, and
what dead writers left stays until someone deletes it.
"""

from __future__ import annotations

import fcntl
import os
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STORE_LOCK = ".lock"
SETTLED_S = 60.0  # what has not changed for as long is being neither made nor removed


class HeldLock:
    """An open lock file; released by ``release()``, or with the last reference to it."""

    def __init__(self, descriptor: int):
        self._descriptor = descriptor
        self._release = weakref.finalize(self, os.close, descriptor)

    def release_of_all(self) -> bool:
        """Let go, also for processes that were forked; whether nobody else held it then."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            was_last = True
        except OSError as error:  # NFS: none on a file that was opened to read
            was_last = not isinstance(error, BlockingIOError)
        _try(self._descriptor, fcntl.LOCK_UN)
        self._release()
        return was_last

    def release(self) -> None:
        """Let go; a second time does nothing."""
        self._release()


@contextmanager
def store_turn(store: Path) -> Iterator[bool]:
    """Wait until it is this process's turn to change a store; yields False if locks are missing.

    Held for renames only, never while data is written or removed.
    """
    descriptor = os.open(store / STORE_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def hold_for_writing(path: Path) -> HeldLock:
    """Create a lock file, of which no other writer knows, and hold it exclusively.

    Between the two a cleaner may find it free: it is waited for, and what it removed is made again.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        lock = HeldLock(descriptor)
        _try(descriptor, fcntl.LOCK_EX)
        if _is_at(path, descriptor):
            return lock
        lock.release()


def hold_for_reading(path: Path) -> HeldLock | None:
    """Hold a lock file together with other readers; None if it is gone.

    Waits while it is held exclusively: by a writer that is about to finish, or by a cleaner, after
    which the file is gone.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    lock = HeldLock(descriptor)
    _try(descriptor, fcntl.LOCK_SH)
    if not _is_at(path, descriptor):
        lock.release()
        return None
    return lock


def hold_with_others(path: Path) -> HeldLock | None:
    """Hold a lock file that is made if it is missing, together with others; None without locks.

    One that cannot be written, such as another user's, is opened to read. Whoever removes it must
    know that nobody is just taking it.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
    lock = HeldLock(descriptor)
    if _try(lock._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB):
        return lock
    lock.release()
    return None


@contextmanager
def claim_abandoned(path: Path, *, if_missing: bool = True) -> Iterator[bool]:
    """Hold a lock file exclusively while the block runs; yields False if a living process holds it.

    Yields ``if_missing`` if the file is not there: what it locks then belongs to nobody, unless it
    is being made or removed. Yields False if that is unknown, and if it vanishes meanwhile.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        yield if_missing
        return
    except OSError:
        yield False
        return
    try:
        yield _try(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB) and _is_at(path, descriptor)
    finally:
        os.close(descriptor)


def is_settled(path: Path) -> bool:
    """Whether a file or folder is there that nobody is just making, renaming or removing."""
    try:
        return time.time() - path.lstat().st_ctime > SETTLED_S
    except OSError:
        return False


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False


def _try(descriptor: int, operation: int) -> bool:
    try:
        fcntl.flock(descriptor, operation)
    except OSError:
        return False
    return True
