"""Address space that is not announced, but belongs to an AS.

Many ASes number their routers from a block that they do not announce. No prefix table has its
owner, but a link in it has addresses of one AS, like any other. Without this rule the router would
only have its links to neighbours with known addresses, and would be taken for one of theirs.

So each unannounced block (IPv4 /24, IPv6 /48) gets a *placeholder AS* for its owner: a number
beyond all AS numbers that takes part in the election like an AS. It is replaced by the AS that the
evidence at its routers names: hosts that answered right behind them, destinations of traces that
ended at them, and members of exchange points registered with their addresses. A router's vote for
an AS is the share of its evidence for that AS, times the square root of the amount: more addresses
are more certain, but not independent. The AS needs a multiple of the votes of any other,
``FIRST_LEAD`` times as many where the routers of customers, which have addresses of the block too,
may still be taken for the owner's, and ``LEAD`` times as many once these were elected by their own
destinations. Else the placeholder stays unknown and its routers are in no AS.

Where delegation files of the registries are given, they say who holds a block, and which AS numbers
the holder has [1]_: with a single one, its unannounced addresses are numbered from that AS. With
several they have a placeholder, which is replaced by one of these.

Special-purpose addresses have no placeholder, since a private address is used in many networks; nor
have addresses on the LAN of an exchange point.

References
----------
.. [1] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018, section 4.1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.infer.rule import CHOSEN, Rule
from pipeline.model.addresses import is_v4
from pipeline.model.columns.keys import distinct_keys, is_among, split_key
from pipeline.model.tables.delegations import Delegations
from pipeline.model.topology import NO_ASN

UNANNOUNCED = Rule(
    "unannounced-blocks",
    "owners",
    "an unannounced block belongs to the AS that most of its routers point to",
    "unmapped addresses, hosts and destinations behind them",
    "3 and 1.5 times as many votes: " + CHOSEN,
    "bdrmapIT (Marder et al., IMC 2018), section 4.1, by delegations",
)

FIRST_LEAD, LEAD = 3.0, 1.5  # times the votes of any other AS, before an election and after it
FIRST_STAND_IN = 1 << 32  # AS numbers have 32 bits


def find_holders(
    addrs: np.ndarray,
    origin: np.ndarray,
    excluded: np.ndarray,
    delegations: Delegations | None,
) -> np.ndarray:
    """AS of each address by prefix, or else of the holder of its block, if that has a single one.

    Parameters
    ----------
    addrs : (n, 2) uint64
    origin : (n,) int64
        AS of each address by prefix; ``NO_ASN`` where unmapped.
    excluded : (n,) bool
        Addresses that stay unmapped.
    delegations : Delegations or None

    Returns
    -------
    (n,) int64
    """
    if delegations is None:
        return origin
    unannounced = np.flatnonzero((origin == NO_ASN) & ~excluded)
    held = origin.copy()
    held[unannounced] = delegations.only_as(delegations.holders_of(addrs[unannounced]))
    return held


def number_unannounced(addrs: np.ndarray, origin: np.ndarray, excluded: np.ndarray) -> np.ndarray:
    """AS that each address is numbered from, a placeholder where it is unannounced.

    Parameters
    ----------
    addrs : (n, 2) uint64, sorted, distinct
    origin : (n,) int64
        AS of each address by prefix; ``NO_ASN`` where unmapped.
    excluded : (n,) bool
        Addresses that stay unmapped.

    Returns
    -------
    (n,) int64
    """
    v4 = is_v4(addrs)
    high = np.where(v4, addrs[:, 0], addrs[:, 0] >> np.uint64(16))
    low = np.where(v4, addrs[:, 1] >> np.uint64(8), np.uint64(0))
    first = np.zeros(len(addrs), bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    unannounced = (origin == NO_ASN) & ~excluded
    return np.where(unannounced, FIRST_STAND_IN + np.cumsum(first), origin)


class Possible(NamedTuple):
    """ASes that placeholders may be named after, of those whose holders are known.

    Attributes
    ----------
    stand_in, asn : (n_pairs,) int64
        Sorted, distinct. A placeholder that is not listed may be named after any AS.
    """

    stand_in: np.ndarray
    asn: np.ndarray


def find_possible(
    addrs: np.ndarray, numbered: np.ndarray, delegations: Delegations | None
) -> Possible:
    """The ASes of the holders of each block that has a placeholder.

    Parameters
    ----------
    addrs : (n, 2) uint64
    numbered : (n,) int64
        As from ``number_unannounced``.
    delegations : Delegations or None
    """
    none = np.empty(0, np.int64)
    if delegations is None:
        return Possible(none, none)
    unannounced = numbered >= FIRST_STAND_IN
    stand_in, holder = numbered[unannounced], delegations.holders_of(addrs[unannounced])
    row, asn = delegations.ases_of(holder)
    listed = np.zeros(len(holder), bool)
    listed[row] = True
    unlisted = distinct_keys(stand_in[~listed])
    pairs = np.unique(np.column_stack([stand_in[row], asn]), axis=0)
    pairs = pairs[~is_among(pairs[:, 0], unlisted)]
    return Possible(pairs[:, 0], pairs[:, 1])


def name_stand_ins(
    router: np.ndarray,
    owner: np.ndarray,
    host: np.ndarray,
    n_known: int,
    n: int,
    lead: float,
    possible: np.ndarray,
) -> np.ndarray:
    """AS that each AS row stands for: itself, except for placeholders that hosts and others name.

    Parameters
    ----------
    router, owner, host : (n_said,) int64
        Routers, the AS row that each is in so far (-1 for none), and that of what speaks for
        an owner: hosts right behind, destinations, members. Equal ones count each.
    n_known : int
        AS rows; those from here on are placeholders.
    n : int
        Rows of both.
    lead : float
        How many times as many votes the AS needs as any other.
    possible : (n_pairs,) int64
        ``placeholder << 32 | AS row``, as of ``Possible``; ``n`` for an AS without a row.

    Returns
    -------
    (n,) int64
    """
    unknown = owner >= n_known
    unknown &= ~is_among(owner, possible >> 32) | is_among((owner << 32) | host, possible)
    router, owner, host = router[unknown], owner[unknown], host[unknown]
    keys, first, n_said = np.unique((router << 32) | host, return_index=True, return_counts=True)
    said_by = keys >> 32
    weight = n_said / np.sqrt(np.maximum(np.bincount(said_by, n_said), 1)[said_by])
    pairs, pair = np.unique((owner[first] << 32) | host[first], return_inverse=True)
    votes = np.bincount(pair, weight, len(pairs))
    order = np.lexsort((votes, pairs >> 32))  # the AS with most votes of each owner comes last
    owner, host = split_key(pairs[order])
    votes = votes[order]
    wins = np.ones(len(owner), bool)
    wins[:-1] = owner[1:] != owner[:-1]
    second = np.zeros(len(owner))
    second[1:] = np.where(owner[1:] == owner[:-1], votes[:-1], 0)
    wins &= votes >= lead * second
    stands_for = np.arange(n)
    stands_for[owner[wins]] = host[wins]
    return stands_for
