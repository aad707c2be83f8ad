"""Routes: Gao-Rexford between ASes, hot potato, equal-cost paths inside.

L. Gao and J. Rexford, "Stable Internet routing without global coordination", SIGMETRICS 2000:
routes of customers before those of peers before those of providers, then the shortest; an AS tells
peers and providers of its customers' routes alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.generate.networks.arrays import Wires

NO_ROUTE, DELIVERED = -1, -2  # in place of a link
_FAR = 1 << 29
_OF_CUSTOMER, _OF_PEER, _OF_PROVIDER = 1, 2, 3  # by whose route an AS reaches another
_CUSTOMERS, _PEERS, _PROVIDERS = 0, 1, 2  # rows of ``near_ptr``


class Toward(NamedTuple):
    """Routes of every AS to one of them, and the exits of those that were asked.

    Attributes
    ----------
    length : (n_ases,) int32
        ASes up to there.
    kind : (n_ases,) int8
        Whose route; 0: none.
    queue : (n_ases,) int32
    bucket, after : (n_ases + 2,) and (n_ases,) int32
        ASes by length, as linked lists.
    exit_ptr : (n_ases, 2) int32
        Exits of an AS in ``router`` and ``link``; -1: not asked yet.
    router, link : int32
    n_exits : (1,) int32
    """

    length: np.ndarray
    kind: np.ndarray
    queue: np.ndarray
    bucket: np.ndarray
    after: np.ndarray
    exit_ptr: np.ndarray
    router: np.ndarray
    link: np.ndarray
    n_exits: np.ndarray


def room_for_routes(wires: Wires) -> Toward:
    """Room for the routes to one AS at a time."""
    n = len(wires.asn)
    return Toward(
        np.empty(n, np.int32),
        np.empty(n, np.int8),
        np.empty(n, np.int32),
        np.empty(n + 2, np.int32),
        np.empty(n, np.int32),
        np.empty((n, 2), np.int32),
        np.empty(len(wires.exit_router), np.int32),
        np.empty(len(wires.exit_router), np.int32),
        np.zeros(1, np.int32),
    )


def measure_inside(wires: Wires) -> None:
    """Fill in ``distance``: the costs between routers of each AS."""
    most = int(wires.size.max(initial=1))
    order = np.argsort(wires.as_of, kind="stable").astype(np.int32)
    starts = np.searchsorted(wires.as_of[order], np.arange(len(wires.asn)))
    _measure(wires, order, starts, np.empty(most * most + 1, np.int32), np.empty(most, np.bool_))


@njit(cache=True, nogil=True)
def _measure(wires, order, starts, queue, waits):
    for a in range(len(wires.size)):
        n, base = wires.size[a], wires.inside_ptr[a]
        for at in range(starts[a], starts[a] + n):
            end = order[at]
            row = base + np.int64(wires.place[end]) * n
            for k in range(n):
                wires.distance[row + k] = _FAR
                waits[k] = False
            wires.distance[row + wires.place[end]] = 0
            queue[0] = end
            head, tail, room = 0, 1, len(queue)
            while head != tail:
                router = queue[head]
                head = (head + 1) % room
                here = wires.place[router]
                waits[here] = False
                for k in range(wires.arc_ptr[router], wires.arc_ptr[router + 1]):
                    link = wires.arc[k]
                    cost = wires.cost[link]
                    if cost == 0:
                        continue
                    other = other_end(wires, link, router)
                    far = wires.distance[row + here] + cost
                    there = wires.place[other]
                    if far < wires.distance[row + there]:
                        wires.distance[row + there] = far
                        if not waits[there]:
                            waits[there] = True
                            queue[tail] = other
                            tail = (tail + 1) % room


@njit(cache=True, nogil=True, inline="always")
def other_end(wires, link, router):
    """The other router of a link."""
    return wires.ends[link, 1] if wires.ends[link, 0] == router else wires.ends[link, 0]


@njit(cache=True, nogil=True)
def spread(wires, destination, toward):
    """Find the routes of every AS to one."""
    length, kind, queue = toward.length, toward.kind, toward.queue
    length[:] = -1
    kind[:] = 0
    toward.exit_ptr[:, 0] = -1
    toward.n_exits[0] = 0
    length[destination], kind[destination] = 0, _OF_CUSTOMER
    queue[0] = destination
    head, tail = 0, 1
    if not wires.policy:
        while head < tail:
            at = queue[head]
            head += 1
            for row in range(3):
                for k in range(wires.near_ptr[row, at], wires.near_ptr[row, at + 1]):
                    other = wires.near[k]
                    if not kind[other]:
                        length[other], kind[other] = length[at] + 1, _OF_CUSTOMER
                        queue[tail] = other
                        tail += 1
        return
    while head < tail:  # up
        at = queue[head]
        head += 1
        for k in range(wires.near_ptr[_PROVIDERS, at], wires.near_ptr[_PROVIDERS, at + 1]):
            above = wires.near[k]
            if not kind[above]:
                length[above], kind[above] = length[at] + 1, _OF_CUSTOMER
                queue[tail] = above
                tail += 1
    n_own = tail  # they may be told to everybody
    for i in range(n_own):
        at = queue[i]
        for k in range(wires.near_ptr[_PEERS, at], wires.near_ptr[_PEERS, at + 1]):
            peer = wires.near[k]
            if kind[peer] == _OF_CUSTOMER:
                continue
            if not kind[peer]:
                kind[peer] = _OF_PEER
                queue[tail] = peer
                tail += 1
            elif length[at] + 1 >= length[peer]:
                continue
            length[peer] = length[at] + 1
    bucket, after = toward.bucket, toward.after
    farthest = 0
    for i in range(tail):
        farthest = max(farthest, length[queue[i]])
    bucket[: farthest + 2] = -1
    for i in range(tail):
        at = queue[i]
        after[at] = bucket[length[at]]
        bucket[length[at]] = at
    far = 0
    while far <= farthest:  # down, the nearest first
        at = bucket[far]
        while at >= 0:
            for k in range(wires.near_ptr[_CUSTOMERS, at], wires.near_ptr[_CUSTOMERS, at + 1]):
                below = wires.near[k]
                if not kind[below]:
                    length[below], kind[below] = far + 1, _OF_PROVIDER
                    if far + 1 > farthest:
                        farthest = far + 1
                        bucket[far + 2] = -1
                    after[below] = bucket[far + 1]
                    bucket[far + 1] = below
            at = after[at]
        far += 1


@njit(cache=True, nogil=True)
def _find_exits(wires, a, toward):
    """Routers of an AS with a link to one that it sends packets to, and the first such link."""
    first = n = toward.n_exits[0]
    kind = toward.kind[a]
    if wires.policy and kind:
        row = kind - 1
        for k in range(wires.near_ptr[row, a], wires.near_ptr[row, a + 1]):
            other = wires.near[k]
            if wires.pair[k] < 0 or toward.length[other] + 1 != toward.length[a]:
                continue
            of_other = toward.kind[other]
            if of_other == _OF_CUSTOMER if kind != _OF_PROVIDER else of_other != 0:
                n = _add_exits(wires, wires.pair[k], toward, first, n)
    elif kind:
        best, pair = -1, -1  # of several, the lowest number
        for row in range(3):
            for k in range(wires.near_ptr[row, a], wires.near_ptr[row, a + 1]):
                other = wires.near[k]
                if not toward.kind[other] or toward.length[other] + 1 != toward.length[a]:
                    continue
                if best < 0 or wires.asn[other] < wires.asn[best]:
                    best, pair = other, wires.pair[k]
        if pair >= 0:
            n = _add_exits(wires, pair, toward, first, n)
    toward.exit_ptr[a, 0], toward.exit_ptr[a, 1] = first, n
    toward.n_exits[0] = n


@njit(cache=True, nogil=True)
def _add_exits(wires, pair, toward, first, n):
    for k in range(wires.pair_ptr[pair], wires.pair_ptr[pair + 1]):
        router, link = wires.exit_router[k], wires.exit_link[k]
        at = first
        while at < n and toward.router[at] != router:
            at += 1
        if at == n:
            toward.router[n], toward.link[n] = router, link
            n += 1
        elif link < toward.link[at]:
            toward.link[at] = link
    return n


@njit(cache=True, nogil=True)
def link_toward(wires, toward, router, destination, gateways, state, table):
    """The link over which a router sends a packet of a flow.

    Parameters
    ----------
    destination : int
        AS to which ``toward`` has the routes.
    gateways : int32
        Its routers behind which the packet is delivered.
    state : uint32
        CRC-32 of the flow, not yet inverted.
    table : (256,) uint32

    Returns
    -------
    link : int
        Or NO_ROUTE, or DELIVERED.
    n : int
        Number of links from which it was chosen.
    """
    a = wires.as_of[router]
    base, n = wires.inside_ptr[a], np.int64(wires.size[a])
    here = wires.place[router]
    if a == destination:
        end, best = -1, 0
        for gateway in gateways:
            if gateway == router:
                return DELIVERED, 1
            far = wires.distance[base + wires.place[gateway] * n + here]
            if end < 0 or far < best or (far == best and gateway < end):
                end, best = gateway, far
    else:
        if not toward.kind[a]:
            return NO_ROUTE, 1
        if toward.exit_ptr[a, 0] < 0:
            _find_exits(wires, a, toward)
        end, best, link = -1, 0, NO_ROUTE
        for at in range(toward.exit_ptr[a, 0], toward.exit_ptr[a, 1]):
            out = toward.router[at]
            far = wires.distance[base + wires.place[out] * n + here]
            if end < 0 or far < best or (far == best and out < end):
                end, best, link = out, far, toward.link[at]
        if end < 0 or end == router:
            return link, 1
    row = base + wires.place[end] * n
    count, found = 0, NO_ROUTE
    for k in range(wires.arc_ptr[router], wires.arc_ptr[router + 1]):
        if _leads(wires, wires.arc[k], router, row, best):
            count += 1
            if count == 1:
                found = wires.arc[k]
    if count < 2:
        return found, 1
    wanted = _hashed(state, router, table) % np.uint32(count)
    for k in range(wires.arc_ptr[router], wires.arc_ptr[router + 1]):
        if _leads(wires, wires.arc[k], router, row, best):
            if wanted == 0:
                return np.int64(wires.arc[k]), count
            wanted -= np.uint32(1)
    return found, count


@njit(cache=True, nogil=True, inline="always")
def _leads(wires, link, router, row, left):
    """Whether a link is on a shortest way inside the AS."""
    cost = wires.cost[link]
    if cost == 0:
        return False
    return wires.distance[row + wires.place[other_end(wires, link, router)]] + cost == left


@njit(cache=True, nogil=True)
def crc_byte(state, byte, table):
    """A CRC-32, not inverted, one byte later."""
    return table[(state ^ np.uint32(byte)) & np.uint32(255)] ^ (state >> np.uint32(8))


@njit(cache=True, nogil=True)
def crc_number(state, number, table):
    """A CRC-32, not inverted, after a number in decimals."""
    power = 1
    while power * 10 <= number:
        power *= 10
    while power:
        state = crc_byte(state, 48 + number // power % 10, table)
        power //= 10
    return state


@njit(cache=True, nogil=True)
def _hashed(state, router, table):
    state = crc_number(crc_byte(state, 64, table), router, table)  # @
    return state ^ np.uint32(0xFFFF_FFFF)


def crc_table() -> np.ndarray:
    """Of CRC-32 as zlib computes it, (256,) uint32."""
    found = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        odd = (found & np.uint32(1)).astype(bool)
        found = (found >> np.uint32(1)) ^ np.where(odd, np.uint32(0xEDB8_8320), np.uint32(0))
    return found
