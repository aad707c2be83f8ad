"""Changes planted into a simulated network, and the event that each must cause."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pipeline.model.addresses import V4_PREFIX
from pipeline.model.columns.ragged import offsets, positions_of_rows, row_of_value
from pipeline.model.measured.traces import TraceBatch
from tests.oracles.nights.network import AS_BITS, BASE, Network, measure, pfx2as_lines
from tests.oracles.nights.seen import Views, links_seen

MIN_CROSSED = 6  # pairs: what fewer cross is not observable
MIN_GROWTH = 2  # hops: a router that is silent on one of the nights may make a hop
_LIMITED_TO = 0.15  # of the answers of a router that limits its rate
_RENUMBERED_PAIRS = 2 * MIN_CROSSED  # that cross a router by one of its links
_LIMITED_PAIRS = 8 * MIN_CROSSED
_LIMITED_LEFT = 3 * MIN_CROSSED  # of fewer pairs half may see no answer by chance
FIRST_SPARE = 1 << (AS_BITS - 1)  # addresses from here on that no link has


@dataclass(frozen=True)
class Expected:
    """The event that a plant must cause: its kind, and ASes one of which it must name.

    ``gone``: the link (two routers) whose end is to be seen; empty where none is.
    ``router``: what changed, where at least ``n_pairs`` must go through it on both nights.
    ``width``: a figure of the AS that the event must name, and by how many hops it grew.
    """

    kind: str
    asns: frozenset[int] = frozenset()
    hidden: frozenset[int] = frozenset()  # what it also touches, and the event need not name
    gone: tuple[int, ...] = ()
    router: int = -1
    n_pairs: int = 0
    width: str = ""
    by_hops: int = 0


@dataclass(frozen=True)
class Night:
    """A network, which traces are taken, what becomes of their answers, and its prefix table."""

    net: Network
    table: str
    taken: Callable[[TraceBatch], TraceBatch] = lambda batch: batch
    drop: Callable[[TraceBatch], TraceBatch] = lambda batch: batch

    def measure(self, seed: int) -> TraceBatch:
        """Traces of this night; ``seed``: of who answers this time."""
        net = replace(self.net, plan=replace(self.net.plan, seed=seed))
        return self.drop(self.taken(measure(net)))


@dataclass(frozen=True)
class Crossed:
    """How many pairs cross each router, and each link in either direction; which links show."""

    routers: Counter[int]
    links: Counter[tuple[int, int]]  # on the way to elsewhere
    vantages: dict[int, set[int]]  # of each router
    addrs: Counter[int]  # by which a router was crossed between two that answer
    seen: Views  # on a night, by who answers


def crossed(net: Network) -> Crossed:
    """Where traces go, if every router answers with the address that packets came in by."""
    open_net = replace(net, silent=set(), limited=set(), outgoing=set())
    batch = measure(open_net)
    numbers = (batch.addr[:, 1] ^ V4_PREFIX).astype(np.int64).tolist()
    trace = row_of_value(batch.reply_ptr).tolist()
    source = batch.src_addr[:, 1].tolist()
    found = Crossed(Counter(), Counter(), {}, Counter(), links_seen(net, measure(net)))
    before, last = None, -1
    for at, (number, row) in enumerate(zip(numbers, trace, strict=True)):
        router = net.owner.get(number)
        if router is not None:
            found.routers[router] += 1
            found.vantages.setdefault(router, set()).add(source[row])
            onward = at + 1 < len(trace) and trace[at + 1] == row
            after = net.owner.get(numbers[at + 1]) if onward else None
            if row == last and before is not None and before != router and onward:
                found.links[before, router] += 1
                found.addrs[number] += answers(net, before, after)
        before, last = router, row
    return found


def answers(net: Network, *routers: int | None) -> bool:
    """Whether routers always answer, with the address that packets came in by."""
    return not any(r in group for group in (net.silent, net.limited, net.outgoing) for r in routers)


def _busiest(net: Network, by: Crossed, router: int) -> int:
    """Pairs that cross a router by the one of its links that most of them take."""
    return max((by.addrs[net.addr[router, v]] for v in net.neighbors[router]), default=0)


def without(net: Network, links: set[tuple[int, int]]) -> Network:
    """The network without some links, given by either direction."""
    gone = links | {(v, u) for u, v in links}
    near = [[v for v in own if (u, v) not in gone] for u, own in enumerate(net.neighbors)]
    addr = {ends: number for ends, number in net.addr.items() if ends not in gone}
    kept = set(net.loopback) | set(addr.values())
    owner = {
        number: router
        for number, router in net.owner.items()
        if number in kept or number not in net.addr.values()
    }
    return replace(net, neighbors=near, addr=addr, owner=owner)


def reach(net: Network, start: int, asn: int) -> set[int]:
    """Routers of an AS that are connected with one of it, within it."""
    seen, queue = {start}, deque([start])
    while queue:
        u = queue.popleft()
        for v in net.neighbors[u]:
            if v not in seen and net.asn[v] == asn:
                seen.add(v)
                queue.append(v)
    return seen


def spare(net: Network, block: int, n: int) -> list[int]:
    """Addresses of the block of an AS that nobody has, four apart."""
    start = BASE + (block << AS_BITS) + FIRST_SPARE
    free = (start + 4 * i + 1 for i in range(1 << (AS_BITS - 4)))
    return [number for number in free if number not in net.owner][:n]


def cut_link(night: Night, taken: set[int], rng: np.random.Generator, by: Crossed):
    """A link within an AS that leaves the AS in one piece."""
    net = night.net
    for u, v in rng.permutation(sorted(net.links)).tolist():
        asn = net.asn[u]
        if asn in taken or net.asn[v] != asn or not answers(net, u, v):
            continue
        after = without(net, {(u, v)})
        if by.links[u, v] + by.links[v, u] >= MIN_CROSSED and v in reach(after, u, asn):
            event = Expected("links removed", frozenset({asn}), gone=(u, v))
            return replace(night, net=after), event
    return None


def move_ingress(night: Night, taken: set[int], rng: np.random.Generator, by: Crossed):
    """The only link between two ASes ends at another router of one of them."""
    net = night.net
    meet = Counter((net.asn[u], net.asn[v]) for u, near in enumerate(net.neighbors) for v in near)
    for y, a in rng.permutation([(u, v) for u, v in net.links] + [(v, u) for u, v in net.links]):
        y, a = int(y), int(a)
        asn, neighbor = net.asn[a], net.asn[y]
        if asn == neighbor or {asn, neighbor} & taken or meet[asn, neighbor] != 1:
            continue
        if by.links[y, a] < MIN_CROSSED or not answers(net, y, a):
            continue
        others = [
            b
            for b in reach(net, a, asn)
            if b != a and answers(net, b) and b not in net.neighbors[a]
        ]
        others = [b for b in others if all(net.asn[v] == asn for v in net.neighbors[b])]
        if not others:
            continue
        b = int(rng.choice(sorted(others)))
        block = (net.addr[a, y] - BASE) >> AS_BITS
        first = spare(net, block, 1)[0]
        after = without(net, {(y, a)})
        near = [list(own) for own in after.neighbors]
        near[y].append(b)
        near[b].append(y)
        addr, owner = dict(after.addr), dict(after.owner)
        addr[y, b], addr[b, y] = first, first + 1
        owner[first], owner[first + 1] = y, b
        return (
            replace(night, net=replace(after, neighbors=near, addr=addr, owner=owner)),
            Expected("ingress moved", frozenset({asn}), gone=(y, a)),
        )
    return None


def split_as(night: Night, taken: set[int], rng: np.random.Generator, by: Crossed):
    """An AS loses all links between two halves of it."""
    net = night.net
    for asn in rng.permutation(sorted(set(net.asn) - taken)).tolist():
        own = [u for u, other in enumerate(net.asn) if other == asn and by.routers[u]]
        entered = [u for u in own if any(net.asn[v] != asn for v in net.neighbors[u])]
        if len(own) < 10 or not entered:
            continue
        half, queue = set(), deque([int(rng.choice(entered))])
        while queue and len(half) < len(own) // 2:
            u = queue.popleft()
            if u not in half:
                half.add(u)
                queue += [v for v in net.neighbors[u] if net.asn[v] == asn]
        cut = {(u, v) for u in half for v in net.neighbors[u] if net.asn[v] == asn} - {
            (u, v) for u in half for v in half
        }
        after = without(net, cut)
        rest = [u for u in own if u not in half]
        pieces = [reach(after, r, asn) for r in rest]
        if min(len(max(pieces, key=len)), len(half)) < 5:
            continue
        if sum(by.links[u, v] + by.links[v, u] for u, v in cut) < 3 * MIN_CROSSED:
            continue
        return replace(night, net=after), Expected("AS split in parts", frozenset({asn}))
    return None


def renumber(night: Night, taken: set[int], rng: np.random.Generator, by: Crossed):
    """A router gets other addresses, of the same blocks, and keeps none.

    So not the first router of a vantage point: its address beside the host's stays, and by that
    it is the same router on both nights.
    """
    net = night.net
    gateways = {gateway for gateway, _ in net.gateways}
    for r in rng.permutation(len(net.asn)).tolist():
        asn = net.asn[r]
        if asn in taken or not answers(net, r) or _busiest(net, by, r) < _RENUMBERED_PAIRS:
            continue
        if r in gateways or any(net.asn[v] != asn for v in net.neighbors[r]):
            continue  # the blocks of a border's addresses may be another AS's
        addr, owner = dict(net.addr), dict(net.owner)
        fresh = iter(spare(net, asn - 100, len(net.neighbors[r]) + 1))
        for v in net.neighbors[r]:
            owner.pop(addr[r, v], None)
            addr[r, v] = next(fresh)
            owner[addr[r, v]] = r
        loopback = list(net.loopback)
        owner.pop(loopback[r], None)
        loopback[r] = next(fresh)
        owner[loopback[r]] = r
        return (
            replace(night, net=replace(net, addr=addr, owner=owner, loopback=loopback)),
            Expected("router renumbered", frozenset({asn}), router=r, n_pairs=MIN_CROSSED),
        )
    return None


def lose_vantage(night: Night, taken: set[int], rng: np.random.Generator, by: Crossed):
    """A host no longer measures."""
    gateways = list(night.net.gateways)
    del gateways[int(rng.integers(len(gateways)))]
    return replace(night, net=replace(night.net, gateways=gateways)), Expected("vantage point lost")


def lose_targets(night: Night, _: set[int], rng: np.random.Generator, by: Crossed):
    """Half of the targets are no longer measured."""
    turn = np.uint64(rng.integers(2))

    def taken(batch: TraceBatch) -> TraceBatch:
        x = batch.dst_addr[:, 1] * np.uint64(0x9E3779B97F4A7C15)
        return _take(night.taken(batch), (x >> np.uint64(40)) & np.uint64(1) == turn)

    return replace(night, taken=taken), Expected("targets lost")


def limit_rate(night: Night, taken: set[int], rng: np.random.Generator, by: Crossed):
    """A router answers rarely."""
    net = night.net
    for r in rng.permutation(len(net.asn)).tolist():
        asn = net.asn[r]
        if asn in taken or not answers(net, r) or _busiest(net, by, r) < _LIMITED_PAIRS:
            continue
        if len(by.vantages[r]) < 5:
            continue
        own = np.array([number for number, router in net.owner.items() if router == r], np.uint64)
        seed = int(rng.integers(1 << 30))

        def drop(batch: TraceBatch, own: np.ndarray = own, seed: int = seed) -> TraceBatch:
            batch = night.drop(batch)
            luck = np.random.default_rng(seed).random(len(batch.ttl))
            return _drop_replies(
                batch, np.isin(batch.addr[:, 1] ^ V4_PREFIX, own) & (luck > _LIMITED_TO)
            )

        event = Expected("routers silent", frozenset({asn}), router=r, n_pairs=_LIMITED_LEFT)
        return replace(night, drop=drop), event
    return None


def silence_as(night: Night, taken: set[int], rng: np.random.Generator, by: Crossed):
    """No router of an AS answers, while many pairs go through it to others."""
    net = night.net
    for asn in rng.permutation(sorted(set(net.asn) - taken)).tolist():
        own = {u for u, other in enumerate(net.asn) if other == asn}
        left = sum(by.links[u, v] for u in own for v in net.neighbors[u] if net.asn[v] != asn)
        seen_by = set().union(*(by.vantages.get(u, set()) for u in own))
        if left < _LIMITED_PAIRS or len(seen_by) < 5:
            continue
        addrs = [number for number, router in net.owner.items() if router in own]
        silent = np.array(addrs, np.uint64)

        def drop(batch: TraceBatch, silent: np.ndarray = silent) -> TraceBatch:
            batch = night.drop(batch)
            return _drop_replies(batch, np.isin(batch.addr[:, 1] ^ V4_PREFIX, silent))

        return replace(night, drop=drop), Expected("AS silent", frozenset({asn}))
    return None


def change_table(night: Night, taken: set[int], rng: np.random.Generator, by: Crossed):
    """Half of a block is announced by another AS."""
    net = night.net
    asn = int(rng.choice(sorted(set(net.asn) - taken)))
    lines = night.table.splitlines(keepends=True)
    addr = lines[asn - 100].split("\t")[0]
    return (
        replace(night, table=night.table + f"{addr}\t{32 - AS_BITS + 1}\t{asn + 500}\n"),
        Expected("inputs changed", hidden=frozenset({asn})),
    )


def first_night(net: Network) -> Night:
    """The network as it is."""
    return Night(net, pfx2as_lines(net))


def _take(batch: TraceBatch, kept: np.ndarray) -> TraceBatch:
    rows = np.flatnonzero(kept)
    ptr, replies = positions_of_rows(batch.reply_ptr, rows)
    return TraceBatch(
        batch.src_addr[rows],
        batch.dst_addr[rows],
        batch.start_s[rows],
        ptr,
        batch.ttl[replies],
        batch.addr[replies],
        batch.rtt_ms[replies],
        batch.kind[replies],
    )


def _drop_replies(batch: TraceBatch, dropped: np.ndarray) -> TraceBatch:
    trace = row_of_value(batch.reply_ptr)[~dropped]
    ptr = offsets(np.bincount(trace, minlength=batch.n_traces))
    columns = (batch.ttl, batch.addr, batch.rtt_ms, batch.kind)
    return TraceBatch(
        batch.src_addr,
        batch.dst_addr,
        batch.start_s,
        ptr,
        *(column[~dropped] for column in columns),
    )
