"""Hidden folders of runs in progress, each held by a lock, which identifies killed runs reliably.

The lock is released with its process, however it ends, on any machine and in any container. So the
next run with the same parent folder removes leftovers of any kind, and never what a living run
uses. The parent is often a folder of the user's: there, only a folder whose name is one of ours to
the last digit, and which holds nothing but what we put there, is ours.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Collection, Iterator
from multiprocessing.util import Finalize
from pathlib import Path

from pipeline.errors import StoreError, said_by_system
from pipeline.store.versions.locks import (
    HeldLock,
    claim_abandoned,
    hold_for_writing,
    is_settled,
    store_turn,
)
from pipeline.store.versions.names import has_token, new_token

READING = ".reading-"  # in a store: spool files of an ingest
WRITING = ".writing-"  # next to reports: one that is being written
DISTANCES = ".distances-"  # next to reports: hop matrices, until the report takes them in
MEASURED = ".measured-"  # next to reports: a measurement on its way from one flow to the next
WORKERS = "workers-"  # in a folder of this user's own: what Dask workers keep on disk
TEMPORARY = "temp-"  # there too: sockets of a process, and temporary files of Prefect's worker
_LEFT = ".left-"  # any of these, being removed
_KINDS = (READING, WRITING, DISTANCES, MEASURED, WORKERS, TEMPORARY)

_LOCK = "lock"
_FILES = "files"
_HANDED_OVER = "handed-over"
_HELD = frozenset({_LOCK, _FILES, _HANDED_OVER})  # all that is in a folder of ours
KEEP_S = 24 * 3600.0  # a folder that was handed to another process is kept this long

_held: dict[Path, HeldLock] = {}  # locks of this process, by their folder


def hold_folder(parent: Path, kind: str, wanted: Collection[str] = ()) -> Path:
    """Make a folder that belongs to this process until ``release_folder``.

    What dead runs left in ``parent`` is removed. The folder is empty, or has what is wanted of it.

    Parameters
    ----------
    parent : Path
        Made where it is missing.
    kind : str
        One of ``READING``, ``WRITING``, ``DISTANCES``, ``MEASURED``, ``WORKERS``, ``TEMPORARY``.
    wanted : names of folders
        Taken over from dead runs of this kind, where they have them.

    Raises
    ------
    OSError
        If ``parent`` cannot be written.
    """
    parent.mkdir(parents=True, exist_ok=True)
    if not wanted:
        remove_abandoned(parent)
    files = name_folder(parent, kind)
    _make(files)
    if wanted:
        _take_over(files, kind, wanted)
        remove_abandoned(parent)
    return files


def name_folder(parent: Path, kind: str) -> Path:
    """The path of a folder that ``hold_named`` may make later."""
    return parent / f"{kind}{new_token()}" / _FILES


def hold_named(files: Path) -> None:
    """Make a folder that ``name_folder`` named, as ``hold_folder`` does; once.

    Raises
    ------
    OSError
        If its parent cannot be written.
    """
    if files in _held:
        return
    parent = files.parent.parent
    parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(parent)
    _make(files)


def is_named(files: Path, kind: str) -> bool:
    """Whether ``name_folder`` may have named a folder: any other is somebody's own."""
    return files.name == _FILES and has_token(files.parent.name, kind)


def _make(files: Path) -> None:
    outer = files.parent
    with store_turn(outer.parent):
        outer.mkdir()
        lock = hold_for_writing(outer / _LOCK)
    files.mkdir()
    _held[files] = lock


def _take_over(files: Path, kind: str, wanted: Collection[str]) -> None:
    parent = files.parent.parent
    with store_turn(parent):
        for outer in _outer_folders(parent, (kind,)):
            with _claim(outer) as is_abandoned:
                for name in wanted if is_abandoned else ():
                    with contextlib.suppress(OSError):  # it has none, or another run had it too
                        os.rename(outer / _FILES / name, files / name)


def release_folder(files: Path) -> None:
    """Remove a folder that ``hold_folder`` gave, in this process or in another one.

    Its lock goes last, so that nobody takes the rest for what a dead run left.
    """
    shutil.rmtree(files, ignore_errors=True)
    shutil.rmtree(files.parent, ignore_errors=True)
    lock = _held.pop(files, None)
    if lock is not None:
        lock.release()


@contextlib.contextmanager
def held_folder(parent: Path, kind: str, wanted: Collection[str] = ()) -> Iterator[Path]:
    """``hold_folder`` for the length of a block."""
    files = hold_folder(parent, kind, wanted)
    try:
        yield files
    finally:
        release_folder(files)


def hand_over(files: Path) -> None:
    """Leave a folder to another process, which has been told of it and may come within a day.

    Until then it is its maker's, and goes with it.

    Raises
    ------
    OSError
        If that cannot be marked.
    """
    (files.parent / _HANDED_OVER).touch()


