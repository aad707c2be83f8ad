"""Places of a private address in one AS: one router, since a network uses each number once.

Traces come to a router by several ways, so its private address was seen in several places
(``routers.places``). Which AS each is in follows from what is around it (``owners.private``).
"""

from __future__ import annotations

import numpy as np

from pipeline.infer.routers.subnet_mates import find_mates
from pipeline.infer.rule import Rule
from pipeline.model.columns.ragged import run_starts
from pipeline.model.forest import unite
from pipeline.model.topology import NO_ASN

ONE_NUMBER = Rule(
    "one-number",
    "routers",
    "places of a private address in one AS are one router",
    "places of private addresses, owners",
)


def _numbers(addrs: np.ndarray, used_in: np.ndarray) -> np.ndarray:
    """(n,) int64: first interface of each address in each AS; itself where the AS is not known."""
    first = run_starts(addrs[:, 0], addrs[:, 1])
    address = np.repeat(np.arange(len(first)), np.diff(first, append=len(addrs)))
    located = np.flatnonzero(used_in != NO_ASN)
    order = located[np.lexsort((located, used_in[located], address[located]))]
    starts = run_starts(address[order], used_in[order])
    result = np.arange(len(addrs))
    result[order] = np.repeat(order[starts], np.diff(starts, append=len(order)))
    return result


def join_numbers(addrs: np.ndarray, root: np.ndarray, used_in: np.ndarray) -> np.ndarray:
    """(n_interfaces,) int64: smallest interface of each router.

    Parameters
    ----------
    addrs : (n_interfaces, 2) uint64, sorted
        A private one once for each of its places.
    root : (n_interfaces,) int64
        The same before.
    used_in : (n_interfaces,) int64
        AS of private addresses; ``NO_ASN`` for others, and where it is not known.
    """
    root = root.copy()
    unite(root, np.arange(len(root)), _numbers(addrs, used_in))
    return root


def find_private_mates(addrs: np.ndarray, mates: np.ndarray, used_in: np.ndarray) -> np.ndarray:
    """(n_interfaces,) int64: mates, with those of private addresses in several places.

    Parameters
    ----------
    addrs, used_in :
        As for ``join_numbers``.
    mates : (n_interfaces,) int64
        The others; -1 for none.
    """
    number, ids = _numbers(addrs, used_in), np.arange(len(addrs))
    open_ = (used_in != NO_ASN) & (number == ids) & (mates < 0)
    result = mates.copy()
    for asn in np.unique(used_in[open_]):
        own = np.flatnonzero(open_ & (used_in == asn))
        found = find_mates(addrs[own])
        result[own] = np.where(found >= 0, own[found], -1)
    return result
