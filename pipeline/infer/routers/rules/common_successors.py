"""Routers with a common successor, of which no observer saw both.

Several observers enter a router by several links, or each see another address of one that responds
with its outgoing interface (``merge``: odd). An observer of two routers in the same place mostly
sees both of them. So two are one router if

- both are right before one address of a router that is not odd;
- both are in one AS, as elected, and no observer saw both, nor does a trace;
- they do not diverge (``diverging_next_hops``);
- what is joined then, by this rule alone, has one router of several addresses at most.

Such pairs may chain to a router of which one observer saw two addresses: at a router, paths from
different directions merge.

Unlike in ``single_voucher``, it does not matter from where other predecessors were seen, nor how
many there are.

That common neighbors make one router likely is from APAR [1]_.

References
----------
.. [1] M. Gunes, K. Sarac, "Resolving IP aliases in building traceroute-based Internet maps",
   IEEE/ACM ToN 2009.
"""

from __future__ import annotations

import numpy as np

from pipeline.infer.routers.neighbors import in_one_as, pairs_at
from pipeline.infer.routers.observers import Observers
from pipeline.infer.routers.rules.diverging_next_hops import find_diverging
from pipeline.infer.rule import Rule
from pipeline.infer.traces.distinct import DistinctPaths
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.keys import distinct_keys, split_key
from pipeline.model.forest import unite

SAME_PLACE = Rule(
    "common-successors",
    "routers",
    "two routers of one AS before the same address are one if no observer saw both",
    "predecessors, observers, owners",
    source="APAR (Gunes and Sarac, ToN 2009)",
)


def join_same_place(
    paths: DistinctPaths,
    observers: Observers,
    links: DirectedLinks,
    root: np.ndarray,
    owner: np.ndarray,
    is_plain: np.ndarray,
    alias: np.ndarray,
) -> np.ndarray:
    """Join routers before one plain address.

    Parameters
    ----------
    paths : DistinctPaths
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

    Returns
    -------
    (n_interfaces,) int64
        The same as ``root``, after joining.
    """
    used = (links.n_router > 0) & is_plain[links.far]
    one, other = split_key(distinct_keys(pairs_at(links.far[used], root[links.near[used]])))
    used = in_one_as(owner, alias, one, other)
    one, other = one[used], other[used]
    used = ~observers.see_both(root, one, other)
    one, other = one[used], other[used]
    used = ~find_diverging(paths, root, root, one, other, mostly=False)
    one, other = one[used], other[used]
    joined = np.arange(len(root))
    unite(joined, one, other)
    is_large = np.bincount(root, minlength=len(root)) > 1
    allowed = np.bincount(joined[is_large], minlength=len(root))[joined[one]] <= 1
    result = root.copy()
    unite(result, one[allowed], other[allowed])
    return result
