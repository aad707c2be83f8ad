"""The paths that a multipath traceroute shows, as traces that show each of its links once.

Such a measurement (scamper's tracelb, after the MDA of Augustin et al., IMC 2007) sends probes of
many flows to each TTL. A load balancer keeps a flow on one path, so what answers a flow at two
consecutive TTLs is joined by a link; what answers *different* flows need not be. The rules:

- A link joins the answers of **one flow** at consecutive TTLs. Never what merely stands at
  consecutive TTLs, never across an unanswered TTL, and not what a record calls a link of several
  hops.
- The first node was found before flows were distinguished. It is joined to the answers at the next
  TTL if it is the first hop, which all flows share.
- A balancer may **ignore flows**: then one flow is answered by two addresses at one TTL, and what
  answers it later may be behind either. Nothing at that TTL or after it is joined to what follows.
  (A late answer of another router looks the same, and costs links too.)
- A link is in **one path**, however many flows crossed it: it counts as seen by one trace, which
  the measurement is. Links follow one another in a path where one flow crossed both. The first
  path stands for the measurement; the others are marked ``PART_FURTHER`` and do not count as
  traces. A path behind whose last hop some flow was answered is marked ``PART_CUT``: that hop was
  not the last to answer. So is one that ends at a router: probing stops once a hop's next hops
  are known well enough, so a silent rest shows nothing.
- A node's RTT is the smallest of its answers at that TTL. It answered as a router if it ever sent
  time exceeded there, and under MPLS labels if it ever sent some. Answers without links are paths
  of one hop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.model.measured.traces import (
    KIND_TIME_EXCEEDED,
    KIND_UNKNOWN,
    LABELLED,
    PART_CUT,
    PART_FURTHER,
)

# What answered one probe.
ANSWER = np.dtype(
    [
        ("flow", np.int64),
        ("ttl", np.int64),  # of the probe, 1 to 255
        ("high", np.uint64),  # who answered
        ("low", np.uint64),
        ("rtt_ms", np.float32),  # NaN: unknown
        ("kind", np.uint8),  # KIND_*, LABELLED
    ],
    align=True,
)


class Head(NamedTuple):
    """What the paths of one measurement share."""

    src_high: np.uint64  # the source's address
    src_low: np.uint64
    dst_high: np.uint64  # and the destination's
    dst_low: np.uint64
    start_s: float  # seconds since 1970


@njit(cache=True, nogil=True)
def _sorted_by(order, values):
    """``order``, stably sorted by the values that it points to."""
    return order[np.argsort(values[order], kind="mergesort")]


@njit(cache=True, nogil=True)
def _number_nodes(answers, n, node_of):
    """Number the distinct (TTL, address) from 1 on; returns their number and an answer of each."""
    order = _sorted_by(np.arange(n), answers["low"][:n])
    order = _sorted_by(order, answers["high"][:n])
    order = _sorted_by(order, answers["ttl"][:n])
    sample = np.zeros(n + 1, np.int64)
    last, n_nodes = -1, 0
    for i in order:
        if (
            last < 0
            or answers[i].ttl != answers[last].ttl
            or answers[i].high != answers[last].high
            or answers[i].low != answers[last].low
        ):
            n_nodes += 1
            sample[n_nodes] = i
        node_of[i] = n_nodes
        last = i
    return n_nodes, sample


@njit(cache=True, nogil=True)
def write_paths(answers, n, first_ttl, first_high, first_low, splits_at, head, columns):
    """Write the paths of one measurement into the rows after those of ``columns``.

    Parameters
    ----------
    answers : (>= n,) ANSWER
        Answers in any order; of several to one probe the first.
    n : int
    first_ttl, first_high, first_low : int, uint64, uint64
        TTL and address of the first node, whose flows are not known; TTL 0 if there is none.
    splits_at : int
        The smallest TTL at which one *probe* had answers of two addresses; 256 if there is none.
    head : Head
    columns : ColumnArrays
        With room for n + 1 traces and 2 n + 1 replies.
    """
    count, part = columns.counts[0], columns.part
    flow, ttl = answers["flow"][:n], answers["ttl"][:n]
    node_of = np.zeros(n, np.int64)
    n_nodes, sample = _number_nodes(answers, n, node_of)

    # Per flow by TTL, answers of one node at one TTL next to each other.
    by_flow = _sorted_by(np.arange(n), node_of)  # ascending node, hence ascending TTL
    by_flow = _sorted_by(by_flow, flow)
    for k in range(1, n):
        i, j = by_flow[k - 1], by_flow[k]
        if flow[i] == flow[j] and ttl[i] == ttl[j] and node_of[i] != node_of[j]:
            splits_at = min(splits_at, ttl[j])
    if splits_at < 256:
        count.n_split_flows += 1

    # crossed[k]: key of the link by which the flow came to answer by_flow[k]; -1: none is shown.
    crossed = np.full(n, -1, np.int64)
    goes_on = np.zeros(n_nodes + 1, np.bool_)
    goes_on[0] = n > 0
    joins_first = first_ttl == 1
    before = -1  # where the answers of the flow at the TTL before begin, in by_flow
    here = 0
    for k in range(n):
        j = by_flow[k]
        if k == 0 or flow[by_flow[k - 1]] != flow[j]:
            before, here = -1, k
        elif ttl[by_flow[k - 1]] != ttl[j]:
            before, here = here, k
        if before < 0:
            if joins_first and ttl[j] == 2:
                crossed[k] = node_of[j]
            continue
        for m in range(before, here):
            goes_on[node_of[by_flow[m]]] = True
        i = by_flow[before]
        if ttl[i] + 1 == ttl[j] and ttl[i] < splits_at:
            crossed[k] = (node_of[i] << 32) | node_of[j]

    keys = np.unique(crossed)
    if len(keys) and keys[0] < 0:
        keys = keys[1:]
    n_links = len(keys)
    after = np.full(n_links, -1, np.int64)  # the link that follows in its path
    leads = np.ones(n_links, np.bool_)  # it is the first of its path
    joined = np.zeros(n_nodes + 1, np.bool_)
    for key in keys:
        joined[key >> 32] = True
        joined[key & 0xFFFFFFFF] = True
    last_link, last_k = -1, -1
    for k in range(n):
        if crossed[k] < 0:
            continue
        link = np.searchsorted(keys, crossed[k])
        if (
            last_k >= 0
            and flow[by_flow[last_k]] == flow[by_flow[k]]
            and keys[last_link] & 0xFFFFFFFF == keys[link] >> 32
            and after[last_link] < 0
            and leads[link]
        ):
            after[last_link] = link
            leads[link] = False
        last_link, last_k = link, k

    rtt = np.full(n_nodes + 1, np.nan, np.float32)
    kind = np.full(n_nodes + 1, KIND_UNKNOWN, np.uint8)
    for node in range(1, n_nodes + 1):
        kind[node] = answers[sample[node]].kind
    for i in range(n):
        node, value = node_of[i], answers[i].rtt_ms
        if value < rtt[node] or np.isnan(rtt[node]):
            rtt[node] = value
        labelled = (kind[node] | answers[i].kind) & LABELLED
        if answers[i].kind & ~LABELLED == KIND_TIME_EXCEEDED:
            kind[node] = KIND_TIME_EXCEEDED
        kind[node] |= labelled

    row, reply = count.n_traces, count.n_replies
    first_row = row
    at_link = 0
    path = np.empty(257, np.int64)
    for node in range(n_nodes + 1):
        if not joined[node] and (node > 0 or first_ttl > 0):
            path[0] = node
            row, reply = _write(
                path, 1, answers, sample, rtt, kind, goes_on, first_ttl, first_high,
                first_low, head, columns, row, reply,
            )  # fmt: skip
            if row > first_row + 1:
                part[row - 1] |= PART_FURTHER
        while at_link < n_links and keys[at_link] >> 32 == node:
            link = at_link
            at_link += 1
            if not leads[link]:
                continue
            path[0] = node
            length = 1
            while link >= 0:
                path[length] = keys[link] & 0xFFFFFFFF
                length += 1
                link = after[link]
            row, reply = _write(
                path, length, answers, sample, rtt, kind, goes_on, first_ttl, first_high,
                first_low, head, columns, row, reply,
            )  # fmt: skip
            if row > first_row + 1:
                part[row - 1] |= PART_FURTHER
    if row == first_row:  # nobody answered
        row, reply = _write(
            path, 0, answers, sample, rtt, kind, goes_on, first_ttl, first_high,
            first_low, head, columns, row, reply,
        )  # fmt: skip
    count.n_traces, count.n_replies = row, reply


@njit(cache=True, nogil=True)
def _write(
    path, length, answers, sample, rtt, kind, goes_on, first_ttl, first_high, first_low, head,
    columns, row, reply,
):  # fmt: skip
    """Write one path as a trace; returns the next free row and reply."""
    columns.src_addr[row, 0], columns.src_addr[row, 1] = head.src_high, head.src_low
    columns.dst_addr[row, 0], columns.dst_addr[row, 1] = head.dst_high, head.dst_low
    columns.start_s[row] = head.start_s
    for k in range(length):
        node = path[k]
        if node == 0:
            columns.ttl[reply] = first_ttl
            columns.addr[reply, 0], columns.addr[reply, 1] = first_high, first_low
        else:
            answer = answers[sample[node]]
            columns.ttl[reply] = answer.ttl
            columns.addr[reply, 0], columns.addr[reply, 1] = answer.high, answer.low
        columns.rtt_ms[reply] = rtt[node]
        columns.kind[reply] = kind[node]
        columns.reply_ttl[reply] = 0
        reply += 1
    columns.part[row] = 0
    if length:
        last = path[length - 1]
        if goes_on[last] or kind[last] & ~LABELLED == KIND_TIME_EXCEEDED:
            columns.part[row] = PART_CUT
    columns.reply_ptr[row + 1] = reply
    return row + 1, reply
