"""Traceroutes through a network, as columns: TTL after TTL, until something ends a trace.

What chance decides of a trace (whether a limited router answers, how long a reply waits) is drawn
from a stream of its own, by seed, vantage point, method and target: vantage points are independent
of one another, and so are traces.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pipeline.generate.networks.arrays import (
    CARRIER_NAT,
    FIREWALLED,
    LOOPBACK,
    ONLY_BORDER,
    OUTGOING,
    REWRITING,
)
from pipeline.generate.networks.delays import QUEUE_MS, QUEUED, REPLY_MS
from pipeline.generate.networks.routing import crc_byte, crc_number, other_end, spread
from pipeline.generate.networks.texts import put_addr
from pipeline.generate.networks.walking import (
    AT_GATEWAY,
    DELIVERED,
    WITHOUT_ROUTE,
    walk_there,
)
from pipeline.model.addresses import V4_PREFIX
from pipeline.model.random_words import draw_unit, mix, unit

COMPLETED, GAP_LIMIT, HOP_LIMIT, UNREACHED, LOOPED = range(5)  # why a trace stopped
STOP_REASONS = ("COMPLETED", "GAPLIMIT", "HOPLIMIT", "UNREACH", "LOOP")
TIME_EXCEEDED, UNREACHABLE, ECHO_REPLY = 11, 3, 0  # types of ICMP
MOST_TTL = 40
_GAPS = 5
_LOOP_HOPS = 4  # after which scamper calls it a loop
_ZOMBIE_REPLIES = 3
_V4 = np.uint64(V4_PREFIX)
_TEN = np.uint64(10 << 24) | _V4
_SHARED = np.uint64(100 << 24 | 64 << 16) | _V4


class Traces(NamedTuple):
    """Traces and the replies to them; room for many, filled from the first row on.

    Attributes
    ----------
    vantage, target : (n_traces,) int32
    method, stop, last_ttl : (n_traces,) uint8
        ``stop``: position in STOP_REASONS; ``last_ttl``: of the last probe.
    hop_ptr : (n_traces + 1,) int64
        Replies of trace i are rows hop_ptr[i]:hop_ptr[i + 1].
    ttl, reply_ttl, icmp_type : (n_replies,) uint8
    addr : (n_replies, 2) uint64
    rtt_us : (n_replies,) int32
        Microseconds.
    """

    vantage: np.ndarray
    target: np.ndarray
    method: np.ndarray
    stop: np.ndarray
    last_ttl: np.ndarray
    hop_ptr: np.ndarray
    ttl: np.ndarray
    reply_ttl: np.ndarray
    icmp_type: np.ndarray
    addr: np.ndarray
    rtt_us: np.ndarray


class Law(NamedTuple):
    """What chance decides: seed, share of the replies of limited and of private routers, noise.

    ``jitter``: 1, or 0 for delays of links alone. ``fresh``: share of the pairs of a vantage point
    and a target whose flow is another one for each seed; the same pairs for all seeds.
    """

    seed: int
    limited_answers: float
    private_answers: float
    jitter: float
    fresh: float = 0.0


def room_for_traces(n: int) -> Traces:
    """Room for n traces."""
    hops = n * MOST_TTL
    return Traces(
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.uint8),
        np.empty(n, np.uint8),
        np.empty(n, np.uint8),
        np.zeros(n + 1, np.int64),
        np.empty(hops, np.uint8),
        np.empty(hops, np.uint8),
        np.empty(hops, np.uint8),
        np.empty((hops, 2), np.uint64),
        np.empty(hops, np.int32),
    )


@njit(cache=True, nogil=True)
def trace_rows(
    wires, targets, hosts, back, first, end, picked_ptr, picked, is_paris, law, toward, way, table,
    text, traces,
):  # fmt: skip
    """Trace to the targets first .. end - 1 from the vantage points that picked them.

    Parameters
    ----------
    picked_ptr, picked : (n_vantages + 1,) int64 and int32
        Targets of vantage point v are picked_ptr[v]:picked_ptr[v + 1] of ``picked``, ascending.
    is_paris : (n_vantages, n_methods) bool
        Whether a method, as a vantage point has it, keeps the flow of a trace.
    text : (50,) uint8
        Room for the text of an address.

    Returns
    -------
    n : int
        Traces, in ``traces``: by target within those of one AS.
    """
    n_vantages = len(hosts.asn)
    at = np.empty(n_vantages, np.int64)
    for v in range(n_vantages):
        of_v = picked[picked_ptr[v] : picked_ptr[v + 1]]
        at[v] = picked_ptr[v] + np.searchsorted(of_v, first)
    n = 0
    row = first
    while row < end:
        asn = targets.asn[row]
        after = row + 1
        while after < end and targets.asn[after] == asn:
            after += 1
        is_known = False
        for v in range(n_vantages):
            while at[v] < picked_ptr[v + 1] and picked[at[v]] < after:
                if not is_known:
                    spread(wires, asn, toward)
                    is_known = True
                for method in range(is_paris.shape[1]):
                    trace = (v, picked[at[v]], method, n)
                    _trace(
                        wires, targets, hosts, back, trace, is_paris[v, method], law, toward, way,
                        table, text, traces,
                    )  # fmt: skip
                    n += 1
                at[v] += 1
        row = after
    return n


@njit(cache=True, nogil=True)
def _trace(
    wires, targets, hosts, back, trace, is_paris, law, toward, way, table, text, traces
):  # fmt: skip
    v, t, method, n = trace
    traces.vantage[n], traces.target[n], traces.method[n] = v, t, method
    key = np.uint64(t) << np.uint64(20) ^ np.uint64(v) << np.uint64(4) ^ np.uint64(method)
    random = np.empty(1, np.uint64)
    random[0] = mix(mix(np.uint64(law.seed)) ^ key)
    state = hosts.sent[v]
    length = put_addr(text, 0, targets.addr[t, 0], targets.addr[t, 1])
    whole = np.uint32(0xFFFF_FFFF)
    for i in range(length):
        state = crc_byte(state, text[i], table)
        whole = crc_byte(whole, text[i], table)
    drawn = whole ^ np.uint32(0xFFFF_FFFF)
    if law.fresh > 0:
        of_pair = mix(np.uint64(state))
        if unit(of_pair) < law.fresh:
            state ^= np.uint32(mix(of_pair ^ mix(np.uint64(law.seed))) >> np.uint64(32))
    asn: Any = targets.asn[t]
    gateways = targets.gateways[targets.gateway_ptr[t] : targets.gateway_ptr[t + 1]]
    n_steps, ending, is_balanced = walk_there(
        wires, toward, asn, gateways, hosts, v, state, table, way
    )
    again = is_balanced and not is_paris
    n_nat = hosts.nat_ptr[v + 1] - hosts.nat_ptr[v]
    missed, at_end, ttl = 0, 0, 0
    stop = HOP_LIMIT
    row = traces.hop_ptr[n]
    while ttl < MOST_TTL:
        ttl += 1
        if again:
            flow = crc_number(crc_byte(state, 35, table), ttl, table)  # number sign
            n_steps, ending, _ = walk_there(
                wires, toward, asn, gateways, hosts, v, flow, table, way
            )
        n_behind: Any = 0
        if ending == AT_GATEWAY and wires.traits[asn] & CARRIER_NAT:
            n_behind = 1 + np.int64(drawn & np.uint32(1))
        at = ttl - n_nat - 1
        if at < 0:
            answered = draw_unit(random) < law.private_answers
            if answered:
                private = hosts.nat[hosts.nat_ptr[v] + ttl - 1]
                rtt = 1.0 * ttl
                row = _put(traces, row, ttl, private[0], private[1], TIME_EXCEEDED, 64 - ttl, rtt,
                           law, random)  # fmt: skip
        elif at < n_steps:
            router = way.router[at]
            rewrites = wires.traits[wires.as_of[router]] & REWRITING
            if (rewrites and wires.as_of[router] == asn) or router == targets.router[t]:
                row = _put_target(traces, row, ttl, targets, t, back, v, way, at, law, random)
                stop = COMPLETED
                break
            answered = not _is_stopped(wires, way, at) and _answers(wires, router, random)
            if answered:
                row = _put_router(
                    wires, hosts, back, traces, row, ttl, v, way, at, TIME_EXCEEDED, law, random
                )
        elif at < n_steps + n_behind:
            answered = draw_unit(random) < law.private_answers
            if answered:
                k = np.uint64(at - n_steps + 1)
                low = _TEN | k << np.uint64(16) | np.uint64(1)
                if not drawn & np.uint32(2):
                    low = _SHARED | k << np.uint64(8) | np.uint64(1)
                rtt = 2 * (way.ms[n_steps - 1] + 0.5)
                row = _put(traces, row, ttl, np.uint64(0), low, TIME_EXCEEDED, 64 - ttl, rtt, law,
                           random)  # fmt: skip
        else:  # behind the last router
            at_end += 1
            last = n_steps - 1
            if ending != AT_GATEWAY:
                stop = UNREACHED if ending == WITHOUT_ROUTE else LOOPED
                break
            if targets.answers[t]:
                row = _put_target(traces, row, ttl, targets, t, back, v, way, last, law, random)
                stop = COMPLETED
                break
            if _is_stopped(wires, way, last):
                stop = GAP_LIMIT
                break
            if targets.loops[t]:
                link = _link_before(wires, way, last)
                if link < 0:
                    stop = GAP_LIMIT
                    break
                if at_end > _LOOP_HOPS:
                    stop = LOOPED
                    break
                router = way.router[last - 1] if at_end % 2 else way.router[last]
                if _answers(wires, router, random):
                    row = _put_bounced(
                        wires, hosts, back, traces, row, ttl, v, way.ms[last], router, link, at_end,
                        law, random,
                    )  # fmt: skip
                continue
            if targets.zombie[t] and wires.share[way.router[last]] > 0:
                row = _put_router(
                    wires, hosts, back, traces, row, ttl, v, way, last, UNREACHABLE, law, random
                )
                if at_end == _ZOMBIE_REPLIES:
                    stop = UNREACHED
                    break
                continue
            stop = GAP_LIMIT
            break
        missed = 0 if answered else missed + 1
        if missed == _GAPS:
            stop = GAP_LIMIT
            break
    traces.stop[n], traces.last_ttl[n], traces.hop_ptr[n + 1] = stop, ttl, row


@njit(cache=True, nogil=True)
def _is_stopped(wires, way, at):
    """Whether a firewall drops the probe that uses up its TTL at this router of a way."""
    a = wires.as_of[way.router[at]]
    if wires.traits[a] & ONLY_BORDER:
        return wires.as_of[way.router[max(0, at - 1)]] == a
    return wires.traits[a] & FIREWALLED != 0


@njit(cache=True, nogil=True)
def _link_before(wires, way, last):
    """The first link of the last router to the one before it on a way; -1: there is none."""
    gateway = way.router[last]
    before = way.router[max(0, last - 1)]
    if before != gateway:
        for k in range(wires.arc_ptr[gateway], wires.arc_ptr[gateway + 1]):
            if other_end(wires, wires.arc[k], gateway) == before:
                return np.int64(wires.arc[k])
    return -1


@njit(cache=True, nogil=True)
def _answers(wires, router, random):
    share = wires.share[router]
    if share <= 0:
        return False
    return share >= 1 or draw_unit(random) < share


@njit(cache=True, nogil=True)
def _answer(wires, hosts, back, v, router, high, low):
    """The address that a router answers with to a packet that came in by another."""
    if wires.answers[router] & LOOPBACK:
        return wires.loopback[router, 0], wires.loopback[router, 1]
    if wires.answers[router] & OUTGOING:
        link = back.link[v, router]
        if link == DELIVERED:
            return hosts.gateway_addr[v, 0], hosts.gateway_addr[v, 1]
        if link >= 0:
            side = 0 if wires.ends[link, 0] == router else 1
            return wires.addrs[link, side, 0], wires.addrs[link, side, 1]
    return high, low


@njit(cache=True, nogil=True)
def _put_router(wires, hosts, back, traces, row, ttl, v, way, at, icmp_type, law, random):
    router = way.router[at]
    high, low = _answer(wires, hosts, back, v, router, way.addr[at, 0], way.addr[at, 1])
    left, ms = back.ttl[v, router], way.ms[at] + back.ms[v, router]
    return _put(traces, row, ttl, high, low, icmp_type, left, ms, law, random)


@njit(cache=True, nogil=True)
def _put_bounced(
    wires, hosts, back, traces, row, ttl, v, ms, router, link, n, law, random
):  # fmt: skip
    side = 0 if wires.ends[link, 0] == router else 1
    high, low = wires.addrs[link, side, 0], wires.addrs[link, side, 1]
    high, low = _answer(wires, hosts, back, v, router, high, low)
    ms += n * wires.delay[link] + back.ms[v, router]
    return _put(traces, row, ttl, high, low, TIME_EXCEEDED, back.ttl[v, router], ms, law, random)


@njit(cache=True, nogil=True)
def _put_target(traces, row, ttl, targets, t, back, v, way, at, law, random):
    ms = way.ms[at] + back.ms[v, way.router[at]]
    addr = targets.addr[t]
    return _put(traces, row, ttl, addr[0], addr[1], ECHO_REPLY, 64 - ttl, ms, law, random)


@njit(cache=True, nogil=True)
def _put(traces, row, ttl, high, low, icmp_type, reply_ttl, ms, law, random):
    if law.jitter:
        if draw_unit(random) < QUEUED:
            ms -= QUEUE_MS * math.log(1 - draw_unit(random))
        ms -= REPLY_MS * math.log(1 - draw_unit(random))
    traces.ttl[row], traces.reply_ttl[row], traces.icmp_type[row] = ttl, reply_ttl, icmp_type
    traces.addr[row, 0], traces.addr[row, 1] = high, low
    traces.rtt_us[row] = np.int32(ms * 1000 + 0.5)
    return row + 1
