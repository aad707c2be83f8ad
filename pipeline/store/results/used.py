"""Which results the snapshots of a store can still use."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pipeline.errors import StoreError
from pipeline.store.pointers import open_snapshot, snapshot_names
from pipeline.store.results.keys import GraphKeys, keys_of, keys_of_weighted


def keys_in_use(store: Path, by_weight: bool) -> GraphKeys | None:
    """Keys of all graphs of all snapshots, each once; None if some snapshot cannot be read."""
    parts = [np.empty((0, 4), np.uint64)]
    try:
        for name in snapshot_names(store):
            with open_snapshot(store, name) as snapshot:
                if not by_weight:
                    parts.append(keys_of(snapshot.graph_hash))
                elif snapshot.weights_hash is not None:
                    parts.append(keys_of_weighted(snapshot.graph_hash, snapshot.weights_hash))
    except StoreError:
        return None
    return np.unique(np.concatenate(parts), axis=0)
