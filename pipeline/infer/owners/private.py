"""Routers that answer with private addresses: in the AS of the router before them.

Private address space ends at the border of a network: a link between two ASes has public addresses
on both ends, since each side must reach them. So a private address by which packets came in shows
a link inside one AS, and its router is in the AS of the router before it. MAP-IT [1]_ leaves such
addresses out; bdrmapIT [2]_ gives them to the AS around them.

The same private address may be used in many networks: an address takes an AS only if all routers
before it that are in one are in the same. A run of private addresses takes its AS from its
beginning. An address that no trace passes takes none: it may be that of the last customer.

References
----------
.. [1] A. Marder, J. M. Smith, "MAP-IT: multipass accurate passive inferences from traceroute",
   IMC 2016.
.. [2] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018.
"""

from __future__ import annotations

import numpy as np

from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.topology import NO_ASN


def follow_private_links(
    near: np.ndarray, far: np.ndarray, asn: np.ndarray, private: np.ndarray
) -> np.ndarray:
    """Give private nodes the AS of what comes before them.

    Parameters
    ----------
    near, far : (n_pairs,) int64
        Nodes that traces passed one right after the other, ``far`` on the way.
    asn : (n_nodes,) int64
        ``NO_ASN`` where unmapped, a stand-in where that is all that is known.
    private : (n_nodes,) bool
        Nodes that have special-purpose addresses only.

    Returns
    -------
    (n_nodes,) int64
    """
    asn = asn.copy()
    leads_on = np.zeros(len(asn), bool)
    leads_on[near] = True
    while True:
        used = (private & leads_on & (asn == NO_ASN))[far] & (asn[near] != NO_ASN)
        least, most = np.full(len(asn), np.iinfo(np.int64).max), np.full(len(asn), NO_ASN)
        np.minimum.at(least, far[used], asn[near[used]])
        np.maximum.at(most, far[used], asn[near[used]])
        agreed = least == most
        if not agreed.any():
            return asn
        asn[agreed] = most[agreed]


def locate_private(
    links: DirectedLinks, group: np.ndarray, owner: np.ndarray, special: np.ndarray
) -> np.ndarray:
    """AS that private addresses are used in, before they are merged with others.

    Parameters
    ----------
    links : DirectedLinks
    group : (n_interfaces,) int64
        As from ``trust_groups``.
    owner : (n_interfaces,) int64
        As elected; ``NO_ASN`` where unmapped, a stand-in where that is all that is known.
    special : (n_interfaces,) bool
        Private and other special-purpose addresses.

    Returns
    -------
    (n_interfaces,) int64
        ``NO_ASN`` for addresses that are not private, and where no single AS is known.
    """
    asn = np.full(len(group), NO_ASN)
    mapped = owner != NO_ASN
    asn[group[mapped]] = owner[mapped]
    private = np.bincount(group, ~special, minlength=len(group)) == 0
    on_the_way = links.n_router > 0
    near, far = group[links.near[on_the_way]], group[links.far[on_the_way]]
    return np.where(special, follow_private_links(near, far, asn, private)[group], NO_ASN)