@contextlib.contextmanager
def scratch_folder(store: Path, wanted: Collection[str] = ()) -> Iterator[Path]:
    """A folder for spool files, in the store: its disk is the one with room.

    It is empty, but for folders named in ``wanted`` that killed runs left in theirs.

    Raises
    ------
    StoreError
        If the store cannot be written.
    """
    try:
        files = hold_folder(store, READING, wanted)
    except OSError as error:
        raise unwritable(store, error) from None
    try:
        yield files
    finally:
        release_folder(files)


def unwritable(store: Path, error: OSError) -> StoreError:
    """What to say of a store in which no run can write: a file of it may be closed alone."""
    reason = f"cannot be written ({said_by_system(error)})"
    is_of_file = isinstance(error, PermissionError) and error.filename is not None
    if is_of_file and Path(error.filename).is_file():
        return StoreError(f"{error.filename}: {reason}; make it writable, or choose another store")
    return StoreError(f"{store}: {reason}; choose another")


def own_folder(place: Path | None = None) -> Path:
    """A folder on the machine's disk for temporary files that no other user can write or read.

    Where somebody else has taken its name it has another one, which later runs find.

    Parameters
    ----------
    place : Path or None
        Where; None: in the folder of temporary files.

    Raises
    ------
    OSError
        If none can be made.
    """
    place = place or Path(tempfile.gettempdir())
    folder = place / f"hopscope-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    for found in (folder, *sorted(place.glob(f"{folder.name}-*"))):
        if _is_private(found):
            return found
    return Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=place))


def _is_private(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return is_ours and not found.st_mode & 0o077


def keep_temporary_files(place: Path | None = None) -> Path:
    """A folder of this process, until it ends, for what it and its children need on disk for long.

    What dead processes left of theirs is removed. Parameters and errors as of ``own_folder``.
    """
    files = hold_folder(own_folder(place), TEMPORARY)
    # After multiprocessing has removed its own folder, which may be in there.
    Finalize(None, release_folder, args=(files,), exitpriority=-200)
    return files


def abandoned(parent: Path) -> list[Path]:
    """What dead runs left in a folder, by name; nothing is changed.

    What is just being made or removed is not among it.
    """
    left = [path for path in _being_removed(parent) if is_settled(path)]
    for outer in _outer_folders(parent):
        with _claim(outer) as is_abandoned:
            if is_abandoned and not _is_waiting(outer):
                left.append(outer)
    return sorted(left)


def remove_abandoned(parent: Path) -> list[Path]:
    """Remove what dead runs left in a folder; their names.

    Raises
    ------
    OSError
        If ``parent`` cannot be written.
    """
    left = _being_removed(parent)
    if next(_outer_folders(parent), None) is not None:
        with store_turn(parent):  # so that none is being made at this moment
            left += _set_aside(parent)
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
    return sorted(left)


def set_aside(folder: Path) -> None:
    """Remove a folder so that nobody reads a part of it: it is renamed first.

    Raises
    ------
    OSError
        If it cannot be renamed.
    """
    aside = folder.with_name(f"{_LEFT}{new_token()}")
    os.rename(folder, aside)
    shutil.rmtree(aside, ignore_errors=True)


def _set_aside(parent: Path) -> Iterator[Path]:
    for outer in _outer_folders(parent):
        with _claim(outer) as is_abandoned:
            if is_abandoned and not _is_waiting(outer):
                aside = parent / f"{_LEFT}{new_token()}"
                with contextlib.suppress(OSError):  # its owner is just removing it
                    os.rename(outer, aside)
                    yield aside


@contextlib.contextmanager
def _claim(outer: Path) -> Iterator[bool]:
    """Hold the lock of a folder while the block runs; yields whether its owner is dead.

    Its owner makes the lock before ``files`` and removes it after them: a folder without either is
    being made or removed, unless nothing has happened to it for long.
    """
    with claim_abandoned(outer / _LOCK, if_missing=False) as is_free:
        is_whole = is_free and (outer / _FILES).is_dir()
        is_unheld = is_free or not (outer / _LOCK).exists()
        yield is_whole or (is_unheld and is_settled(outer))


def _outer_folders(parent: Path, kinds: Collection[str] = _KINDS) -> Iterator[Path]:
    """Folders that ``hold_folder`` made; one with anything else in it is somebody's own."""
    for outer in _named(parent, kinds):
        with contextlib.suppress(OSError):  # its owner is just removing it
            if _HELD.issuperset(os.listdir(outer)):
                yield outer


def _being_removed(parent: Path) -> list[Path]:
    return list(_named(parent, (_LEFT,)))


def _named(parent: Path, kinds: Collection[str]) -> Iterator[Path]:
    """Folders with names that we give, links to folders left out."""
    for kind in kinds:
        for path in parent.glob(f"{kind}*"):
            if has_token(path.name, kind) and path.is_dir() and not path.is_symlink():
                yield path


def _is_waiting(outer: Path) -> bool:
    try:
        return time.time() - (outer / _HANDED_OVER).stat().st_mtime <= KEEP_S
    except OSError:
        return False
