"""Two kinds of evidence that two routers are one, where each alone is too weak.

Two routers are looked at if both are in one AS, as elected, no trace shows both, and they do not
diverge (``diverging_next_hops``). What there may be:

- *next*: one address is right behind both. It is *plain* if its router is not odd (``merge``),
  and *theirs alone* if it is plain, nothing else is right before it, at most one router is right
  before each of the two, and no trace ends at either;
- *lead*: some router is right behind both, by whatever addresses;
- *mate*: the mate of an address right behind one is on the other;
- *end*: traces to one destination end at both; with *dead ends* nothing is seen right behind them;
- *gap*: some router follows both after unanswered hops;
- *origin*: some router is right before both.

What one observer sees right behind a router is several routers. What several observers see there,
one each, is one: it answers each with the interface toward it, or has several links. So two with an
origin are one only if no observer saw both, and by

- a next, a gap, two ends, or an end if they are dead ends;
- a mate with an end or a lead. (A router's links are numbered one after the other, so an address of
  one may look like the subnet mate of the next: so a mate by itself is no evidence.)

Two without an origin are one by

- two mates;
- a mate with a plain next or with an end;
- a next that is theirs alone;
- if no observer saw both, a mate with a lead or a gap, or if no trace ends at either.

A router that answers with its outgoing interface may use the one by which the packet came in, as
answers mostly go back the way that packets came. So even an odd router's address may have its mate
on the router before it, but that alone is not enough. Where it is not odd, less will do
(``mate_and_predecessor``).

That mates are at the other end of a link and that common neighbors support this is from APAR [1]_;
that several weak signs which agree make two records one is record linkage [2]_. Which of them are
enough was counted on simulated networks, among routers that the rules before leave apart: of those
that these join, 1,666 in 432 networks, 35 were not one.

References
----------
.. [1] M. Gunes, K. Sarac, "Resolving IP aliases in building traceroute-based Internet maps",
   IEEE/ACM ToN 2009.
.. [2] I. Fellegi, A. Sunter, "A theory for record linkage", JASA 1969.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.infer.routers.ends import Ends
from pipeline.infer.routers.neighbors import have_common, in_one_as, pairs_at
from pipeline.infer.routers.observers import Observers
from pipeline.infer.routers.rules.diverging_next_hops import find_diverging
from pipeline.infer.rule import Rule
from pipeline.infer.traces.distinct import DistinctPaths
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.keys import distinct_keys, is_among, pair_keys, split_key
from pipeline.model.columns.ragged import run_starts
from pipeline.model.forest import unite

TWO_KINDS = Rule(
    "two-weak-signs",
    "routers",
    "two routers of one AS are one if two kinds of weak evidence agree",
    "successors, subnet mates, last routers, gaps, observers, owners",
    "chosen: kinds counted on simulated networks",
    "record linkage (Fellegi and Sunter, JASA 1969)",
)


class _Counted(NamedTuple):
    """Distinct pairs of routers, and how many things each has in common.

    Attributes
    ----------
    key : (n_pairs,) int64, ascending
    n : (n_pairs,) int64
    """

    key: np.ndarray
    n: np.ndarray

    @classmethod
    def of(cls, keys: np.ndarray) -> _Counted:
        """From a row for each pair and thing."""
        return cls(*np.unique(keys, return_counts=True))

    def number_for(self, keys: np.ndarray) -> np.ndarray:
        """(n,) int64: what each asked pair has in common; 0 if it is not among these."""
        if not len(self.key):
            return np.zeros(len(keys), np.int64)
        at = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        return np.where(self.key[at] == keys, self.n[at], 0)


class _Around(NamedTuple):
    """Links between different routers.

    Attributes
    ----------
    near, address, far : (n_links,) int64
        Router, an address right behind it, and the router of that.
    """

    near: np.ndarray
    address: np.ndarray
    far: np.ndarray

    @classmethod
    def of(cls, links: DirectedLinks, root: np.ndarray, used: np.ndarray) -> _Around:
        """The links that are ``used``, without those within a router."""
        used = used & (root[links.near] != root[links.far])
        return cls(root[links.near[used]], links.far[used], root[links.far[used]])

    def count_near(self, n: int) -> np.ndarray:
        """(n,) int64: routers right before each router."""
        return np.bincount(distinct_keys((self.far << 32) | self.near) >> 32, minlength=n)


def join_two_kinds(
    paths: DistinctPaths,
    observers: Observers,
    links: DirectedLinks,
    root: np.ndarray,
    owner: np.ndarray,
    mates: np.ndarray,
    is_plain: np.ndarray,
    alias: np.ndarray,
    ends: Ends,
) -> np.ndarray:
    """Join routers for which two kinds of evidence agree.

    Parameters
    ----------
    paths : DistinctPaths
    observers : Observers
    links : DirectedLinks
    root : (n_interfaces,) int64
        Smallest interface of each router so far.
    owner : (n_interfaces,) int64
        As elected; ``NO_ASN`` where unmapped.
    mates : (n_interfaces,) int64
    is_plain : (n_interfaces,) bool
        Addresses of routers that are not odd.
    alias : (n_interfaces,) int64
        Smallest interface of the given alias set that each interface is in; -1 for none.
    ends : Ends

    Returns
    -------
    (n_interfaces,) int64
        The same as ``root``, after joining.
    """
    around = _Around.of(links, root, links.n_router > 0)
    plain = is_plain[around.address]
    nexts = _Counted.of(pairs_at(around.address, around.near))
    plain_nexts = _Counted.of(pairs_at(around.address[plain], around.near[plain]))
    mated = _Counted.of(_pairs_of_mates(around, root, mates))
    ended = _Counted.of(pairs_at(ends.aim, root[ends.last]))
    keys = distinct_keys(np.concatenate([nexts.key, mated.key, ended.key]))
    one, other = split_key(keys)
    used = (one != other) & in_one_as(owner, alias, one, other)
    keys, one, other = keys[used], one[used], other[used]

    n = len(root)
    has_next, has_plain = nexts.number_for(keys) > 0, plain_nexts.number_for(keys) > 0
    n_mates, n_ends = mated.number_for(keys), ended.number_for(keys)
    bridged = _Around.of(links, root, links.n_bridged > 0)
    has_gap = have_common(bridged.near, bridged.far, one, other, n)
    has_origin = have_common(around.far, around.near, one, other, n)
    is_seen = observers.see_both(root, one, other)

    is_dead, no_end = np.ones(n, bool), np.ones(n, bool)
    is_dead[around.near] = no_end[root[ends.last]] = False
    is_dead, no_end = is_dead[one] & is_dead[other], no_end[one] & no_end[other]
    n_before = around.count_near(n)
    is_alone = is_among(keys, _alone(around.address[plain], around.near[plain]))
    is_alone &= no_end & (n_before[one] <= 1) & (n_before[other] <= 1)

    has_mate, has_end = n_mates > 0, n_ends > 0
    leads_on = have_common(around.near, around.far, one, other, n)
    with_origin = has_next | has_gap | (n_ends > 1) | (has_end & is_dead)
    with_origin |= has_mate & (leads_on | has_end)
    with_origin &= ~is_seen
    without = (n_mates > 1) | (has_mate & (has_plain | has_end)) | is_alone
    without |= ~is_seen & has_mate & (leads_on | has_gap | no_end)
    joins = np.where(has_origin, with_origin, without)
    one, other = one[joins], other[joins]
    diverge = find_diverging(paths, root, root, one, other, mostly=False)
    result = root.copy()
    unite(result, one[~diverge], other[~diverge])
    return result


def _pairs_of_mates(around: _Around, root: np.ndarray, mates: np.ndarray) -> np.ndarray:
    """Keys of routers before an address and with its mate, once for each router behind them."""
    mate = mates[around.address]
    used = (mate >= 0) & (around.near != root[mate]) & (root[mate] != around.far)
    keys = pair_keys(around.near[used], root[mate[used]])
    far = around.far[used]
    order = np.lexsort((far, keys))
    return keys[order][run_starts(keys[order], far[order])]


def _alone(address: np.ndarray, router: np.ndarray) -> np.ndarray:
    """Keys of two routers that are all that is right before some address."""
    address, router = split_key(distinct_keys((address << 32) | router))
    _, first, n_routers = np.unique(address, return_index=True, return_counts=True)
    first = first[n_routers == 2]
    return pair_keys(router[first], router[first + 1])
