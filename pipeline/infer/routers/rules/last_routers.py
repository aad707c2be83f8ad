"""Two last routers of all traces to one destination, in the destination's AS: one router.

A destination is behind one router, mostly, and each vantage may see another address of that. So if
all traces to one destination, answered or not, end at two routers as they are known so far, these
are one router, if

- both are in the AS of the destination, as elected: the traces did not end before they reached it;
- no trace to the destination shows that an unanswered router follows;
- no trace shows both: otherwise one of them answers only sometimes;
- no observer saw both behind one router: what is entered from one place by two links is mostly two
  routers before a silent one;
- other traces go on from at most one of them, or the same routers follow both, or the traces to the
  same destinations end at both. Routers that lead on to different places are the last ones before a
  destination where its gateway never answers.

Where traces to one destination end at more than two routers, its gateway is silent more often;
these routers are joined only where other destinations join them.

Where most such pairs are in one trace, destinations are routers that other traces pass, or most
gateways are silent: then no pair is believed.

In contrast to ``gateways`` this needs neither an answer nor dead ends, but the election.
That the hops before one destination are one router is what APAR [1]_ uses for common successors;
that traces to one prefix end at its gateway, what bdrmapIT [2]_ uses.

References
----------
.. [1] M. Gunes, K. Sarac, "Resolving IP aliases in building traceroute-based Internet maps",
   IEEE/ACM ToN 2009.
.. [2] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018.
"""

from __future__ import annotations

import numpy as np

from pipeline.infer.routers.ends import Ends
from pipeline.infer.routers.groups import find_watched
from pipeline.infer.routers.neighbors import have_common
from pipeline.infer.routers.observers import Observers
from pipeline.infer.rule import Rule
from pipeline.infer.traces.distinct import DistinctPaths
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.keys import distinct_keys, is_among, split_key
from pipeline.model.forest import unite

LAST_ROUTERS = Rule(
    "last-routers",
    "routers",
    "two routers where all traces to one destination of their AS end are one",
    "last routers, owners",
    source="APAR (Gunes and Sarac, ToN 2009); bdrmapIT (Marder et al., IMC 2018)",
)

_ROUNDS = 3
# Of pairs, in one trace: at most two in five where traces were aimed at hosts, else 0.6 to 1.
_CONTRADICTED = 0.5


def join_last_routers(
    paths: DistinctPaths, links: DirectedLinks, root: np.ndarray, ends: Ends, observers: Observers
) -> tuple[np.ndarray, bool]:
    """Join last routers of the same destinations.

    Parameters
    ----------
    paths : DistinctPaths
    links : DirectedLinks
        Of these.
    root : (n_interfaces,) int64
        Smallest interface of each router so far.
    ends : Ends
    observers : Observers

    Returns
    -------
    root : (n_interfaces,) int64
        The same as ``root``, after joining.
    believed : bool
        False where most pairs are in one trace.
    """
    root, believed = root.copy(), True
    _, which = np.unique(ends.aim, return_inverse=True)
    n_against = np.bincount(which, ends.elsewhere | ends.before_gap, which.max(initial=-1) + 1)
    used = n_against[which] == 0
    aim, last = which[used], ends.last[used]
    for turn in range(_ROUNDS):
        pairs = _pairs_of_routers(aim, root[last], root, links)
        one, other = split_key(pairs)
        sides = np.column_stack([one, other]).ravel()
        ptr = np.arange(len(pairs) + 1) * 2
        in_one_trace = find_watched(paths, ptr, sides, pairs, len(root), root)
        apart = ~is_among(pairs, in_one_trace)
        if np.count_nonzero(~apart) > _CONTRADICTED * len(pairs):
            believed = turn > 0  # later only those that are in one trace may be left
            break
        apart[apart] = ~_entered_from_one(observers, links, root, one[apart], other[apart])
        if not apart.any():
            break
        unite(root, one[apart], other[apart])
    return root, believed


def _entered_from_one(
    observers: Observers,
    links: DirectedLinks,
    root: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
) -> np.ndarray:
    """(n_pairs,) bool: one router precedes both, and one observer saw both."""
    near, far = root[links.near], root[links.far]
    kept = (links.n_router > 0) & (near != far)
    entered = have_common(far[kept], near[kept], one, other, len(root))
    entered[entered] = observers.see_both(root, one[entered], other[entered])
    return entered


def _pairs_of_routers(
    aim: np.ndarray, last: np.ndarray, root: np.ndarray, links: DirectedLinks
) -> np.ndarray:
    """Keys of pairs of routers at which all traces to some destination end, and that may be one."""
    aim, last = split_key(distinct_keys((aim << 32) | last))
    n_aims = np.bincount(last, minlength=len(root))
    first = np.flatnonzero(np.bincount(aim, minlength=1)[aim] == 2)[::2]
    pairs, n_common = np.unique((last[first] << 32) | last[first + 1], return_counts=True)
    one, other = split_key(pairs)
    near, far = root[links.near], root[links.far]
    near, far = near[near != far], far[near != far]
    leads_on = np.bincount(near, minlength=len(root)) > 0
    allowed = ~leads_on[one] | ~leads_on[other]
    allowed |= (n_common == n_aims[one]) & (n_common == n_aims[other])
    return pairs[allowed | have_common(near, far, one, other, len(root))]
