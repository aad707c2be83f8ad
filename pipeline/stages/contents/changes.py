"""Snapshots of a store removed, renamed and brought back."""

from __future__ import annotations

from typing import Any

from pipeline.config import RemoveConfig, RenameConfig, RestoreConfig
from pipeline.places import shown
from pipeline.stages.contents.replaced import holds, kept_of
from pipeline.store import bytes_of_snapshot, check_name, open_snapshot
from pipeline.store.pointers import names_and_faults
from pipeline.store.pointers.changing import remove_snapshots, rename_snapshot, restore_snapshot
from pipeline.store.references import remove_orphaned_references
from pipeline.store.versions.held import unwritable


def remove(config: RemoveConfig) -> list[dict[str, Any]]:
    """Remove snapshots, broken ones too, with the versions that they replaced.

    Returns
    -------
    list of dict
        ``snapshot``, ``size_bytes``: 0 if it was broken.

    Raises
    ------
    UsageError
        If a name cannot be one.
    StoreError
        If one of them is not there, or the store cannot be written: nothing is removed then.
    """
    wanted = list(dict.fromkeys(map(check_name, config.snapshots)))
    names, faults = names_and_faults(config.store)
    for name in wanted:
        if name not in faults and name not in names:
            open_snapshot(config.store, name).close()  # says what there is
    removed = []
    for name in wanted:
        kept = kept_of(config.store, name) if name in names else None
        size = bytes_of_snapshot(config.store, name) + (kept["size_bytes"] if kept else 0)
        removed.append({"snapshot": name, "size_bytes": size})
    try:
        remove_snapshots(config.store, wanted)
        remove_orphaned_references(config.store)
    except OSError as error:
        raise unwritable(config.store, error) from None
    return removed


def rename(config: RenameConfig) -> dict[str, Any]:
    """Give a snapshot another name; ``snapshot``, ``name`` and ``store``.

    Raises
    ------
    UsageError, StoreError
        As ``rename_snapshot``, and if the store cannot be written.
    """
    try:
        rename_snapshot(config.store, config.snapshot, config.name)
        remove_orphaned_references(config.store)
    except OSError as error:
        raise unwritable(config.store, error) from None
    return {"snapshot": config.snapshot, "name": config.name, "store": shown(config.store)}


def restore(config: RestoreConfig) -> dict[str, Any]:
    """Bring back what a snapshot replaced; ``snapshot``, ``now`` and ``before``, as ``holds``.

    Raises
    ------
    StoreError
        As ``restore_snapshot``, and if the store cannot be written.
    """
    try:
        restore_snapshot(config.store, config.snapshot)
    except OSError as error:
        raise unwritable(config.store, error) from None
    with open_snapshot(config.store, config.snapshot) as snapshot:
        now = holds(snapshot)
    return {
        "snapshot": config.snapshot,
        "now": now,
        "before": kept_of(config.store, config.snapshot),
    }
