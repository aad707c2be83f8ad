"""Mirrors: objects that never change, fetched when they are needed, removed when unnamed.

An object store has no locks and no names that move with what they hold. So what is published is a
group of objects with a name of its own, which never changes; a pointer, one object, names the group
that counts. A group that no pointer names may still be read, or may be half an upload: it is marked
first, and removed when it has been marked for ``KEEP_S``.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

from pipeline.errors import StoreError, UnreachableError, said_by_system
from pipeline.places import objects
from pipeline.places.urls import url_of

KEEP_S = 24 * 3600.0  # a group that no pointer names is kept this long
UNNAMED = ".unnamed"  # below a place: a mark for each such group, empty


def brought(path: Path, size_bytes: int, sha256: str) -> Path:
    """A file, fetched if it belongs to a mirror and is not here yet; another path is left alone.

    Raises
    ------
    UnreachableError
        If it cannot be fetched.
    StoreError
        If it is missing, or is not what was written.
    """
    url = url_of(path)
    if url is None or path.exists():
        return path
    with _alone(path):  # of the processes of this machine one fetches
        if not path.exists():
            fetch(url, path, size_bytes, sha256)
    return path


def fetch(url: str, path: Path, size_bytes: int, sha256: str) -> None:
    """Read an object into a file, which is there whole or not at all; otherwise as ``brought``."""
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}")
    try:
        objects.fetch(url, aside)
        found = aside.stat().st_size
        if found != size_bytes:
            raise StoreError(f"{url}: has {found} bytes, {size_bytes} were written")
        with aside.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != sha256:
                raise StoreError(f"{url}: has been altered (its sha256 does not match)")
        os.replace(aside, path)
    except OSError as error:
        raise UnreachableError(f"{path}: cannot be written: {said_by_system(error)}") from None
    finally:
        aside.unlink(missing_ok=True)


def sha256_of(url: str) -> str:
    """sha256 of an object as it is now, hex; nothing is kept here."""
    digest = hashlib.sha256()
    for block in objects.blocks(url):
        digest.update(block)
    return digest.hexdigest()


def unnamed(url: str, groups: Iterable[str]) -> list[str]:
    """Of groups that no pointer names, those that may be removed now; the others are marked.

    Parameters
    ----------
    url : str
        Of the place.
    groups : names, of letters, digits and ``._@-``
        Below the place, ``/`` between its parts allowed; for its mark that becomes ``~``.
    """
    marks = objects.entries(f"{url}/{UNNAMED}")
    found = {_mark(group): group for group in groups}
    for mark in found.keys() - marks.keys():
        objects.write(f"{url}/{UNNAMED}/{mark}", b"")
    objects.remove([f"{url}/{UNNAMED}/{mark}" for mark in marks.keys() - found.keys()])
    now = time.time()
    old = [mark for mark in found.keys() & marks.keys() if now - (marks[mark] or now) > KEEP_S]
    return sorted(found[mark] for mark in old)


def remove_unnamed(url: str, groups: Iterable[str]) -> list[str]:
    """Mark groups that no pointer names, and remove those that were marked long ago; their names.

    Parameters as in ``unnamed``.
    """
    old = unnamed(url, groups)
    for group in old:
        objects.remove(objects.below(f"{url}/{group}"))
        objects.remove([f"{url}/{UNNAMED}/{_mark(group)}"])
    return old


def _mark(group: str) -> str:
    return group.replace("/", "~")


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    lock = path.with_name(f".{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UnreachableError(f"{lock}: cannot be written: {said_by_system(error)}") from None
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
