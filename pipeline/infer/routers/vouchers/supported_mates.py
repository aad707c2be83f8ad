"""The mate of an address and what is before that address, where something else supports it.

A router that answers with its outgoing interface may use the one by which the packet came in, as
answers mostly go back the way that packets came. So even an odd router's address b (``inferred``)
may have its mate on the router before it, but that alone is not enough: what is before b and b's
mate are one router if

- both are in one AS, as elected;
- the same router follows both, or traces to one destination end at both;
- no observer saw both, nor does a trace, then: several observers enter a router by several links,
  while one that sees two addresses mostly sees two routers.

Where b's router is not odd, less will do (``mate_sides``).

That mates are at the other end of a link and that common neighbors support this is from APAR [1]_.

References
----------
.. [1] M. Gunes, K. Sarac, "Resolving IP aliases in building traceroute-based Internet maps",
   IEEE/ACM ToN 2009.
"""

from __future__ import annotations

import numpy as np

from pipeline.infer.routers.forest import unite
from pipeline.infer.routers.vouchers.ends import Ends
from pipeline.infer.routers.vouchers.neighbors import have_common
from pipeline.infer.routers.vouchers.observers import Observers
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.keys import pair_keys, split_key
from pipeline.model.topology import NO_ASN


def join_supported_mates(
    observers: Observers,
    links: DirectedLinks,
    root: np.ndarray,
    owner: np.ndarray,
    mates: np.ndarray,
    alias: np.ndarray,
    ends: Ends,
) -> np.ndarray:
    """Join the mates of addresses with what is before these.

    Parameters
    ----------
    observers : Observers
    links : DirectedLinks
    root : (n_interfaces,) int64
        Smallest interface of each router so far.
    owner : (n_interfaces,) int64
        As elected; ``NO_ASN`` where unmapped.
    mates : (n_interfaces,) int64
    alias : (n_interfaces,) int64
        Smallest interface of the given alias set that each interface is in; -1 for none.
    ends : Ends

    Returns
    -------
    (n_interfaces,) int64
        The same as ``root``, after joining.
    """
    n = len(root)
    on_the_way = links.n_router > 0
    near, far = links.near[on_the_way], links.far[on_the_way]
    mate = mates[far]
    used = (mate >= 0) & (owner[near] == owner[mate]) & (owner[near] != NO_ASN)
    used &= (alias[near] < 0) & (alias[mate] < 0) & (root[near] != root[mate])
    x, y = root[near[used]], root[mate[used]]
    one, other = split_key(np.unique(pair_keys(x, y)))
    near, far = root[near], root[far]
    apart = near != far
    supported = have_common(near[apart], far[apart], one, other, n)
    supported |= have_common(root[ends.last], ends.aim, one, other, n)
    one, other = one[supported], other[supported]
    kept = ~observers.see_both(root, one, other)
    result = root.copy()
    unite(result, one[kept], other[kept])
    return result
