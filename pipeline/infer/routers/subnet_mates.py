"""Point-to-point mates: the other end of a link, from addresses alone.

A point-to-point link is numbered from a /30 (ends 1 and 2 of four; IPv6 /126, or 1 and 2 of a
/64) or from a /31 (0 and 1, or 2 and 3; IPv6 /127). An address ending in 0 or 3 can only be an
end of a /31, since a /30 reserves these two. One ending in 1 or 2 can be either:

- if an address ending in 0 or 3 of the same four was seen, it is a /31;
- if an alias set holds both 1 and 2 of the four, they are ends of two links, so of two /31;
- else, if a fair share of the addresses seen near it (same /24; IPv6 same /120) end in 0 or 3,
  the neighbourhood is numbered in /31 and its mate was not seen;
- else it is a /30.

Only mates that were seen themselves matter here. (APAR [1]_ and kapar [2]_ use the same idea.)

References
----------
.. [1] M. Gunes, K. Sarac, "Resolving IP aliases in building traceroute-based Internet maps",
   IEEE/ACM ToN 2009.
.. [2] K. Keys, "Internet-scale IP alias resolution techniques", ACM CCR 2010.
"""

from __future__ import annotations

import numpy as np

from pipeline.model.columns.sorted_addrs import find_addrs

# Where links are /31, half of the addresses end in 0 or 3; where they are /30, only the odd
# loopback does.
_SHARE_OF_31 = 0.2


def find_mates(addrs: np.ndarray, alias_set: np.ndarray | None = None) -> np.ndarray:
    """Interface at the other end of each interface's link.

    Parameters
    ----------
    addrs : (n, 2) uint64, sorted, distinct
    alias_set : (n,) int64 or None
        Equal for addresses known to be on one router, -1 where nothing is known.

    Returns
    -------
    (n,) int64
        Position in ``addrs``; -1 where it was not seen, or is on the same router. Symmetric.
    """
    n = len(addrs)
    if n == 0:
        return np.empty(0, np.int64)
    low = addrs[:, 1]
    last_two = low & np.uint64(3)
    outer = (last_two == 0) | (last_two == 3)
    four_has_outer = _any_of_run(addrs, 2, outer)
    neighbourhood_is_31 = _share_of_run(addrs, 8, outer) >= _SHARE_OF_31
    is_31 = outer | four_has_outer
    if alias_set is not None:
        is_31 |= _on_one_router(addrs, alias_set)
    unknown = ~is_31 & neighbourhood_is_31
    mate = addrs.copy()
    mate[:, 1] = low ^ np.where(is_31, np.uint64(1), np.uint64(3))
    found = find_addrs(addrs, mate).astype(np.int64)
    found[unknown] = -1
    again = np.zeros(n, bool)  # in several places: which of them is at the other end is not known
    again[1:] = (addrs[1:] == addrs[:-1]).all(axis=1)
    again[:-1] |= again[1:]
    found[again | again[found]] = -1
    if alias_set is not None:
        found[(found >= 0) & (alias_set >= 0) & (alias_set[found] == alias_set)] = -1
    return found


def part_mates(mates: np.ndarray, origin: np.ndarray, private: np.ndarray) -> np.ndarray:
    """The same mates without those of private addresses that are used in another AS.

    Parameters
    ----------
    mates : (n,) int64
        As from ``find_mates``.
    origin : (n,) int64
        AS that each address is numbered from, or that a private address is used in.
    private : (n,) bool
    """
    mate = np.maximum(mates, 0)
    apart = (private | private[mate]) & (origin != origin[mate])
    return np.where(apart, -1, mates)


def _on_one_router(addrs: np.ndarray, alias_set: np.ndarray) -> np.ndarray:
    """(n,) bool: addresses in one alias set with what would be the other end of their /30."""
    other = addrs.copy()
    other[:, 1] ^= np.uint64(3)
    at = find_addrs(addrs, other).astype(np.int64)
    return (at >= 0) & (alias_set >= 0) & (alias_set[at] == alias_set)


def _runs(addrs: np.ndarray, n_bits: int) -> np.ndarray:
    """(n,) int64: number of the block of 2**n_bits addresses that each address lies in."""
    low = addrs[:, 1] >> np.uint64(n_bits)
    first = np.ones(len(addrs), bool)
    first[1:] = (low[1:] != low[:-1]) | (addrs[1:, 0] != addrs[:-1, 0])
    return np.cumsum(first) - 1


def _any_of_run(addrs: np.ndarray, n_bits: int, flag: np.ndarray) -> np.ndarray:
    run = _runs(addrs, n_bits)
    return (np.bincount(run, flag) > 0)[run]


def _share_of_run(addrs: np.ndarray, n_bits: int, flag: np.ndarray) -> np.ndarray:
    run = _runs(addrs, n_bits)
    return (np.bincount(run, flag) / np.bincount(run))[run]
