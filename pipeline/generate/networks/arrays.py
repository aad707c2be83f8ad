"""A network as arrays, for compiled code; ASes are numbered from 0 in the order of the plan."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from typing import NamedTuple

import numpy as np

from pipeline.generate.networks.delays import Delays
from pipeline.generate.networks.network import Network
from pipeline.model.addresses import V4_PREFIX

# How a router answers, bits of ``Wires.answers``.
SILENT, LIMITED, OUTGOING, LOOPBACK, ZERO_TTL = 1, 2, 4, 8, 16
# What an AS does, bits of ``Wires.traits``.
TUNNELS, ULTIMATE_HOP, REWRITING, CARRIER_NAT, FIREWALLED, ONLY_BORDER = 1, 2, 4, 8, 16, 32
_INITIAL = (255, 255, 255, 64)  # TTL of replies, by router


class Wires(NamedTuple):
    """Routers, links and relationships.

    Attributes
    ----------
    policy : bool
        Whether routes follow relationships.
    asn : (n_ases,) int64
    traits : (n_ases,) uint8
    inside_ptr : (n_ases + 1,) int64
        Where an AS's table begins in ``distance``.
    size : (n_ases,) int32
        Routers of each AS.
    distance : int32
        Cost between each two routers of an AS, by their places in it.
    near_ptr : (3, n_ases + 1) int32
        Customers, peers and providers of AS a are near_ptr[kind, a]:near_ptr[kind, a + 1] of
        ``near`` and ``pair``.
    near : int32
        ASes.
    pair : int32
        Links to that AS are pair_ptr[pair]:pair_ptr[pair + 1] of ``exit_router``, ``exit_link``.
    pair_ptr, exit_router, exit_link : int32
    as_of, place : (n_routers,) int32
        AS of each router, and its place in it.
    answers, initial_ttl : (n_routers,) uint8
    share : (n_routers,) float64
        Of probes that a router answers; yet to be filled.
    loopback : (n_routers, 2) uint64
    arc_ptr : (n_routers + 1,) int32
        Links of a router are arc_ptr[r]:arc_ptr[r + 1] of ``arc``, the oldest first.
    arc : int32
    ends : (n_links, 2) int32
    cost : (n_links,) int32
        0 for links between ASes.
    delay : (n_links,) float64
        Milliseconds one way.
    addrs : (n_links, 2, 2) uint64
        Address of each end.
    """

    policy: bool
    asn: np.ndarray
    traits: np.ndarray
    inside_ptr: np.ndarray
    size: np.ndarray
    distance: np.ndarray
    near_ptr: np.ndarray
    near: np.ndarray
    pair: np.ndarray
    pair_ptr: np.ndarray
    exit_router: np.ndarray
    exit_link: np.ndarray
    as_of: np.ndarray
    place: np.ndarray
    answers: np.ndarray
    initial_ttl: np.ndarray
    share: np.ndarray
    loopback: np.ndarray
    arc_ptr: np.ndarray
    arc: np.ndarray
    ends: np.ndarray
    cost: np.ndarray
    delay: np.ndarray
    addrs: np.ndarray


class Targets(NamedTuple):
    """What is traced, in the order in which vantage points trace it.

    Attributes
    ----------
    addr : (n, 2) uint64
    asn : (n,) int32
        Position of the AS.
    gateway_ptr : (n + 1,) int32
        Gateways of target i are gateway_ptr[i]:gateway_ptr[i + 1] of ``gateways``.
    gateways : int32
    router : (n,) int32
        Whose address it is; -1: a host's.
    answers, zombie, loops : (n,) bool
    of_vantage : (n,) int32
        Vantage point whose address it is, -1: of none.
    block : (n,) int32
        Position of the block among those of the network.
    """

    addr: np.ndarray
    asn: np.ndarray
    gateway_ptr: np.ndarray
    gateways: np.ndarray
    router: np.ndarray
    answers: np.ndarray
    zombie: np.ndarray
    loops: np.ndarray
    of_vantage: np.ndarray
    block: np.ndarray


class Hosts(NamedTuple):
    """Vantage points.

    Attributes
    ----------
    asn, gateway : (n,) int32
        Position of the AS, first router.
    addr, gateway_addr : (n, 2) uint64
    delay : (n,) float64
        Milliseconds to the first router and back.
    sent, back : (n,) uint32
        CRC-32, not yet inverted, of what the names of its flows begin with.
    nat_ptr : (n + 1,) int32
    nat : (n_nat, 2) uint64
        Private hops before the first router of vantage point i are nat_ptr[i]:nat_ptr[i + 1].
    """

    asn: np.ndarray
    gateway: np.ndarray
    addr: np.ndarray
    gateway_addr: np.ndarray
    delay: np.ndarray
    sent: np.ndarray
    back: np.ndarray
    nat_ptr: np.ndarray
    nat: np.ndarray


def addrs_of(texts: Sequence[str]) -> np.ndarray:
    """Addresses as (n, 2) uint64."""
    found = np.zeros((len(texts), 2), np.uint64)
    if not texts:
        return found
    if all(":" not in text for text in texts):
        parts = np.array(".".join(texts).split("."), np.uint64).reshape(-1, 4)
        low = parts[:, 0] << 24 | parts[:, 1] << 16 | parts[:, 2] << 8 | parts[:, 3]
        found[:, 1] = low | V4_PREFIX
        return found
    for at, text in enumerate(texts):
        number = int(ip_address(text))
        if ":" in text:
            found[at] = number >> 64, number & 0xFFFF_FFFF_FFFF_FFFF
        else:
            found[at, 1] = number | int(V4_PREFIX)
    return found


def _pointers(counts: Iterable[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.fromiter(counts, np.int64))]).astype(np.int32)


def _bits(n: int, sets: Sequence[Iterable[int]], place: Callable[[int], int]) -> np.ndarray:
    """The i-th set is bit i."""
    found = np.zeros(n, np.uint8)
    for bit, members in enumerate(sets):
        at = np.array([place(member) for member in members], np.int64)
        found[at] |= np.uint8(1 << bit)
    return found


def lay_wires(network: Network, delays: Delays) -> Wires:
    """The arrays of a network.

    ``distance`` (``measure_inside``) and ``share`` (``Campaign``) are yet to be filled.
    """
    ases, links, answers = network.ases, network.links, network.answers
    asns = list(ases.tier)
    place_of = {asn: at for at, asn in enumerate(asns)}
    n, n_routers = len(asns), len(network.asn_of)
    as_of = np.array([place_of[asn] for asn in network.asn_of], np.int32)
    place, size = np.zeros(n_routers, np.int32), np.zeros(n, np.int32)
    for at, asn in enumerate(asns):
        routers = network.routers[asn]
        size[at] = len(routers)
        place[routers] = np.arange(len(routers))
    number = {link: at for at, link in enumerate(links)}
    ends = np.array([link.ends for link in links], np.int32).reshape(-1, 2)
    is_inner = np.array([link.kind == "inner" for link in links], bool)
    cost = np.where(is_inner, [link.cost for link in links], 0).astype(np.int32)
    arcs = [number[link] for router in range(n_routers) for link in network.links_of[router]]
    arc_ptr = _pointers(len(network.links_of[router]) for router in range(n_routers))
    texts = [addr for link in links for addr in link.addrs]
    near_ptr, near, pair, pair_ptr, exit_router, exit_link = _join(
        network, asns, place_of, as_of, ends
    )
    inside_ptr = np.concatenate([[0], np.cumsum(size.astype(np.int64) ** 2)])
    return Wires(
        network.plan.policy,
        np.array(asns, np.int64),
        _bits(
            n,
            (
                *(answers.tunnels, answers.ultimate_hop, answers.rewriting, answers.carrier_nat),
                *(answers.firewalled, answers.only_border),
            ),
            place_of.__getitem__,
        ),
        inside_ptr,
        size,
        np.empty(inside_ptr[-1], np.int32),
        near_ptr,
        near,
        pair,
        pair_ptr,
        exit_router,
        exit_link,
        as_of,
        place,
        _bits(
            n_routers,
            (
                *(answers.silent, answers.limited, answers.outgoing),
                *(answers.loopback, answers.zero_ttl),
            ),
            int,
        ),
        np.array([initial_ttl(router) for router in range(n_routers)], np.uint8),
        np.ones(n_routers),
        addrs_of(network.loopback),
        arc_ptr,
        np.array(arcs, np.int32),
        ends,
        cost,
        np.array([delays.of(link) for link in links], np.float64),
        addrs_of(texts).reshape(-1, 2, 2),
    )


def _join(
    network: Network, asns: list[int], place_of: dict[int, int], as_of: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Neighbours of each AS by kind, and links to each of them, the oldest first."""
    sides = as_of[ends]
    between = np.flatnonzero(sides[:, 0] != sides[:, 1])
    here = np.concatenate([sides[between, 0], sides[between, 1]]).astype(np.int64)
    there = np.concatenate([sides[between, 1], sides[between, 0]])
    router = np.concatenate([ends[between, 0], ends[between, 1]])
    link = np.concatenate([between, between])
    key = here * len(asns) + there
    order = np.lexsort((link, router, key))
    distinct, starts = np.unique(key[order], return_index=True)
    pair_ptr = np.append(starts, len(order)).astype(np.int32)
    ases = network.ases
    near_ptr: list[np.ndarray] = []
    near: list[np.ndarray] = []
    for kind in (ases.customers, ases.peers, ases.providers):
        before = sum(len(each) for each in near)
        near_ptr.append(_pointers(len(kind.get(asn, ())) for asn in asns) + before)
        near.append(np.array([place_of[b] for a in asns for b in kind.get(a, ())], np.int64))
    owner = np.concatenate(
        [np.repeat(np.arange(len(asns)), np.diff(pointers)) for pointers in near_ptr]
    )
    all_near = np.concatenate(near)
    wanted = owner * len(asns) + all_near
    at = np.minimum(np.searchsorted(distinct, wanted), max(len(distinct) - 1, 0))
    pair = np.where(distinct[at] == wanted, at, -1) if len(distinct) else np.full(len(wanted), -1)
    return (
        np.array(near_ptr, np.int32),
        all_near.astype(np.int32),
        pair.astype(np.int32),
        pair_ptr,
        router[order].astype(np.int32),
        link[order].astype(np.int32),
    )


def place_hosts(network: Network, nats: Sequence[Sequence[str]]) -> Hosts:
    """The vantage points; ``nats``: private hops before the first router of each."""
    place_of = {asn: at for at, asn in enumerate(network.ases.tier)}
    all_of = network.vantages

    def state(text: str) -> int:
        return zlib.crc32(text.encode()) ^ 0xFFFF_FFFF

    return Hosts(
        np.array([place_of[each.asn] for each in all_of], np.int32),
        np.array([each.gateway for each in all_of], np.int32),
        addrs_of([each.addr for each in all_of]),
        addrs_of([each.gateway_addr for each in all_of]),
        np.array([0.1 + zlib.crc32(each.addr.encode()) % 100 / 50 for each in all_of], float),
        np.array([state(f"{each.addr}>") for each in all_of], np.uint32),
        np.array([state(f"back{each.addr}") for each in all_of], np.uint32),
        _pointers(map(len, nats)),
        addrs_of([addr for nat in nats for addr in nat]),
    )


def initial_ttl(router: int) -> int:
    """TTL that a router's replies start with; three in four use 255."""
    return _INITIAL[zlib.crc32(f"ttl{router}".encode()) % len(_INITIAL)]
