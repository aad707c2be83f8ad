"""Links that may hide routers: MPLS tunnels that show neither labels nor repeated hops.

In a tunnel that does not propagate TTLs no inner router uses up a probe's TTL, so its first and its
last router answer one right after the other. Two signs tell such a link from others, both of whole
ASes, since who configures one tunnel so mostly configures all:

**Replies come from further than the link leads** (``reply-jumps``). The reply of the last router
takes the tunnel back. A router's reply starts with a TTL of 255, so does the count inside the
tunnel, and the smaller of the two stays where it ends: the routers in it are counted on the way
back, though not on the way there. So behind the tunnel the way back is longer than the way there by
as many hops as are hidden, and before it is not: FRPLA [1]_. Ways back are often others than ways
there, by more hops or by fewer, so one jump shows nothing, and several of one link may have one
cause. Votes of vantage points are compared with those on links between ASes of the same data, where
no tunnel is: how many jump there, and how much those on one link agree (beta-binomial laws). Only
routers whose replies start with 255 show it: what starts with 64 stays the smaller.

**Nobody sees three of its routers in a row** (``one-hop-ases``). An AS in which many border routers
are linked with one another, and which each trace crosses in one hop, would be a mesh without a
core. Without TTLs of replies this is all that shows it.

For each AS the share of its links that hide routers is estimated together with the links, as a
mixture of two kinds, by expectation and maximisation: so where the replies of a link's ends say
nothing, it is taken as most links of its AS are. What is behind such a link joins no addresses
before it: all first routers of tunnels to one last router are before one address of it.

References
----------
.. [1] Y. Vanaubel, P. Mérindol, J.-J. Pansiot, B. Donnet, "Through the wormhole: tracking invisible
   MPLS tunnels", IMC 2017; "TNT, your tool for tracing MPLS tunnels", TMA 2019.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pipeline.infer.rule import CHOSEN, Rule, Rules
from pipeline.infer.traces.counting import slot_of
from pipeline.infer.traces.distinct import FOLLOWS, OWN, DistinctPaths, Tree, addr_of
from pipeline.infer.traces.links import DirectedLinks
from pipeline.infer.traces.passes import Batch, Finding
from pipeline.infer.traces.rules import DESTINATION, is_repeated
from pipeline.model.columns.keys import pair_keys
from pipeline.model.topology import NO_ASN

REPLY_JUMPS = Rule(
    "reply-jumps",
    "gaps",
    "a link may hide routers if replies come from further behind it than it leads",
    "TTLs of replies, links, owners",
    "votes on a tunnel: " + CHOSEN + "; on other links: shares in the same data",
    "FRPLA (Vanaubel et al., IMC 2017)",
)
ONE_HOP_ASES = Rule(
    "one-hop-ases",
    "gaps",
    "links of an AS may hide routers if traces always cross it in one hop, between many routers",
    "links, owners, distinct paths",
    "4 routers, 5 links for 4 of them, 1 path in 20: " + CHOSEN,
    "Vanaubel et al., IMC 2017",
)

_CLASSES = 64  # of vantage points, a bit each: those of one class vote as one
_ACROSS = 0.8  # share of votes that jump across a tunnel
_ALIKE = 0.3  # correlation of the votes on a tunnel: some start where their ways back do not
_PRIOR = 0.03  # share of links that hide routers, of an AS of which nothing is known
_PRIOR_ONE_HOP = 0.6
_PRIOR_LINKS = 2.0  # links that the prior counts as
_TURNS = 30
_LEAST_ROUTERS = 4
_DENSE = 1.25  # links for each router; a tree has fewer than 1
_LONGER = 0.05  # of paths that cross an AS, those that cross more than a link of it


@dataclass(frozen=True, eq=False)
class ReplyJumps:
    """From where replies come further than a pair of addresses leads.

    Attributes
    ----------
    jumped, stayed : (n_pairs,) uint64
        Bits of classes of vantage points, by ``DirectedLinks``: by some trace the way back of the
        far end is longer than that of the near end by more than a hop; by some it is not.
    """

    jumped: np.ndarray
    stayed: np.ndarray

    @classmethod
    def none(cls, n_pairs: int) -> ReplyJumps:
        """No reply has a TTL."""
        return cls(*np.zeros((2, n_pairs), np.uint64))


@njit(cache=True, nogil=True, inline="always")
def _way_back(left):
    """Routers on the way of a reply that arrived with some TTL, above 0."""
    if left > 128:
        return np.int64(255) - left
    if left > 64:
        return np.int64(128) - left
    return np.int64(64) - left


@njit(cache=True, nogil=True)
def _watch(hop_ptr, flags, ttl, ids, left, vantage, keys, row_of, jumped, stayed):
    for trace in range(len(hop_ptr) - 1):
        if vantage[trace] < 0:
            continue
        bit = np.uint64(1) << np.uint64(vantage[trace] % _CLASSES)
        end = hop_ptr[trace + 1]
        for row in range(hop_ptr[trace] + 1, end):
            near, far = np.int64(ids[row - 1]), np.int64(ids[row])
            if near < 0 or far < 0 or near == far or ttl[row] != ttl[row - 1] + 1:
                continue
            if left[row] <= 128 or left[row - 1] == 0:
                continue
            if row == end - 1 and flags[trace] == DESTINATION:
                continue
            if is_repeated(ttl, ids, row, end):
                continue
            key = (near << 32) | far
            slot = slot_of(keys, key)
            if keys[slot] != key:
                continue
            if _way_back(left[row]) > _way_back(left[row - 1]) + 1:
                jumped[row_of[slot]] |= bit
            else:
                stayed[row_of[slot]] |= bit


@njit(cache=True, nogil=True)
def _index(near, far, keys, row_of):
    for row in range(len(near)):
        key = (near[row] << 32) | far[row]
        slot = slot_of(keys, key)
        keys[slot] = key
        row_of[slot] = row


def find_jumps(links: DirectedLinks, n_vantages: int) -> Finding[list[np.ndarray], ReplyJumps]:
    """Compare the ways back of both ends of each pair of successive answers.

    Parameters
    ----------
    links : DirectedLinks
    n_vantages : int
        Of ``Spools.vantages``.
    """
    n = len(links.near)
    n_slots = 1 << max(4, (2 * n).bit_length())
    keys, row_of = np.full(n_slots, -1, np.int64), np.zeros(n_slots, np.int64)
    _index(links.near, links.far, keys, row_of)
    number = np.arange(n_vantages)

    def step(state: list[np.ndarray], batch: Batch) -> None:
        traces = batch.traces
        if traces.reply_ttl is None:
            return
        if not state:
            state += [*np.zeros((2, n), np.uint64)]
        _watch(
            traces.hop_ptr,
            traces.flags,
            traces.ttl,
            traces.ids,
            traces.reply_ttl,
            batch.of_vantage(number),
            keys,
            row_of,
            *state,
        )

    def end(states: list[list[np.ndarray]]) -> ReplyJumps:
        some = [state for state in states if state]
        if not some:
            return ReplyJumps.none(n)
        return ReplyJumps(*(np.bitwise_or.reduce(column) for column in zip(*some, strict=True)))

    return Finding(list, step, end)


@njit(cache=True, nogil=True)
def _count_runs(code, depth, as_of, run, one, more):
    """Count the hops of a tree that end a run of one link inside an AS, and of more."""
    above = np.full(256, -1, np.int64)
    for node in range(len(code)):
        at = np.int64(depth[node])
        addr = addr_of(code[node])
        here = as_of[addr] if addr >= 0 and code[node] & OWN == 0 else np.int64(-1)
        above[at] = here
        run[at] = 0
        if at == 0 or here < 0 or here != above[at - 1] or code[node] & FOLLOWS == 0:
            continue
        run[at] = run[at - 1] + 1
        if run[at] == 1:
            one[here] += 1
        else:
            more[here] += 1


def _cross_in_one(paths: DistinctPaths, asn: np.ndarray, ases: np.ndarray) -> np.ndarray:
    """(n_ases,) bool: ASes that paths cross in one hop.

    Parameters
    ----------
    paths : DistinctPaths
    asn : (n_interfaces,) int64
    ases : (n_ases,) int64, sorted
    """
    n = len(ases)
    at = np.minimum(np.searchsorted(ases, asn), n - 1)
    as_of = np.where(ases[at] == asn, at, -1)

    def start() -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(n, np.int64), np.zeros(n, np.int64)

    def step(state: tuple[np.ndarray, np.ndarray], tree: Tree) -> None:
        _count_runs(tree.code, tree.depth, as_of, np.zeros(256, np.int64), *state)

    one, more = np.sum(paths.ask(start, step), axis=0)
    return np.asarray((one > 0) & (more <= _LONGER * one))


def find_hiding(
    links: DirectedLinks,
    jumps: ReplyJumps,
    paths: DistinctPaths,
    node_of: np.ndarray,
    node_asn: np.ndarray,
    rules: Rules,
) -> np.ndarray:
    """Which pairs are of links that may hide routers.

    Parameters
    ----------
    links : DirectedLinks
        Between interfaces.
    jumps : ReplyJumps
        Of these.
    paths : DistinctPaths
    node_of : (n_interfaces,) int64
    node_asn : (n_nodes,) int64
        ``NO_ASN`` where unmapped.
    rules : Rules

    Returns
    -------
    (n_pairs,) bool
    """
    marked = np.zeros(len(links.near), bool)
    one, other = node_of[links.near], node_of[links.far]
    of_one, of_other = node_asn[one], node_asn[other]
    shown = (links.n_router > 0) & (one != other) & (of_one != NO_ASN) & (of_other != NO_ASN)
    inside = shown & (of_one == of_other)
    if not inside.any() or not (REPLY_JUMPS in rules or ONE_HOP_ASES in rules):
        return marked
    key, link = np.unique(pair_keys(one[inside], other[inside]), return_inverse=True)
    near, far = (key >> 32).astype(np.int64), key & 0xFFFFFFFF
    ases, as_of = np.unique(node_asn[near], return_inverse=True)

    prior = np.full(len(ases), _PRIOR)
    if ONE_HOP_ASES in rules:
        n_links = np.bincount(as_of, minlength=len(ases))
        ends = np.unique(np.concatenate([near, far]))
        n_routers = np.bincount(np.searchsorted(ases, node_asn[ends]), minlength=len(ases))
        is_mesh = (n_routers >= _LEAST_ROUTERS) & (n_links >= _DENSE * n_routers)
        is_mesh &= _cross_in_one(paths, node_asn[node_of], ases)
        prior[is_mesh] = _PRIOR_ONE_HOP
    says = np.zeros(len(key))
    if REPLY_JUMPS in rules:
        jumped, stayed = _vote(jumps, inside, link, len(key))
        apart = shown & ~inside
        _, between = np.unique(pair_keys(one[apart], other[apart]), return_inverse=True)
        base = _vote(jumps, apart, between, int(between.max(initial=-1)) + 1)
        says = _log_chance(jumped, stayed, _ACROSS, _ALIKE)
        says -= _log_chance(jumped, stayed, *_usual(*base))
    # By the other links of the AS: one would be its own witness.
    n_others = np.bincount(as_of, minlength=len(ases))[as_of] - 1
    share = prior[as_of]
    for _ in range(_TURNS):
        hides = 1 / (1 + np.exp(-(np.log(share / (1 - share)) + says)))
        others = np.bincount(as_of, hides, len(ases))[as_of] - hides
        share = (others + _PRIOR_LINKS * prior[as_of]) / (n_others + _PRIOR_LINKS)
        share = np.clip(share, 1e-3, 1 - 1e-3)
    marked[inside] = (hides > 0.5)[link]
    return marked


def _usual(jumped: np.ndarray, stayed: np.ndarray) -> tuple[float, float]:
    """Share of votes that jump, and correlation of those on one link, by votes on some links.

    Both are those of little data where there are few votes.
    """
    n = jumped + stayed
    share = float(np.clip((jumped.sum() + 2) / (n.sum() + 20), 0.02, 0.3))
    pairs = n * (n - 1)
    both = (jumped * (jumped - 1)).sum() + 20 * (share**2 + 0.4 * share * (1 - share))
    alike = (both / (pairs.sum() + 20) - share**2) / (share * (1 - share))
    return share, float(np.clip(alike, 0.1, 0.8))


def _log_chance(jumped: np.ndarray, stayed: np.ndarray, share: float, alike: float) -> np.ndarray:
    """Log of the beta-binomial chance of votes in some order, by their mean and correlation."""
    size = (1 - alike) / alike
    steps = np.arange(_CLASSES)

    def rising(start: float, n: np.ndarray) -> np.ndarray:
        return np.r_[0.0, np.cumsum(np.log(start + steps))][n]

    return (
        rising(share * size, jumped)
        + rising((1 - share) * size, stayed)
        - rising(size, jumped + stayed)
    )


def _vote(
    jumps: ReplyJumps, rows: np.ndarray, link: np.ndarray, n_links: int
) -> tuple[np.ndarray, np.ndarray]:
    """(n_links,) int64 each: classes of vantage points by which replies jump, and do not."""
    of_link = np.zeros((2, n_links), np.uint64)
    np.bitwise_or.at(of_link[0], link, jumps.jumped[rows])
    np.bitwise_or.at(of_link[1], link, jumps.stayed[rows])
    both = of_link[0] & of_link[1]
    jumped, stayed = np.bitwise_count(of_link & ~both).astype(np.int64)
    return jumped, stayed
