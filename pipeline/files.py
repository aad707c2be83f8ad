"""Files that users name: how some begin, and how ours are written: whole, or for us alone."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pipeline.errors import UsageError, said_by_system

_OTHERS = 0o077  # what group and others may do with a file
BOM = b"\xef\xbb\xbf"  # a UTF-8 byte order mark, which some programs write first


@contextmanager
def replaced_whole(path: Path, *, durable: bool, alone: bool = False) -> Iterator[BinaryIO]:
    """A file beside ``path`` to write to, which takes its place at the end of the block.

    Parameters
    ----------
    path : Path
        A file of ours, or nothing; a link is replaced itself.
    durable : bool
        Whether the bytes are on disk before they take their place, so that a machine that fails
        leaves the old ones or the new ones.
    alone : bool
        Whether no other process writes it meanwhile. What a killed run left is then replaced, too.

    Raises
    ------
    OSError
        If the file cannot be written; what was there before is then unchanged.
    """
    ending = ".writing" if alone else f"-{secrets.token_hex(4)}"
    aside = path.with_name(f".{path.name}{ending}")
    if alone:
        aside.unlink(missing_ok=True)
    try:
        with aside.open("xb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        with suppress(OSError):  # there may be no such folder
            aside.unlink()
        raise


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """As ``replaced_whole``, for a file that a user names: durable, and with errors for people.

    A device or pipe keeps its place and is written to: ``/dev/null`` replaced by a file would be
    gone for every program of the machine. So does a link, of which the target is replaced.

    Raises
    ------
    UsageError
        If the file cannot be written; what was there before is then unchanged.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            with path.open("wb") as file:
                yield file
        else:
            with replaced_whole(Path(os.path.realpath(path)), durable=True) as file:
                yield file
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {said_by_system(error)}") from None


def private_folder(path: Path, name: str) -> Path:
    """A folder that only its user may enter: made, or narrowed if it is this user's.

    Parameters
    ----------
    path : Path
    name : str
        What users call it, for messages.

    Raises
    ------
    UsageError
        If others may enter it and that cannot, or must not, be changed: it is another user's, or
        others use it too (a home, or a folder of temporary files).
    OSError
        If it cannot be made.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.stat()
    if not found.st_mode & _OTHERS:
        return path
    is_shared = found.st_mode & stat.S_ISVTX or path.resolve() == Path.home().resolve()
    if not is_shared and found.st_uid == os.geteuid():
        with suppress(OSError):
            path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
            for file in path.iterdir():  # others may have opened the folder, and stay in it
                if file.is_file() and not file.is_symlink():
                    file.chmod(stat.S_IMODE(file.stat().st_mode) & ~_OTHERS)
        if not path.stat().st_mode & _OTHERS:
            return path
    raise UsageError(
        f"{name}={path}: other users may enter it (mode {stat.S_IMODE(found.st_mode):o}), and it "
        f"holds secrets: set {name} to a folder of this user alone, which is made if it is missing"
    )
