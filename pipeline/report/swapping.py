"""One folder takes the place of another in one step, where the system can do that."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path


def swap(aside: Path, final: Path) -> None:
    """Put ``aside`` in the place of ``final``; the former content is then in ``aside``."""
    if not final.exists():
        aside.rename(final)
    elif not _exchange(aside, final):
        old = aside.with_name(f".{aside.name}-old")
        final.rename(old)
        aside.rename(final)
        old.rename(aside)
    sync(final.parent)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two names in one step; False where the system or the file system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE of linux/fs.h
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):  # a C library without it
        return False
    names = os.fsencode(first), os.fsencode(second)
    return renameat2(here, names[0], here, names[1], ctypes.c_uint(exchange)) == 0


def sync(path: Path) -> None:
    """Flush a file or folder to disk, if the system can."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        return
    finally:
        os.close(handle)
