"""Nights of a store: snapshots named by the time of their data. Old ones are removed on request.

The first night of a date has the date as its name, another one of the same date the time too. A
snapshot that was given another name was meant to stay, so it is never removed.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import re
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import StoreError
from pipeline.model.measured.reading import newest_record
from pipeline.store.pointers import snapshot_names
from pipeline.store.pointers.changing import remove_snapshots
from pipeline.store.pointers.versions import versions_named
from pipeline.store.versions.listing import pointer_paths
from pipeline.store.versions.manifest import read_manifest
from pipeline.store.versions.mirrored import bring_version, refresh_pointers
from pipeline.store.versions.names import VERSIONS, name_of_version
from pipeline.store.versions.pointer import pointer_or_none

_NIGHT = re.compile(r"(\d{4}-\d{2}-\d{2})(?:T(\d{6})Z(?:-([1-9]\d*))?)?")
_DATE = len("2026-03-29")


def is_night(name: str) -> bool:
    """Whether a snapshot's name is a date, or date and time, as ``ingest`` names one by default."""
    found = _NIGHT.fullmatch(name)
    if found is None:
        return False
    try:
        datetime.datetime.fromisoformat(f"{found[1]}T{found[2] or '000000'}")
    except ValueError:
        return False
    return True


def age_of(night: str, newest_s: float = 0.0) -> tuple[str, float, float, int]:
    """Sorts nights, the oldest first: by date, and on one date by their newest records.

    The date is that of the name, which its user may have given: by default it is that of the
    newest record. Where the time of that is unknown (0) the name says it too, and a date alone
    tells none: its noon is as near as can be.
    """
    found = _NIGHT.fullmatch(night)
    assert found is not None
    time = datetime.datetime.fromisoformat(f"{found[1]}T{found[2] or '120000'}+00:00")
    return found[1], newest_s or time.timestamp(), time.timestamp(), int(found[3] or 1)


@dataclass(frozen=True)
class DefaultName:
    """The name of a snapshot that is given none: the UTC date of its newest record.

    Only a snapshot of the same origin is replaced, whatever else is in a store: another one gets
    the time as well, and a number if that is taken too.

    Attributes
    ----------
    time_s : float
        Of the newest record, or of the run; seconds since 1970 UTC.
    origin : hashable
        As ``origin_of`` gives it.
    """

    time_s: float
    origin: Hashable

    def chosen_in(self, store: Path) -> tuple[str, str]:
        """A name, and the version that alone it may replace, empty for none.

        A night whose manifest cannot be read is none of the same origin.
        """
        time = datetime.datetime.fromtimestamp(self.time_s, datetime.UTC)
        date, second = f"{time:%Y-%m-%d}", f"{time:%Y-%m-%dT%H%M%SZ}"
        refresh_pointers(Path(store))
        taken = {path.stem: path for path in pointer_paths(Path(store))}
        for name in sorted(taken):
            if self.origin is not None and is_night(name) and name.startswith(date):
                pointer = pointer_or_none(taken[name])
                version = pointer.version if pointer else ""
                if version and origin_of(_manifest(Path(store), version)) == self.origin:
                    return name, version
        names = itertools.chain((date, second), (f"{second}-{n}" for n in itertools.count(2)))
        return next(name for name in names if name not in taken), ""


def origin_of(manifest: Mapping[str, Any]) -> Hashable:
    """What a snapshot was made from; equal for the same measurements of the same AS, in any order.

    Tables about them may differ, as those of a later day do. None where it is unknown.
    """
    options = manifest.get("options") or {}
    files = frozenset(
        row["sha256"]
        for row in manifest.get("inputs") or ()
        if row.get("holds") in ("traces", "topology") and row.get("sha256")
    )
    origin = files or options.get("command")
    return (origin, options.get("asn")) if origin else None


def nights_alike(store: Path, version: str) -> list[str]:
    """Other nights of the same date that may be of the same measurements, in other files.

    They have as many traces, of the same AS if one was given, and their newest records are of the
    same time.
    """
    own = name_of_version(version)
    like = _likeness(_manifest(store, version))
    return [
        name
        for name, other in sorted(versions_named(store).items())
        if like and name != own and is_night(name) and name[:_DATE] == own[:_DATE]
        if _likeness(_manifest(store, other)) == like
    ]


def _likeness(manifest: Mapping[str, Any]) -> Hashable:
    """Equal for the same traces, however they are packed; None without traces of known times."""
    n_traces = (manifest.get("counts") or {}).get("n_traces")
    newest_s = newest_record(manifest.get("inputs") or ())
    asn = (manifest.get("options") or {}).get("asn")
    return (n_traces, newest_s, asn) if n_traces and newest_s else None


def _manifest(store: Path, version: str) -> Mapping[str, Any]:
    """The manifest of a version; empty if it cannot be read."""
    folder = store / VERSIONS / version
    with contextlib.suppress(StoreError):
        bring_version(folder)
        return read_manifest(folder, check_files=False)
    return {}


def nights_to_keep(newest_s: Mapping[str, float], n: int, current: str) -> list[str]:
    """The last ``n`` nights, and the current snapshot if it is a night; the oldest first.

    Parameters
    ----------
    newest_s : mapping of str to float
        Time of the newest record of each night, as in ``age_of``; other names do not count.
    n : int
    current : str
    """
    ages = {name: age_of(name, newest_s.get(name, 0.0)) for name in newest_s if is_night(name)}
    last = sorted(ages, key=ages.__getitem__)[-n:]
    return last if current in last or not is_night(current) else [current, *last]


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
    store = Path(store)
    snapshot_names(store)  # refuses broken pointers
    named = versions_named(store)
    nights = {name: v for name, v in named.items() if is_night(name) and name not in broken}
    newest_s = {
        name: newest_record(_manifest(store, version).get("inputs") or ())
        for name, version in nights.items()
    }
    kept = nights_to_keep(newest_s, n, current)
    old = sorted(name for name in nights if name not in kept)
    # A night that was ingested again meanwhile is no longer the one that was judged.
    return remove_snapshots(
        store, old, where=lambda there: there is not None and there.version == nights[there.name]
    )
