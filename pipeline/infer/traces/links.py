"""Links between interfaces, from consecutive answers.

A link joins the hops at two consecutive TTLs of one trace, never across an unanswered TTL.
``bridge_gaps`` also joins the two answers around a run of unanswered TTLs; such pairs are counted
apart, and a pair that was also seen directly is a direct link. Two hops of one address are not
a link. The last hop of a trace that is its destination's own reply counts only if the address
answered as a router elsewhere; these sightings are counted apart too, since the reply need not
come from the interface that the packet came in by.

A link is **labelled** if in some trace its far end, at the TTL after its near end, answered with an
MPLS label stack: a router returns the stack that the packet came in with (RFC 4950, section 3), so
the packet crossed the link under labels. These are the links of explicit tunnels (Sommers et al.,
IMC 2011; Donnet et al., CCR 2012), from the first that carries a label to the last: where labels
are popped one hop early, the last hop of the path, which carries none, is not marked.

In classic traces each probe goes its own way where load is balanced, so two successive answers may
be of routers of two ways (Augustin et al., IMC 2006). A pair that no other trace shows is
*doubtful* if it is rare at both its ends: less than half as often seen as the commonest pair from
its near end, and as that to its far end. It is also doubtful if other traces show both ends, with
other hops behind the near one and before the far one: what is known of both needs no such witness.
Doubtful pairs count as if unanswered TTLs of unknown number lay between the two. Where balanced
ways are of one length, false pairs are as frequent as true ones, and all that is before an address
seems to be one router: so two addresses behind one that are before the same two, by classic traces
alone, are not joined by these (``crossed_ways``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numba import njit

from pipeline.infer.rule import CHOSEN, Rule
from pipeline.infer.traces.counting import PairCounter, add_up, slot_of
from pipeline.infer.traces.passes import Batch, Finding
from pipeline.infer.traces.rules import is_repeated
from pipeline.model.columns.keys import pair_keys, split_key
from pipeline.model.columns.ragged import offsets
from pipeline.model.measured.traces import LABELLED

DOUBTFUL_LINKS = Rule(
    "doubtful-links",
    "routers",
    "answers that follow one another in classic traces rarely, or in these alone where others show "
    "both, are not linked",
    "method of traces, successors and predecessors",
    "less than half of the commonest: " + CHOSEN,
    "Augustin et al., IMC 2006",
)

REPEATED_HOPS = Rule(
    "repeated-hops",
    "gaps",
    "the first of two equal hops stands for a router that does not answer",
    "addresses that answer at two TTLs in a row",
    source="TNT (Vanaubel et al., TMA 2019)",
)
TUNNEL_STARTS = Rule(
    "tunnel-starts",
    "routers",
    "what follows a router where tunnels start, as repeated hops show, joins it to no other",
    "addresses that answer at two TTLs in a row",
    origin="half of what follows it, and 2 addresses: chosen on simulated networks",
)
CROSSED_WAYS = Rule(
    "crossed-ways",
    "routers",
    "by classic traces, two addresses behind one that are before the same two are not joined",
    "method of traces, successors and predecessors",
    source="Augustin et al., IMC 2006",
)
_OFTEN = 0.25  # repeats for each trace without one; where paths changed they are rarer
_TUNNELS = 2
_MOST_WAYS = 32  # that are compared with each other


@dataclass(frozen=True, eq=False)
class DirectedLinks:
    """Pairs of interfaces in the order in which traces passed them, sorted by (near, far).

    Attributes
    ----------
    near, far : (n_pairs,) int64
        Ids of addresses.
    n_router : (n_pairs,) int64
        Traces in which ``far``, at the next TTL, answered as a router on the way.
    n_destination : (n_pairs,) int64
        Traces in which ``far``, at the next TTL, was the destination's own final reply.
    n_bridged : (n_pairs,) int64
        Traces in which unanswered TTLs lie between the two.
    n_past_one, n_past_two : (n_pairs,) int64
        Those of them with exactly one such TTL, and with two.
    n_repeated : (n_pairs,) int64
        Traces in which ``far`` answered at the next TTL, and again at the one after it.
    n_paris : (n_pairs,) int64
        Those of ``n_router`` and ``n_repeated`` that are not by a classic method.
    labelled : (n_pairs,) bool
        Some trace crossed it under MPLS labels.
    """

    near: np.ndarray
    far: np.ndarray
    n_router: np.ndarray
    n_destination: np.ndarray
    n_bridged: np.ndarray
    n_past_one: np.ndarray
    n_past_two: np.ndarray
    n_repeated: np.ndarray
    n_paris: np.ndarray
    labelled: np.ndarray

    def count_of_each(self, n: int) -> np.ndarray:
        """(n,) int64: pairs that each of ``n`` addresses is an end of, seen on the way."""
        shown = self.n_router > 0
        ends = np.concatenate([self.near[shown], self.far[shown]])
        return np.bincount(ends, minlength=n)

    def without_doubtful(self, n: int) -> DirectedLinks:
        """The same, with pairs of ``n`` addresses that are doubtful counted as bridged."""
        from_near, to_far = np.zeros((2, n), np.int64)
        np.maximum.at(from_near, self.near, self.n_router)
        np.maximum.at(to_far, self.far, self.n_router)
        least = np.minimum(from_near[self.near], to_far[self.far])
        is_doubtful = (self.n_paris == 0) & (2 * self.n_router < least)
        by_others = self.n_paris > 0
        leads_on, is_led_to = np.zeros((2, n), bool)
        leads_on[self.near[by_others]] = True
        is_led_to[self.far[by_others]] = True
        is_doubtful |= ~by_others & leads_on[self.near] & is_led_to[self.far]
        n_doubtful = np.where(is_doubtful, self.n_router, 0)
        return replace(
            self, n_router=self.n_router - n_doubtful, n_bridged=self.n_bridged + n_doubtful
        )

    def crossed_ways(self) -> np.ndarray:
        """(n_pairs,) bool: pairs that may be between the hops of balanced ways.

        Each classic probe goes its own way, so all hops of one distance are followed by all of the
        next one: two addresses behind one are before the same two. Pairs that other traces show are
        not among them.
        """
        crossed = np.zeros(len(self.near), bool)
        shown = self.n_router > 0
        row = np.flatnonzero(shown & (self.n_paris == 0))
        # Of far ends that several are before, and by predecessors that are before several: the rest
        # shows nothing, and is most of what is around a router of many links.
        row = row[np.bincount(self.far[row])[self.far[row]] > 1]
        shown[shown] = np.bincount(self.near[shown])[self.near[shown]] > 1
        # Each pair with every predecessor of its near end.
        ptr = offsets(np.bincount(self.far[shown], minlength=int(self.near.max(initial=-1)) + 1))
        before = self.near[shown][np.argsort(self.far[shown], kind="stable")]
        pair, at = _each(ptr[self.near[row]], ptr[self.near[row] + 1])
        group = before[at] << 32 | self.far[row[pair]]
        order = np.argsort(group, kind="stable")
        row, group = row[pair[order]], group[order]
        # Two near ends that share a predecessor and a far end; twice, if they share two of these.
        begins = np.searchsorted(group, group)
        ends = np.minimum(np.searchsorted(group, group, side="right"), begins + _MOST_WAYS)
        one, other = _each(begins, ends)
        apart = self.near[row[one]] != self.near[row[other]]
        row, other = row[one[apart]], row[other[apart]]
        ways = pair_keys(self.near[row], self.near[other])
        distinct = _with_two(ways, self.far[row])
        crossed[row[np.isin(ways, distinct)]] = True
        return crossed

    def restrict(self, kept: np.ndarray) -> DirectedLinks:
        """Pairs whose addresses are both kept, in the numbering of those.

        Parameters
        ----------
        kept : (n_addrs,) bool
        """
        new_id = np.cumsum(kept) - 1
        both = kept[self.near] & kept[self.far]
        return DirectedLinks(
            new_id[self.near[both]],
            new_id[self.far[both]],
            self.n_router[both],
            self.n_destination[both],
            self.n_bridged[both],
            self.n_past_one[both],
            self.n_past_two[both],
            self.n_repeated[both],
            self.n_paris[both],
            self.labelled[both],
        )

    def after_tunnels(self) -> np.ndarray:
        """(n_pairs,) bool: pairs whose near end starts tunnels that hide routers.

        Half of what follows it, two addresses at least, repeats: the rest may be behind a tunnel,
        too.
        """
        hides = (self.n_repeated > 0) & (self.n_router == 0)
        n = int(self.near.max(initial=-1)) + 1
        n_hidden = np.bincount(self.near[hides], minlength=n)
        n_all = np.bincount(self.near[hides | (self.n_router > 0)], minlength=n)
        return ((n_hidden >= _TUNNELS) & (2 * n_hidden >= n_all))[self.near]

    def without(self, pairs: np.ndarray) -> DirectedLinks:
        """The same as if some pairs, (n_pairs,) bool, were not seen one right after the other."""
        return replace(self, n_router=np.where(pairs, 0, self.n_router))

    def read_repeated(self, as_gaps: bool) -> DirectedLinks:
        """The same with repeated hops taken for unanswered TTLs, or for answered ones.

        Where a pair was mostly seen so, the second reply was lost where only one was seen. Where it
        rarely was, one path was longer than another.
        """
        if not as_gaps:
            return replace(self, n_router=self.n_router + self.n_repeated)
        is_hidden = self.n_repeated > _OFTEN * self.n_router
        n_hidden = np.where(is_hidden, self.n_router + self.n_repeated, 0)
        return replace(
            self,
            n_router=np.where(is_hidden, 0, self.n_router + self.n_repeated),
            n_bridged=self.n_bridged + n_hidden,
            n_past_one=self.n_past_one + n_hidden,
        )


def _each(begins: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of some ranges, one after the other: (range, position) of each."""
    n = ends - begins
    of = np.repeat(np.arange(len(n)), n)
    return of, np.arange(len(of)) - np.repeat(np.cumsum(n) - n - begins, n)


