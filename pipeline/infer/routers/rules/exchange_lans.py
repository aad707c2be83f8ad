"""LANs of exchange points, which a prefix table may give to an AS like any other block.

Many routers of many ASes have an address of such a LAN, so its addresses are not ends of
point-to-point links, and its prefix does not say whose router it is on.

A LAN is recognised as follows: two of its addresses that would be the two ends of one link
(``subnet_mates``) are both seen right behind one address. One end of a real link is on the router
of that address, and is seen behind it only if a router answers with the address of its outgoing
interface. So a block of addresses is taken for a LAN if this is seen for several links, and for a
fair share of those for which it can be seen: links of which both ends were seen behind something.

LANs that files name (``registries.exchanges``) need no recognition, and are no evidence that the
block around them is a LAN.

traIXroute [1]_ finds the LANs of registries in traces; to recognise one by the traces alone is our
own.

References
----------
.. [1] G. Nomikos, X. Dimitropoulos, "traIXroute: detecting IXPs in traceroute paths", PAM 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.infer.rule import CHOSEN, Rule
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.addresses import format_addr, is_v4
from pipeline.model.columns.keys import is_among

EXCHANGE_LANS = Rule(
    "exchange-lans",
    "routers",
    "a block is an exchange point's LAN if its would-be subnet mates follow one address",
    "subnet mates, predecessors",
    "2 links and 0.3 of those that could show it: " + CHOSEN,
)

# On simulated networks: LANs 2 to 14 links and 0.33 to 1.00 of all, other blocks at most 1 link.
_LINKS = 2
_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class Lans:
    """LANs of exchange points, known and recognised ones.

    Attributes
    ----------
    row : (n_interfaces,) int64
        Row in ``names`` of the LAN that each interface is on, or -1.
    names : tuple of str
        The name of a known exchange point, third-party text; the block of a recognised LAN.
    """

    row: np.ndarray
    names: tuple[str, ...]


def name_lans(
    addrs: np.ndarray, on_lan: np.ndarray, known: np.ndarray, names: Sequence[str]
) -> Lans:
    """Name each LAN.

    Parameters
    ----------
    addrs : (n, 2) uint64, sorted, distinct
    on_lan : (n,) bool
        As from ``find_exchange_lans``, and where LANs are known.
    known : (n,) int64
        Row in ``names`` where the LAN is known, else -1.
    names : sequence of str
    """
    found = np.flatnonzero(on_lan & (known < 0))
    row = np.where(on_lan, known, -1)
    texts = []
    for high, low in addrs[found].tolist():
        v4 = high == 0 and low >> 32 == 0xFFFF
        block = format_addr(high, low >> 8 << 8 if v4 else 0)
        texts.append(f"{block}/{24 if v4 else 64}")
    blocks = list(dict.fromkeys(texts))
    row_of = {text: len(names) + i for i, text in enumerate(blocks)}
    row[found] = [row_of[text] for text in texts]
    return Lans(row, (*names, *blocks))


def find_exchange_lans(
    addrs: np.ndarray,
    links: DirectedLinks,
    mates: np.ndarray,
    origin: np.ndarray,
    special: np.ndarray,
) -> np.ndarray:
    """Which interfaces are on the LAN of an exchange point.

    Parameters
    ----------
    addrs : (n, 2) uint64, sorted, distinct
    links : DirectedLinks
    mates : (n,) int64
        As from ``find_mates``.
    origin : (n,) int64
        AS of each address by prefix; ``NO_ASN`` where unmapped.
    special : (n,) bool
        Addresses that are on no LAN to be found: special-purpose ones, since a private address is
        used in many networks, and those of known LANs.

    Returns
    -------
    (n,) bool
        Whole blocks (IPv4 /24, IPv6 /64) of one AS, or of none.
    """
    if len(addrs) == 0:
        return np.zeros(0, bool)
    on_the_way = links.n_router > 0
    near, far = links.near[on_the_way], links.far[on_the_way]
    behind = np.zeros(len(addrs), bool)
    behind[far] = True
    linked = mates[far] >= 0
    near, far, mate = near[linked], far[linked], mates[far[linked]]
    behind_one = np.zeros(len(addrs), bool)
    behind_one[far[is_among((near << 32) | mate, (near << 32) | far)]] = True
    one_end = mates > np.arange(len(addrs))
    block = _blocks(addrs, origin)
    n_blocks = int(block[-1]) + 1
    n_seen = np.bincount(block[one_end & behind & behind[mates]], minlength=n_blocks)
    n_behind_one = np.bincount(block[one_end & behind_one], minlength=n_blocks)
    is_lan = (n_behind_one >= _LINKS) & (n_behind_one >= _SHARE * n_seen)
    return is_lan[block] & ~special


def _blocks(addrs: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """(n,) int64: number of the block that each address lies in, ascending."""
    within = np.where(is_v4(addrs), addrs[:, 1] >> np.uint64(8), np.uint64(0))
    first = np.zeros(len(addrs), bool)
    first[1:] = (within[1:] != within[:-1]) | (addrs[1:, 0] != addrs[:-1, 0])
    first[1:] |= origin[1:] != origin[:-1]
    return np.cumsum(first)
