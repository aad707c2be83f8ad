"""Routers at which traces to the same destinations end: one router, though some do not answer.

Where a router answers only sometimes, traces to a destination behind it end at three routers or
more: at several of its addresses, one for each way in, and at those before it. ``last_routers``
joins only what all traces to a destination end at. Two routers in the destination's AS at which
some end are one as well, if

- traces to all destinations of one of them end at the other too;
- no trace shows that either leads on to a destination at which the other ends, or that an
  unanswered router follows either before a destination that answers;
- no trace shows both, and no router precedes both: what is entered from one place by two links is
  two routers, more often;
- and one of these vouches for them: a router that follows both, two destinations in common, or,
  where no trace goes on from either, that they have the same destinations, or one at which no third
  router is the last.

Where traces were aimed at routers, as ``last_routers`` sees, routers before a destination are no
evidence, and this rule is left out; so it is where most of its own pairs are in one trace.

The common successor is that of APAR [1]_; that traces to one prefix end at its gateway is what
bdrmapIT [2]_ uses.

References
----------
.. [1] M. Gunes, K. Sarac, "Resolving IP aliases in building traceroute-based Internet maps",
   IEEE/ACM ToN 2009.
.. [2] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018.
"""

from __future__ import annotations

import numpy as np

from pipeline.infer.routers.ends import Ends, find_passed
from pipeline.infer.routers.groups import find_watched, watched_pairs
from pipeline.infer.routers.neighbors import have_common
from pipeline.infer.rule import CHOSEN, Rule
from pipeline.infer.traces.distinct import DistinctPaths
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.keys import distinct_keys, is_among, pair_keys, split_key
from pipeline.model.columns.ragged import positions_of_rows, row_of_value, run_starts
from pipeline.model.forest import unite

SAME_ENDS = Rule(
    "shared-ends",
    "routers",
    "two routers where traces to the same destinations of their AS end are one",
    "last routers, owners",
    "9 routers, half of the pairs: " + CHOSEN,
    "APAR (Gunes and Sarac, ToN 2009); bdrmapIT (Marder et al., IMC 2018)",
)

_ROUNDS = 2
_MOST_ENDS = 9  # routers at which traces to one destination end: more are no evidence
_CONTRADICTED = 0.5  # of pairs, in one trace


def join_same_ends(
    paths: DistinctPaths, links: DirectedLinks, root: np.ndarray, owner: np.ndarray, ends: Ends
) -> np.ndarray:
    """Join routers at which traces to the same destinations end.

    Parameters
    ----------
    paths : DistinctPaths
    links : DirectedLinks
        Of these.
    root : (n_interfaces,) int64
        Smallest interface of each router so far.
    owner : (n_interfaces,) int64
        As for ``find_ends``.
    ends : Ends

    Returns
    -------
    (n_interfaces,) int64
        The same as ``root``, after joining.
    """
    root = root.copy()
    inside = ~ends.elsewhere
    # A gap shows that a silent router follows: nothing that ends there is believed.
    silent = ends.last[inside & ends.before_gap]
    aim, last = ends.aim[inside], ends.last[inside]
    passed: tuple[np.ndarray, np.ndarray] | None = None
    for _ in range(_ROUNDS):
        is_open = np.ones(len(root), bool)
        is_open[root[silent]] = False
        kept = is_open[root[last]]
        ends_at = split_key(distinct_keys((aim[kept] << 32) | root[last[kept]]))
        pairs = _pairs_of_routers(*ends_at, root, links)
        if not len(pairs):
            break
        if passed is None:
            asked = np.zeros(len(root), bool)
            asked[np.concatenate(ends_at)[len(ends_at[0]) :]] = True
            passed = find_passed(paths, owner, asked[root])
        pairs = pairs[~is_among(pairs, _led_on(*ends_at, passed[0], root[passed[1]], pairs))]
        one, other = split_key(pairs)
        in_one_trace = find_watched(
            paths,
            np.arange(len(pairs) + 1) * 2,
            np.column_stack([one, other]).ravel(),
            pairs,
            len(root),
            root,
        )
        apart = ~is_among(pairs, in_one_trace)
        if not apart.any() or np.count_nonzero(~apart) > _CONTRADICTED * len(pairs):
            break
        unite(root, one[apart], other[apart])
    return root


def _pairs_of_routers(
    aim: np.ndarray, router: np.ndarray, root: np.ndarray, links: DirectedLinks
) -> np.ndarray:
    """Keys of pairs that may be one router, by where traces end and what follows or precedes."""
    n = len(root)
    n_aims = np.bincount(router, minlength=n)
    starts = run_starts(aim)
    n_ends = np.diff(starts, append=len(aim))
    few = np.flatnonzero((n_ends > 1) & (n_ends <= _MOST_ENDS))
    ptr, at = positions_of_rows(np.append(starts, len(aim)), few)
    found, of_aim = watched_pairs(ptr, router[at])
    pairs, which, n_common = np.unique(found, return_inverse=True, return_counts=True)
    one, other = split_key(pairs)
    is_only = np.bincount(which, n_ends[few][of_aim] == 2, len(pairs)) > 0
    all_of_one, all_of_other = n_common == n_aims[one], n_common == n_aims[other]
    near, far = root[links.near], root[links.far]
    leads_on = np.zeros(n, bool)
    leads_on[near[near != far]] = True
    on_the_way = (links.n_router > 0) & (near != far)
    near, far = near[on_the_way], far[on_the_way]
    vouched = ~leads_on[one] & ~leads_on[other] & ((all_of_one & all_of_other) | is_only)
    vouched |= (n_common > 1) | have_common(near, far, one, other, n)
    allowed = (all_of_one | all_of_other) & ~have_common(far, near, one, other, n)
    return pairs[vouched & allowed]


def _led_on(
    aim: np.ndarray,
    router: np.ndarray,
    passed_aim: np.ndarray,
    passed: np.ndarray,
    pairs: np.ndarray,
) -> np.ndarray:
    """Keys of pairs of which one leads on to a destination at which the other ends."""
    asked = distinct_keys(np.concatenate(split_key(pairs)))
    ours = is_among(passed, asked)
    passed_aim, passed = split_key(distinct_keys((passed_aim[ours] << 32) | passed[ours]))
    ours = is_among(router, asked)
    aim, router = aim[ours], router[ours]
    starts = run_starts(aim)
    numbers = aim[starts]
    row = np.searchsorted(numbers, passed_aim)
    known = row < len(numbers)
    known[known] = numbers[row[known]] == passed_aim[known]
    ptr, at = positions_of_rows(np.append(starts, len(aim)), row[known])
    one, other = passed[known][row_of_value(ptr)], router[at]
    return pair_keys(one, other)
