"""What was usual up to a night: kept in the store, or made from the nights that it has."""

from __future__ import annotations

import logging
from pathlib import Path

from pipeline.compare import Night, References, follow
from pipeline.errors import PipelineError
from pipeline.places import in_one_line
from pipeline.stages.nights.snapshots import night_before, open_night
from pipeline.store import Snapshot, open_snapshot
from pipeline.store.references import keep_references, read_references

MAX_NIGHTS = 30  # that are read to make references again; before these, kept ones continue

logger = logging.getLogger(__name__)


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
    references, missing = _kept_before(store, out, snapshot.name)
    for name in reversed(missing):
        try:
            with open_snapshot(store, name) as earlier:
                references = follow(references, open_night(earlier))
        except PipelineError as error:  # removed meanwhile, or broken: it costs only its own part
            logger.warning("references cover one night fewer: %s", error)
    return follow(references, night)


def keep_up_to(
    store: Path, out: Path, snapshot: Snapshot, night: Night, old: str, references: References
) -> None:
    """Keep baselines after a night, if ``references`` are those of the night before it.

    A store that cannot be written costs a warning: the next comparison makes them again.
    """
    if night.observations is None or night_before(store, out, snapshot.name) != old:
        return
    try:
        keep_references(store, snapshot.version, follow(references, night))
    except (PipelineError, OSError) as error:
        logger.warning("references were not kept: %s", in_one_line(error))


def _kept_before(store: Path, out: Path, name: str) -> tuple[References, list[str]]:
    """References of the latest night before one that has them; nights since, the latest first."""
    missing: list[str] = []
    before = night_before(store, out, name)
    while before is not None and len(missing) < MAX_NIGHTS:
        with open_snapshot(store, before) as snapshot:
            kept = read_references(store, snapshot.version)
        if kept is not None:
            return kept, missing
        missing.append(before)
        before = night_before(store, out, before)
    return References.none(), missing
