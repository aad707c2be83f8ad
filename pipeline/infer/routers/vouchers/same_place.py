"""Routers that have the same neighbours, and of which no observer saw both.

Several observers enter a router by several links, or get from an odd one (``inferred``) an address
each. One that sees two routers in the same place mostly sees both of them. So two are one router if

- both are in one AS, as elected, and no observer saw both, nor does a trace;
- they do not diverge (``next_hops``);
- both are right before one address of a router that is not odd; or one router precedes both,
  and the same address follows both or traces to one destination end at both;
- what is joined then, by this rule alone, has one router of several addresses at most.

What such pairs join one after the other is one router even if one observer saw two of it: behind a
router, paths from different directions become one.

In contrast to ``single_vouchers``, what other addresses before the same one were seen from does not
matter, nor how many there are or what they were joined with.

That common neighbors on both sides make one router likely is from APAR [1]_.

References
----------
.. [1] M. Gunes, K. Sarac, "Resolving IP aliases in building traceroute-based Internet maps",
   IEEE/ACM ToN 2009.
"""

from __future__ import annotations

import numpy as np

from pipeline.infer.routers.forest import unite
from pipeline.infer.routers.point_to_point import watched_pairs
from pipeline.infer.routers.vouchers.ends import Aimed, Ends
from pipeline.infer.routers.vouchers.neighbors import have_common
from pipeline.infer.routers.vouchers.next_hops import find_diverging
from pipeline.infer.routers.vouchers.observers import Observers
from pipeline.infer.traces.counting import split_key
from pipeline.infer.traces.links import DirectedLinks
from pipeline.infer.traces.passes import Spools
from pipeline.model.columns.ragged import offsets, positions_of_rows
from pipeline.model.topology import NO_ASN

_MOST = 9  # routers before one address, or before one destination: more are no evidence


def join_same_place(
    spools: Spools,
    observers: Observers,
    links: DirectedLinks,
    root: np.ndarray,
    owner: np.ndarray,
    is_plain: np.ndarray,
    alias: np.ndarray,
    aimed: Aimed,
    ends: Ends,
) -> np.ndarray:
    """Join routers with the same neighbours; one pass over the spools.

    Parameters
    ----------
    spools : Spools
        With the addresses of routers only.
    observers : Observers
    links : DirectedLinks
    root : (n_interfaces,) int64
        Smallest interface of each router so far.
    owner : (n_interfaces,) int64
        As elected; ``NO_ASN`` where unmapped.
    is_plain : (n_interfaces,) bool
        Addresses of routers that are not odd.
    alias : (n_interfaces,) int64
        Smallest interface of the given alias set that each interface is in; -1 for none.
    aimed : Aimed
    ends : Ends

    Returns
    -------
    (n_interfaces,) int64
        The same as ``root``, after joining.
    """
    on_the_way = links.n_router > 0
    near, far = root[links.near[on_the_way]], links.far[on_the_way]
    plain = is_plain[far]
    vouched = _pairs_before(far[plain], near[plain])
    answered = ~ends.before_gap
    others = _pairs_before(far[~plain], near[~plain])
    at_ends = _pairs_before(ends.aim[answered], root[ends.last[answered]])
    one, other = split_key(np.unique(np.concatenate([vouched, others, at_ends])))
    used = (owner[one] == owner[other]) & (owner[one] != NO_ASN)
    used &= (alias[one] < 0) & (alias[other] < 0)
    one, other = one[used], other[used]
    apart = near != root[far]
    used = have_common(root[far[apart]], near[apart], one, other, len(root))
    used |= np.isin((one << 32) | other, vouched)
    one, other = one[used], other[used]
    used = ~observers.see_both(root, one, other)
    one, other = one[used], other[used]
    used = ~find_diverging(spools, aimed, root, root, one, other, mostly=False)
    one, other = one[used], other[used]
    size = np.bincount(root, minlength=len(root))
    joined = np.arange(len(root))
    unite(joined, one, other)
    n_large = np.bincount(joined[size > 1], minlength=len(root))
    allowed = n_large[joined[one]] <= 1
    result = root.copy()
    unite(result, one[allowed], other[allowed])
    return result


def _pairs_before(what: np.ndarray, router: np.ndarray) -> np.ndarray:
    """Keys of pairs of routers before the same address or destination, if few are before that."""
    what, router = split_key(np.unique((what << 32) | router))
    _, n_routers = np.unique(what, return_counts=True)
    ptr, at = positions_of_rows(offsets(n_routers), np.flatnonzero(n_routers <= _MOST))
    return np.unique(watched_pairs(ptr, router[at])[0])
