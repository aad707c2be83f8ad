"""Whether a store is whole: every snapshot of it, every file, byte by byte."""

from __future__ import annotations

from pathlib import Path

from pipeline.errors import StoreError
from pipeline.store.names import POINTERS
from pipeline.store.pointers import open_snapshot, pointer_paths


def check_store(store: Path) -> dict[str, str]:
    """Verify all snapshots of a store; reads every byte of it.

    Parameters
    ----------
    store : Path

    Returns
    -------
    dict of str to str
        Snapshot name -> what is wrong with it; empty where it is whole. In order of names.

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
