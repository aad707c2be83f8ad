"""Checks every byte of a store, and finds leftovers of killed runs in it and next to reports."""

from __future__ import annotations

from pathlib import Path

from pipeline.errors import StoreError
from pipeline.store.references import (
    orphaned_references,
    reference_file,
    remove_orphaned_references,
)
from pipeline.store.versions.held import abandoned, own_folder, remove_abandoned
from pipeline.store.versions.names import POINTERS, VERSIONS
from pipeline.store.versions.pointers import (
    abandoned_versions,
    open_snapshot,
    pointer_paths,
    read_pointer,
    remove_abandoned_versions,
)


def check_store(store: Path) -> dict[str, str]:
    """Verify all snapshots of a store; reads every byte of it.

    Parameters
    ----------
    store : Path

    Returns
    -------
    dict of str to str
        Snapshot name -> what is wrong with it; empty if it is intact. In order of names.

    Raises
    ------
    StoreError
        If there is no store.
    """
    store = Path(store)
    if not (store / POINTERS).is_dir():
        raise StoreError(f"{store}: no store here; `hopscope ingest INPUT... --store {store}`")
    found = {}
    for path in pointer_paths(store):
        try:
            with open_snapshot(store, path.stem) as snapshot:
                snapshot.verify()
        except StoreError as error:
            found[path.stem] = str(error)
        else:
            found[path.stem] = ""
    return found


def files_of_snapshot(store: Path, name: str) -> list[Path]:
    """Files of the version that a snapshot's name points to, and what was usual up to it; empty if
    that is broken."""
    try:
        version = read_pointer(store / POINTERS / f"{name}.json").version
    except StoreError:
        return []
    files = [*(store / VERSIONS / version).glob("*"), reference_file(store, version)]
    return [path for path in files if path.is_file()]


def leftovers(store: Path | None, out: Path | None) -> list[Path]:
    """Leftovers of killed runs in a store, in a folder of reports, and of Dask workers here.

    Files of running runs are not among them, nor what a measuring flow left for the reporting one
    within a day.
    """
    found = [path for folder in _folders(store, out) for path in abandoned(folder)]
    if store is None:
        return found
    return [*found, *abandoned_versions(store), *orphaned_references(store)]


def remove_leftovers(store: Path | None, out: Path | None) -> None:
    """Remove what ``leftovers`` names.

    Raises
    ------
    OSError
        If a folder cannot be written.
    """
    for folder in _folders(store, out):
        remove_abandoned(folder)
    if store is not None:
        remove_abandoned_versions(store)
        remove_orphaned_references(store)


def _folders(store: Path | None, out: Path | None) -> list[Path]:
    given = [folder for folder in (store, out) if folder is not None and folder.is_dir()]
    return [*given, own_folder()]
