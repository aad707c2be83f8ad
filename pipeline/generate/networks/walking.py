"""Ways of packets: there, as traceroute counts hops, and back, as TTLs and delays show."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pipeline.generate.networks.arrays import TUNNELS, ULTIMATE_HOP, ZERO_TTL, Hosts, Wires
from pipeline.generate.networks.routing import (
    DELIVERED,
    Toward,
    crc_byte,
    link_toward,
    other_end,
    spread,
)
from pipeline.generate.networks.texts import put_addr

_MOST_HOPS = 60
AT_GATEWAY, WITHOUT_ROUTE, ENDLESS = 0, 1, 2  # how a way ends


class Way(NamedTuple):
    """Routers that use up a TTL, in turn; room for one way at a time.

    Attributes
    ----------
    router : int32
    addr : (n, 2) uint64
        By which the packet came in.
    ms : float64
        Up to there.
    """

    router: np.ndarray
    addr: np.ndarray
    ms: np.ndarray


class Back(NamedTuple):
    """How replies of every router come to vantage points, a row for each of these.

    Attributes
    ----------
    link : (n_vantages, n_routers) int32
        By which a router sends them; NO_ROUTE, DELIVERED.
    ttl : (n_vantages, n_routers) uint8
        What is left of their TTL.
    ms : (n_vantages, n_routers) float32
    """

    link: np.ndarray
    ttl: np.ndarray
    ms: np.ndarray


class Walked(NamedTuple):
    """Ways of some pairs of a vantage point and a target, one flow each.

    Attributes
    ----------
    pair : (n,) int64
        Its position in ``picked``.
    ptr : (n + 1,) int64
        Routers of way i are ptr[i]:ptr[i + 1].
    router : int32
    ending : (n,) uint8
    """

    pair: np.ndarray
    ptr: np.ndarray
    router: np.ndarray
    ending: np.ndarray


def room_for_walked(n: int) -> Walked:
    """Room for the ways of n pairs."""
    return Walked(
        np.empty(n, np.int64),
        np.zeros(n + 1, np.int64),
        np.empty(2 * _MOST_HOPS * n, np.int32),
        np.empty(n, np.uint8),
    )


def room_for_way() -> Way:
    """Room for the longest way."""
    n = 2 * _MOST_HOPS
    return Way(np.empty(n, np.int32), np.empty((n, 2), np.uint64), np.empty(n, np.float64))


@njit(cache=True, nogil=True)
def walk_there(wires, toward, destination, gateways, hosts, v, state, table, way):
    """The way of a flow from vantage point v to a target's gateways, into ``way``.

    A router of a tunnel does not use up a TTL. With ultimate-hop popping the last one does not
    either, and the next router answers twice; so it does after one that forwards a TTL of 0.

    Returns
    -------
    n, end : int
        Steps, and AT_GATEWAY, WITHOUT_ROUTE or ENDLESS.
    is_balanced : bool
        Whether another flow may take another way.
    """
    router, ms = np.int64(hosts.gateway[v]), hosts.delay[v]
    high, low = hosts.gateway_addr[v, 0], hosts.gateway_addr[v, 1]
    n, twice, is_balanced = 0, False, False
    for _ in range(_MOST_HOPS):
        for _ in range(2 if twice else 1):
            way.router[n], way.ms[n] = router, ms
            way.addr[n, 0], way.addr[n, 1] = high, low
            n += 1
        twice = False
        link, count = link_toward(wires, toward, router, destination, gateways, state, table)
        is_balanced |= count > 1
        if link < 0:
            return n, AT_GATEWAY if link == DELIVERED else WITHOUT_ROUTE, is_balanced
        ms += wires.delay[link]
        at, a = np.int64(other_end(wires, link, router)), wires.as_of[router]
        if wires.traits[a] & TUNNELS and wires.as_of[at] == a:
            while True:
                follow, count = link_toward(wires, toward, at, destination, gateways, state, table)
                if follow < 0:
                    break
                is_balanced |= count > 1
                if wires.as_of[other_end(wires, follow, at)] != a:
                    break
                link = follow
                ms += wires.delay[follow]
                at = np.int64(other_end(wires, link, at))
            if wires.traits[a] & ULTIMATE_HOP and follow >= 0:
                link = follow
                ms += wires.delay[follow]
                at, twice = np.int64(other_end(wires, link, at)), True
        if wires.answers[at] & ZERO_TTL and not twice:
            follow, count = link_toward(wires, toward, at, destination, gateways, state, table)
            if follow >= 0:
                is_balanced |= count > 1
                link = follow
                ms += wires.delay[link]
                at, twice = np.int64(other_end(wires, link, at)), True
        router = at
        side = 0 if wires.ends[link, 0] == router else 1
        high, low = wires.addrs[link, side, 0], wires.addrs[link, side, 1]
    return n, ENDLESS, is_balanced


@njit(cache=True, nogil=True)
def walk_rows(
    wires, targets, hosts, first, end, picked_ptr, picked, toward, way, table, text, walked
):  # fmt: skip
    """Walk to the targets first .. end - 1 from the vantage points that picked them.

    As ``trace_rows`` of ``probing`` traces to them, by the flow of a Paris traceroute; returns the
    number of ways in ``walked``.
    """
    n = 0
    row = first
    while row < end:
        asn = targets.asn[row]
        after = row + 1
        while after < end and targets.asn[after] == asn:
            after += 1
        is_spread = False  # which takes long, and to most ASes of a large network nobody may walk
        for v in range(len(hosts.asn)):
            of_v = picked[picked_ptr[v] : picked_ptr[v + 1]]
            start = picked_ptr[v] + np.searchsorted(of_v, row)
            for at in range(start, picked_ptr[v] + np.searchsorted(of_v, after)):
                if not is_spread:
                    spread(wires, asn, toward)
                    is_spread = True
                t = picked[at]
                state = hosts.sent[v]
                for i in range(put_addr(text, 0, targets.addr[t, 0], targets.addr[t, 1])):
                    state = crc_byte(state, text[i], table)
                gateways = targets.gateways[targets.gateway_ptr[t] : targets.gateway_ptr[t + 1]]
                n_steps, ending, _ = walk_there(
                    wires, toward, asn, gateways, hosts, v, state, table, way
                )
                walked.pair[n], walked.ending[n] = at, ending
                begun = walked.ptr[n]
                for step in range(n_steps):
                    walked.router[begun + step] = way.router[step]
                walked.ptr[n + 1] = begun + n_steps
                n += 1
        row = after
    return n


def room_for_back(wires: Wires, n_vantages: int) -> Back:
    """Room for the ways of all routers to some vantage points."""
    shape = n_vantages, len(wires.as_of)
    return Back(np.empty(shape, np.int32), np.empty(shape, np.uint8), np.empty(shape, np.float32))


def walk_back(
    wires: Wires, hosts: Hosts, v: int, toward: Toward, table: np.ndarray, back: Back
) -> None:
    """Find the ways of replies of all routers to vantage point v.

    Where a tunnel starts, a TTL of its own of 255 counts its routers; where it ends, the smaller of
    the two stays. So what started with 255 has counted them, what started with 64 has not
    (Y. Vanaubel et al., "Through the wormhole: tracking invisible MPLS tunnels", IMC 2017).
    """
    _walk_all_back(wires, hosts, v, toward, table, back)


@njit(cache=True, nogil=True)
def _walk_all_back(wires, hosts, v, toward, table, back):
    asn, gateways, state = hosts.asn[v], hosts.gateway[v : v + 1], hosts.back[v]
    spread(wires, asn, toward)
    for router in range(len(wires.as_of)):
        link, _ = link_toward(wires, toward, router, asn, gateways, state, table)
        back.link[v, router] = link
    for router in range(len(wires.as_of)):
        ttl: Any = np.int64(wires.initial_ttl[router])
        inside, ms = 255, hosts.delay[v]
        at = np.int64(router)
        for _ in range(_MOST_HOPS):
            link = back.link[v, at]
            if link < 0:
                break
            ms += wires.delay[link]
            a = wires.as_of[at]
            at = np.int64(other_end(wires, link, at))
            if wires.traits[a] & TUNNELS and wires.as_of[at] == a:
                inside -= 1
            else:
                ttl, inside = min(ttl, inside) - 1, 255
        back.ttl[v, router] = min(ttl, inside)
        back.ms[v, router] = ms
