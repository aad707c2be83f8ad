"""The versions that the names of a store have now."""

from __future__ import annotations

import contextlib
from pathlib import Path

from pipeline.errors import StoreError
from pipeline.store.pointers import read_pointer
from pipeline.store.versions.listing import pointer_paths
from pipeline.store.versions.mirrored import refresh_pointers


def versions_named(store: Path) -> dict[str, str]:
    """Version of each snapshot by name; broken pointers are left out, and so is a broken store."""
    found = {}
    with contextlib.suppress(StoreError, OSError):
        refresh_pointers(Path(store))
        for path in pointer_paths(Path(store)):
            with contextlib.suppress(StoreError):
                found[path.stem] = read_pointer(path).version
    return found
