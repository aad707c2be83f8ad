"""Every file below a folder, and why one of them cannot be read.

Hidden files and folders are left out. Links are followed, to folders too, except those to a folder
that contains them; a folder with several names is walked once. No file is opened here, so that no
pipe is waited for.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from pipeline.errors import UnreadableError, said_by_system
from pipeline.ingest.opening import NO_FILE

Found = tuple[Path, UnreadableError | None]
_Identity = tuple[int, int]  # of a folder: device and inode
_REASONS = {errno.ELOOP: "is a loop of links", errno.ENOENT: "is a dangling link"}


def walk(folder: Path, leave_out: Callable[[Path], bool]) -> Iterator[Found]:
    """Files below a folder in the order of their names, each with what keeps it from being read.

    Parameters
    ----------
    folder : Path
    leave_out : callable
        Whether to ignore a readable file or folder.
    """
    opened: list[_Opened] = []  # the folders around the next name; no recursion: there may be many
    walked: set[_Identity] = set()
    above = _identities_above(folder)
    yield from _open(folder, opened, walked)
    while opened:
        name = next(opened[-1].names, None)
        if name is None:
            opened.pop()
            continue
        path = opened[-1].folder / name
        try:
            found = path.stat()
        except OSError as error:
            yield path, unreadable(path, error)
            continue
        if not stat.S_ISDIR(found.st_mode):
            if not stat.S_ISREG(found.st_mode):
                yield path, UnreadableError(path, "", NO_FILE)
            elif not leave_out(path):
                yield path, None
        elif _identity(found) in above or any(_identity(found) == o.identity for o in opened):
            yield path, UnreadableError(path, "", "is a link to an enclosing folder")
        elif _identity(found) not in walked and not leave_out(path):
            yield from _open(path, opened, walked)


class _Opened(NamedTuple):
    """A folder that is being walked, and the names in it that are left."""

    folder: Path
    identity: _Identity
    names: Iterator[str]


def _open(folder: Path, opened: list[_Opened], walked: set[_Identity]) -> Iterator[Found]:
    """Begin a folder; yields it only if it cannot be read."""
    try:
        identity = _identity(folder.stat())
        walked.add(identity)
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
    except OSError as error:
        yield folder, unreadable(folder, error)
        return
    opened.append(_Opened(folder, identity, iter(names)))


def _identities_above(folder: Path) -> set[_Identity]:
    """Those of the folders that contain a folder, up to the root."""
    found = set()
    for path in folder.resolve().parents:
        with contextlib.suppress(OSError):
            found.add(_identity(path.stat()))
    return found


def unreadable(path: Path, error: OSError) -> UnreadableError:
    """Why a file or folder cannot be read."""
    reason = _REASONS.get(error.errno or 0, f"cannot be read: {said_by_system(error)}")
    return UnreadableError(path, "", reason)


def _identity(found: os.stat_result) -> _Identity:
    return found.st_dev, found.st_ino
