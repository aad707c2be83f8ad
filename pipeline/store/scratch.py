"""A folder for a run's spool files, which goes with the run, or with the next one after a kill."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from pipeline.store.locks import claim_abandoned, hold_for_writing, store_turn

_READING = ".reading-"
_LEFT = ".left-"
_LOCK = "lock"


@contextlib.contextmanager
def scratch_folder(store: Path) -> Iterator[Path]:
    """Make an empty scratch folder in the store (its disk is the one with room); delete it after.

    It is held by a lock, which goes with its process however that ends: so what a killed run left
    is known for certain, on whichever machine or in whichever container it ran, and removed.
    """
    store.mkdir(parents=True, exist_ok=True)
    with store_turn(store):
        left = _set_abandoned_aside(store)
        held = store / f"{_READING}{uuid.uuid4().hex[:12]}"
        held.mkdir()
        lock = hold_for_writing(held / _LOCK)
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
    folder = held / "files"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(held, ignore_errors=True)
        lock.release()


def _set_abandoned_aside(store: Path) -> list[Path]:
    """Rename what no living process holds; call in turn, so that none is just being made."""
    left = list(store.glob(f"{_LEFT}*"))
    for folder in store.glob(f"{_READING}*"):
        with claim_abandoned(folder / _LOCK) as abandoned:
            if abandoned:
                aside = store / f"{_LEFT}{uuid.uuid4().hex[:12]}"
                with contextlib.suppress(OSError):  # its owner is just removing it
                    os.rename(folder, aside)
                    left.append(aside)
    return left
