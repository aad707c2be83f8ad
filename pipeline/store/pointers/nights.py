"""Nights of a store: snapshots whose names are dates. Old ones are removed on request.

A snapshot that was given another name was meant to stay, so it is never removed.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from pipeline.store.pointers import remove_snapshots, snapshot_names

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def is_night(name: str) -> bool:
    """Whether a snapshot's name is a date, as ``ingest`` names one by default."""
    if _DATE.fullmatch(name) is None:
        return False
    try:
        datetime.date.fromisoformat(name)
    except ValueError:
        return False
    return True


def nights_to_keep(names: Iterable[str], n: int, current: str) -> list[str]:
    """The last ``n`` nights among some names, and the current snapshot if it is a night."""
    nights = sorted(name for name in set(names) if is_night(name))
    return sorted({*nights[-n:], *([current] if is_night(current) else [])})


def remove_old_nights(store: Path, n: int, current: str, broken: Collection[str] = ()) -> list[str]:
    """Remove all nights but the last ``n`` and the current snapshot; the names of those removed.

    A version that a living process uses stays on disk until an ingest after that process ended.

    Parameters
    ----------
    store : Path
    n : int
    current : str
    broken : collection of str
        Nights that are neither counted nor removed.

    Raises
    ------
    StoreError
        If a pointer is broken: it may name a night that must stay.
    OSError
        If the store cannot be written.
    """
    nights = [name for name in snapshot_names(store) if is_night(name) and name not in broken]
    kept = nights_to_keep(nights, n, current)
    old = sorted(name for name in nights if name not in kept)
    remove_snapshots(store, old)
    return old
