"""Keys of graphs as columns: 32 bytes each, joined without a Python object per graph."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

GraphKeys = np.ndarray  # (n, 4) uint64
KEY_BYTES = 32


def keys_of(graph_hash: Sequence[str]) -> GraphKeys:
    """Keys of results that depend on the structure alone: ``graph_hash`` itself."""
    return from_bytes(bytes.fromhex("".join(graph_hash)))


def keys_of_weighted(graph_hash: Sequence[str], weights_hash: Sequence[str]) -> GraphKeys:
    """Keys of results by weight: sha256 over both hashes, as text."""
    pairs = zip(graph_hash, weights_hash, strict=True)
    return from_bytes(b"".join(hashlib.sha256((g + w).encode()).digest() for g, w in pairs))


def from_bytes(data: bytes) -> GraphKeys:
    """Keys laid end to end, as they are in files."""
    return np.frombuffer(data, np.uint64).reshape(-1, KEY_BYTES // 8)


def first_of_equal(keys: GraphKeys) -> np.ndarray:
    """(n,) int64: for each key the position of the first that is equal to it."""
    order = np.lexsort(keys.T)  # stable: the first of equal ones stays the first
    in_order = keys[order]
    is_new = np.ones(len(keys), bool)
    is_new[1:] = (in_order[1:] != in_order[:-1]).any(axis=1)
    first = np.empty(len(keys), np.int64)
    first[order] = order[is_new][np.cumsum(is_new) - 1]
    return first


def positions_in(wanted: GraphKeys, keys: GraphKeys) -> np.ndarray:
    """(n,) int64: where each of ``keys`` is in ``wanted``, which are all different; -1: nowhere.

    Sorted by the first eight bytes alone, then compared whole. If two wanted keys had these in
    common, the second would never be found: it is then measured again.
    """
    if not len(wanted):
        return np.full(len(keys), -1, np.int64)
    order = np.argsort(wanted[:, 0], kind="stable")
    # Rows of one graph are neighbours: each run of equal keys is looked up once.
    begins = np.ones(len(keys), bool)
    begins[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    own = keys[begins]
    at = np.searchsorted(wanted[order, 0], own[:, 0])
    found = order[np.minimum(at, len(wanted) - 1)]
    found[(wanted[found] != own).any(axis=1)] = -1
    return found[np.cumsum(begins) - 1]
