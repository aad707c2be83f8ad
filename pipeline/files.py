"""Files that users name: how some begin, and how ours are written: whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pipeline.errors import UsageError

BOM = b"\xef\xbb\xbf"  # a UTF-8 byte order mark, which some programs write first


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of ``path`` at the end of the block.

    A device or pipe keeps its place and is written to: ``/dev/null`` replaced by a file would be
    gone for every program of the machine. So does a link, of which the target is replaced.

    Raises
    ------
    UsageError
        If the file cannot be written; what was there before is then unchanged.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        with _straight(path) as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # mkstemp makes it private
        os.replace(name, target)
    except BaseException as error:
        os.unlink(name)
        if isinstance(error, OSError):
            raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
        raise


@contextmanager
def _straight(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("wb") as file:
            yield file
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
