"""On which kept nights routers were seen: those that share a public address with them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipeline.errors import StoreError
from pipeline.model.addresses import is_private, is_v4, positions_of
from pipeline.model.measured.reading import newest_record
from pipeline.report.addresses.table import AddressList
from pipeline.store import Snapshot, open_snapshot
from pipeline.store.pointers import names_and_faults
from pipeline.store.pointers.nights import age_of, is_night

MAX_NIGHTS = 30  # that are searched for routers, the last ones


@dataclass(frozen=True, eq=False)
class Nights:
    """Kept nights of the same vantage points, and which of them have each router.

    Attributes
    ----------
    names : list of str
        The oldest first.
    first, last : (n_routers,) int64
        Places in ``names``; -1 where nothing can be said.
    n_seen : (n_routers,) int64
        Nights that have it.
    """

    names: list[str]
    first: np.ndarray
    last: np.ndarray
    n_seen: np.ndarray


def nights_alike(snapshot: Snapshot) -> Iterator[tuple[str, Snapshot]]:
    """Nights of the store of a snapshot that share a vantage point with it, and itself, opened.

    The oldest first, at most the last ``MAX_NIGHTS`` of the store. One that cannot be read is left
    out. None if the snapshot is no night, or nothing is known of its vantage points.
    """
    own = snapshot.vantages() if is_night(snapshot.name) else None
    if own is None:
        return
    sources = np.stack([own.addr_high, own.addr_low], axis=1)
    store = snapshot.path.parents[1]
    dated = sorted(filter(is_night, names_and_faults(store)[0]), key=age_of)
    found = [(_age(snapshot), snapshot.name)]
    for name in {*dated[-MAX_NIGHTS:]} - {snapshot.name}:
        with contextlib.suppress(StoreError), open_snapshot(store, name) as night:
            if _is_of_source(night, sources):
                found.append((_age(night), name))
    for _, name in sorted(found):
        if name == snapshot.name:
            yield name, snapshot  # its own version, whatever has that name now
            continue
        with contextlib.suppress(StoreError), open_snapshot(store, name) as night:
            yield name, night


def nights_of_routers(snapshot: Snapshot, addresses: AddressList) -> Nights:
    """Which nights have the routers of some addresses.

    Parameters
    ----------
    snapshot : Snapshot
    addresses : AddressList
        Of it.
    """
    router = addresses.router
    n = int(router.max(initial=-1)) + 1
    names: list[str] = []
    first, last, n_seen = np.full(n, -1), np.full(n, -1), np.zeros(n, np.int64)
    public = ~is_private(addresses.addr)
    for name, night in nights_alike(snapshot):
        with contextlib.suppress(StoreError):
            there = public & _among(addresses.addr, _addresses(night))
            seen = np.zeros(n, bool)
            seen[router[there]] = True
            first[seen & (first < 0)] = len(names)
            last[seen] = len(names)
            n_seen += seen
            names.append(name)
    return Nights(names, first, last, n_seen)


def _age(night: Snapshot) -> tuple:
    return age_of(night.name, newest_record(night.manifest["inputs"]))


def _is_of_source(night: Snapshot, sources: np.ndarray) -> bool:
    vantages = night.vantages()
    if vantages is None:
        return False
    there = np.stack([vantages.addr_high, vantages.addr_low], axis=1)
    return bool((positions_of(sources, there) >= 0).any())


def _addresses(night: Snapshot) -> np.ndarray:
    """Every address of a snapshot, sorted, repeated ones too."""
    stored = night.addresses()
    if stored is not None:
        return np.stack([stored[f"addr_{half}"].to_numpy() for half in ("high", "low")], axis=1)
    row = np.repeat(np.arange(night.n_ases), night.n_nodes)
    begin = np.cumsum(night.n_nodes) - night.n_nodes
    found = night.lookup(row, np.arange(len(row)) - begin[row]).addr
    found = np.empty((0, 2), np.uint64) if found is None else found
    return found[np.lexsort((found[:, 1], found[:, 0]))]


def _among(addrs: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n,) bool: which addresses are among others; both sorted."""
    found = np.zeros(len(addrs), bool)
    v4, v4_others = is_v4(addrs), is_v4(others)
    low, low_others = addrs[v4, 1], others[v4_others, 1]  # by one word, which is much faster
    if len(low_others):
        at = np.minimum(np.searchsorted(low_others, low), len(low_others) - 1)
        found[v4] = low_others[at] == low
    rest = np.unique(others[~v4_others], axis=0)
    found[~v4] = positions_of(rest, addrs[~v4]) >= 0
    return found