def _with_two(keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Keys that have two values or more."""
    order = np.lexsort((values, keys))
    keys, values = keys[order], values[order]
    differs = (keys[1:] == keys[:-1]) & (values[1:] != values[:-1])
    return np.unique(keys[1:][differs])


@njit(cache=True, nogil=True)
def _count(hop_ptr, flags, ttl, ids, classic, keys, counts):
    n_new = 0
    for trace in range(len(hop_ptr) - 1):
        end = hop_ptr[trace + 1]
        for row in range(hop_ptr[trace] + 1, end):
            near, far = np.int64(ids[row - 1]), np.int64(ids[row])
            if far < 0 or near < 0 or near == far:
                continue
            key = (near << 32) | far
            slot = slot_of(keys, key)
            if keys[slot] != key:
                keys[slot] = key
                n_new += 1
            n_unanswered = np.int64(ttl[row]) - np.int64(ttl[row - 1]) - 1
            if n_unanswered != 0:
                counts[slot, 2] += 1
                if n_unanswered == 1 or n_unanswered == 2:
                    counts[slot, 2 + n_unanswered] += 1
            elif row == end - 1 and flags[trace] == 1:
                counts[slot, 1] += 1
            else:
                counts[slot, 5 if is_repeated(ttl, ids, row, end) else 0] += 1
                counts[slot, 6] += not classic[trace]
    return n_new


@njit(cache=True, nogil=True)
def _count_labelled(hop_ptr, ttl, ids, kind, keys, counts):
    n_new = 0
    for trace in range(len(hop_ptr) - 1):
        for row in range(hop_ptr[trace] + 1, hop_ptr[trace + 1]):
            near, far = np.int64(ids[row - 1]), np.int64(ids[row])
            if kind[row] & LABELLED == 0 or ttl[row] != ttl[row - 1] + 1:
                continue
            if far < 0 or near < 0 or near == far:
                continue
            key = (near << 32) | far
            slot = slot_of(keys, key)
            if keys[slot] != key:
                keys[slot] = key
                n_new += 1
            counts[slot, 0] += 1
    return n_new


# Pairs of successive answers, and those under labels.
_Tables: TypeAlias = tuple[PairCounter, PairCounter]


def count_links() -> Finding[_Tables, DirectedLinks]:
    """Count every pair of successive answers.

    Near addresses are always routers: a destination's own reply is the last of its trace.
    """

    def step(tables: _Tables, batch: Batch) -> None:
        traces = batch.traces
        hops = traces.hop_ptr, traces.flags, traces.ttl, traces.ids, traces.classic
        table, under_labels = tables
        table.reserve(len(traces.ids))
        table.n_used += _count(*hops, table.keys, table.counts)
        if (traces.kind & LABELLED).any():
            under_labels.reserve(len(traces.ids))
            under_labels.n_used += _count_labelled(
                traces.hop_ptr,
                traces.ttl,
                traces.ids,
                traces.kind,
                under_labels.keys,
                under_labels.counts,
            )

    return Finding(lambda: (PairCounter(7), PairCounter(1)), step, _add_up)


def _add_up(tables: list[_Tables]) -> DirectedLinks:
    keys, counts = add_up([table.rows() for table, _ in tables])
    labelled = np.zeros(len(keys), bool)
    for _, under_labels in tables:
        labelled[np.searchsorted(keys, under_labels.rows()[0])] = True
    near, far = split_key(keys)
    n_router, n_destination, n_bridged, n_past_one, n_past_two, n_repeated, n_paris = counts.T
    return DirectedLinks(
        near,
        far,
        n_router,
        n_destination,
        n_bridged,
        n_past_one,
        n_past_two,
        n_repeated,
        n_paris,
        labelled,
    )


@dataclass(frozen=True, eq=False)
class NodeLinks:
    """Links between nodes, each unordered pair once, sorted; near < far.

    Attributes
    ----------
    near, far : (n_links,) int64
        Node ids.
    n_traces : (n_links,) int64
        Traces that showed the link, both directions: directly, or across a gap where bridged.
    bridged : (n_links,) bool
        Seen across unanswered TTLs only.
    labelled : (n_links,) bool
        Some trace crossed it under MPLS labels, in either direction.
    n_within_node : int
        Pairs of interfaces on one node.
    via_ixp : (n_links,) bool or None
        Some packets came in by an address on the LAN of an exchange point. None: not known.
    may_hide : (n_links,) bool or None
        It may hide routers (``tunnels``). None: not looked for.
    """

    near: np.ndarray
    far: np.ndarray
    n_traces: np.ndarray
    bridged: np.ndarray
    labelled: np.ndarray
    n_within_node: int
    via_ixp: np.ndarray | None = None
    may_hide: np.ndarray | None = None

    def columns(self) -> dict[str, np.ndarray]:
        """What a topology keeps of each link."""
        columns = {"n_traces": self.n_traces, "bridged": self.bridged, "mpls": self.labelled}
        more = {"via_ixp": self.via_ixp, "may_hide": self.may_hide}
        return columns | {name: column for name, column in more.items() if column is not None}


def join_links(
    links: DirectedLinks,
    node_of: np.ndarray,
    bridge_gaps: bool,
    on_lan: np.ndarray | None = None,
    hiding: np.ndarray | None = None,
) -> NodeLinks:
    """Pool both directions of every link, between the nodes that its interfaces belong to.

    Parameters
    ----------
    links : DirectedLinks
    node_of : (n_interfaces,) int64
    bridge_gaps : bool
        Keep pairs that were seen only across unanswered TTLs.
    on_lan : (n_interfaces,) bool or None
        Addresses on LANs of exchange points. None: not known.
    hiding : (n_pairs,) bool or None
        Pairs of links that may hide routers. None: not looked for.
    """
    one, other = node_of[links.near], node_of[links.far]
    direct = links.n_router + links.n_destination
    used = (direct > 0) | ((links.n_bridged > 0) & bridge_gaps)
    apart = one != other
    n_within = int(np.count_nonzero(used & ~apart))
    keep = used & apart
    key = pair_keys(one, other)
    distinct, inverse = np.unique(key[keep], return_inverse=True)
    n_direct = np.zeros(len(distinct), np.int64)
    n_bridged = np.zeros(len(distinct), np.int64)
    np.add.at(n_direct, inverse, direct[keep])
    np.add.at(n_bridged, inverse, links.n_bridged[keep])
    labelled = np.zeros(len(distinct), bool)
    labelled[inverse[links.labelled[keep]]] = True
    near, far = split_key(distinct)
    bridged = n_direct == 0
    via_ixp = None
    if on_lan is not None:
        by_lan = (links.n_router > 0) & on_lan[links.far]
        via_ixp = np.bincount(inverse, by_lan[keep], len(distinct)) > 0
    may_hide = None
    if hiding is not None:
        may_hide = (np.bincount(inverse, hiding[keep], len(distinct)) > 0) & ~bridged
    n_traces = np.where(bridged, n_bridged, n_direct)
    return NodeLinks(near, far, n_traces, bridged, labelled, n_within, via_ixp, may_hide)
