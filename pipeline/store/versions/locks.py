"""Advisory locks (flock): who writes or reads a version, and whose turn it is to change a store.

A lock is released with its process, however it ends, so a kill leaves no lock behind. On a file
system without flock nothing is ever treated as abandoned: readers and writers work as always, and
what dead writers left stays until someone deletes it.
"""

from __future__ import annotations

import fcntl
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STORE_LOCK = ".lock"


class HeldLock:
    """An open lock file; released by ``release()``, or with the last reference to it."""

    def __init__(self, descriptor: int):
        self._release = weakref.finalize(self, os.close, descriptor)

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
    """Create a lock file and hold it exclusively."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    _try(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return HeldLock(descriptor)


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
    try:
        same = os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        same = False
    if not same:
        lock.release()
        return None
    return lock


@contextmanager
def claim_abandoned(path: Path) -> Iterator[bool]:
    """Hold a lock file exclusively while the block runs; yields False if a living process holds it.

    Yields True as well if the file is not there: its folder then belongs to nobody. Yields False if
    that is unknown.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        yield True
        return
    except OSError:
        yield False
        return
    try:
        yield _try(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(descriptor)


def _try(descriptor: int, operation: int) -> bool:
    try:
        fcntl.flock(descriptor, operation)
    except OSError:
        return False
    return True
