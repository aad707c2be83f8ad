"""What was usual up to a night: kept in the store, or made from the nights that it has."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pipeline.compare import MIN_NIGHTS, Night, References, follow
from pipeline.errors import PipelineError
from pipeline.places import in_one_line
from pipeline.stages.nights.snapshots import night_before, open_night
from pipeline.store import Snapshot, open_snapshot
from pipeline.store.references import keep_references, nights_of_references, read_references

MAX_NIGHTS = 30  # that are read to make references again; before these, kept ones continue

T = TypeVar("T")

logger = logging.getLogger(__name__)


def usual_up_to(store: Path, out: Path, snapshot: Snapshot, night: Night) -> References:
    """``references_up_to`` a night, for a comparison: empty ones where they cover too few nights.

    Which is known without making them: of millions of series they take as much as a night.
    """
    kept = nights_of_references(store, snapshot.version)
    if kept is None:
        before, missing = _kept_before(store, out, snapshot.name, nights_of_references)
        n_nights, since = before or (0, [snapshot.name, *missing][-1])
        kept = n_nights + len(missing) + 1, since
    if kept[0] < MIN_NIGHTS:
        return replace(References.none(), n_nights=kept[0], since=kept[1])
    return references_up_to(store, out, snapshot, night)


def references_up_to(store: Path, out: Path, snapshot: Snapshot, night: Night) -> References:
    """What was usual up to a night, itself included.

    Parameters
    ----------
    store, out : Path
        Nights are those of ``night_before``.
    snapshot, night : Snapshot, Night
        The same one.
    """
    kept = read_references(store, snapshot.version)
    if kept is not None:
        return kept
    before, missing = _kept_before(store, out, snapshot.name, read_references)
    references = before or References.none()
    for name in reversed(missing):
        try:
            with open_snapshot(store, name) as earlier:
                references = follow(references, open_night(earlier))
        except PipelineError as error:  # removed meanwhile, or broken: it costs only its own part
            logger.warning("references cover one night fewer: %s", error)
    return follow(references, night)


def before_next(
    store: Path, out: Path, snapshot: Snapshot, old: Snapshot, night: Night, usual: References
) -> References | None:
    """References up to a night that the next one's follow; None if that is no next one.

    Parameters
    ----------
    store, out : Path
    snapshot : Snapshot
        The next night.
    old, night : Snapshot, Night
        The one before, the same one.
    usual : References
        What ``usual_up_to`` it is.
    """
    if not snapshot.has_observations or night_before(store, out, snapshot.name) != old.name:
        return None
    return usual if len(usual) else references_up_to(store, out, old, night)


def keep_up_to(store: Path, snapshot: Snapshot, night: Night, references: References) -> None:
    """Keep baselines after a night; ``references`` are those of the night before it.

    A store that cannot be written costs a warning: the next comparison makes them again.
    """
    try:
        keep_references(store, snapshot.version, follow(references, night))
    except (PipelineError, OSError) as error:
        logger.warning("references were not kept: %s", in_one_line(error))


def _kept_before(
    store: Path, out: Path, name: str, read: Callable[[Path, str], T | None]
) -> tuple[T | None, list[str]]:
    """What ``read`` finds of the latest night before one that keeps references; None: none does.

    And the nights since, the latest first.
    """
    missing: list[str] = []
    before = night_before(store, out, name)
    while before is not None and len(missing) < MAX_NIGHTS:
        with open_snapshot(store, before) as snapshot:
            kept = read(store, snapshot.version)
        if kept is not None:
            return kept, missing
        missing.append(before)
        before = night_before(store, out, before)
    return None, missing
