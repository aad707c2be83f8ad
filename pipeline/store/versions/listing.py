"""Which pointers a store has: what none of them names may be removed, so none may be overlooked."""

from __future__ import annotations

import os
from pathlib import Path

from pipeline.errors import StoreError, said_by_system
from pipeline.model.words import number
from pipeline.places import url_of
from pipeline.store.versions.names import POINTERS, VERSIONS, is_version


def pointer_paths(store: Path) -> list[Path]:
    """The pointer files of a store, sorted, hidden ones left out; empty without a store.

    Not by ``Path.glob``, which takes a folder that cannot be read for an empty one.

    Raises
    ------
    StoreError
        If their folder cannot be read, or is gone though there are versions.
    """
    folder = Path(store) / POINTERS
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        _check_empty(Path(store))
        return []
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be read ({said_by_system(error)}), so it is not known which "
            "snapshots there are; give its rights back, or check its disk"
        ) from None
    return [folder / n for n in sorted(names) if n.endswith(".json") and not n.startswith(".")]


def _check_empty(store: Path) -> None:
    """StoreError if a store without pointers has versions; a mirror may have any."""
    if url_of(store) is not None:
        return
    try:
        versions = [name for name in os.listdir(store / VERSIONS) if is_version(name)]
    except OSError:
        return
    if versions:
        raise StoreError(
            f"{store / POINTERS}: is gone, though there {'is' if len(versions) == 1 else 'are'} "
            f"{number(len(versions), 'version')} of snapshots in {store / VERSIONS}; put it back, "
            "or remove both to begin again"
        )
