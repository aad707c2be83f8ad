"""What is generated, to a snapshot of the store; and what keeps measured snapshots from it."""

from __future__ import annotations

import logging
import time
from dataclasses import asdict
from pathlib import Path

from pipeline import __version__
from pipeline.config import GenerateConfig
from pipeline.errors import StoreError, UsageError
from pipeline.model.graphs import GraphSet
from pipeline.model.measured.origins import origins_of
from pipeline.model.progress import Progress, ProgressCallback
from pipeline.stages.contents.replaced import replaced_by, replacement_warnings
from pipeline.store import open_snapshot, snapshot_names, write_snapshot
from pipeline.store.pointers.nights import DefaultName, origin_of
from pipeline.store.versions.names import name_of_version

logger = logging.getLogger(__name__)


def save_generated(
    config: GenerateConfig,
    store: Path,
    graphs: GraphSet,
    command: str,
    started: float,
    progress: ProgressCallback,
) -> str:
    """Write graphs as a snapshot; where they are, as the end of a line."""
    options = {
        key: str(value) if isinstance(value, Path) else value
        for key, value in asdict(config).items()
        if key != "said"
    }
    options |= {"model": config.model or "like", "command": command, "hopscope": __version__}
    progress(Progress("write", 0, 1, "snapshot", config.snapshot or ""))
    path = write_snapshot(
        store,
        config.snapshot or DefaultName(started, origin_of({"options": options})),
        graphs,
        as_names={},
        inputs=[],
        options=options,
        counts=dict(graphs.counts),
        rejects=[],
    )
    name = name_of_version(path.name)
    progress(Progress("write", 1, 1, "snapshot", name))
    for line in replacement_warnings(store, replaced_by(store, path)):
        logger.warning(line)
    made = f" -> snapshot {name} in {store} ({time.time() - started:.1f} s)"
    if len(snapshot_names(store)) > 1:
        made += "; it is now the newest in the store: to analyze another one, give --snapshot"
    return made


def refuse_measured(store: Path, name: str) -> None:
    """Raise UsageError if a snapshot of this name is there and was measured, also in part."""
    try:
        snapshot = open_snapshot(store, name)
    except StoreError:  # there is none, or it is broken
        return
    with snapshot:
        if not origins_of(snapshot.manifest, snapshot.asn).all_synthetic:
            raise UsageError(
                f"snapshot {name} of {store} was measured: give --snapshot another name, so that "
                "what is generated does not replace it"
            )


def flag_of(name: str) -> str:
    return f"--{name.replace('_', '-')}"
