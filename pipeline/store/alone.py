"""Runs that measure in their own process, each with a file that its process locks.

A file whose lock is free is from a run whose process died before its end: a kernel crashed it, the
system ended it for its memory, or somebody did. Such a file stays until every AS has been measured,
so that what may have crashed one process is given to workers, whose crashes cost only a row.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from pathlib import Path

from pipeline.store.versions.locks import claim_abandoned, hold_for_writing

ALONE = ".in_process"  # folder in a store, there only while it holds something


@contextlib.contextmanager
def alone(store: Path) -> Iterator[None]:
    """Mark a run while the block lasts; a store that cannot be written costs only the mark."""
    path = Path(store) / ALONE / f"{uuid.uuid4().hex[:12]}.lock"
    lock = None
    with contextlib.suppress(OSError):
        if path.parents[1].is_dir():
            path.parent.mkdir(exist_ok=True)
            lock = hold_for_writing(path)
    try:
        yield
    finally:
        if lock is not None:
            with contextlib.suppress(OSError):
                _remove(path)
            lock.release()


def crashed_alone(store: Path) -> list[Path]:
    """Marks of runs that ended with their processes, by name; nothing is changed."""
    found = []
    for path in sorted((Path(store) / ALONE).glob("*.lock")):
        with claim_abandoned(path) as is_dead:
            if is_dead and path.exists():
                found.append(path)
    return found


def forget_crashed(store: Path) -> None:
    """Remove what ``crashed_alone`` names.

    Raises
    ------
    OSError
        If the store cannot be written.
    """
    for path in crashed_alone(store):
        with claim_abandoned(path, if_missing=False) as is_dead:
            if is_dead:
                _remove(path)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # others measure in their processes too
        path.parent.rmdir()
