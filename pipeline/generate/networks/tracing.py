"""Traces from all vantage points of a network, on several threads, in parts that fit into memory.

Each part is some targets, in their order, from every vantage point: routes to an AS are found once
for all of them.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from random import Random
from threading import local
from typing import Any

import numpy as np

from kernels.host import n_cores
from pipeline.generate.networks.arrays import (
    LIMITED,
    SILENT,
    Hosts,
    Targets,
    Wires,
    addrs_of,
    lay_wires,
    place_hosts,
)
from pipeline.generate.networks.delays import Delays
from pipeline.generate.networks.network import Block, Network, Vantage
from pipeline.generate.networks.night import Night
from pipeline.generate.networks.probing import Law, Traces, room_for_traces, trace_rows
from pipeline.generate.networks.routing import crc_table, measure_inside, room_for_routes
from pipeline.generate.networks.walking import (
    Walked,
    room_for_back,
    room_for_walked,
    room_for_way,
    walk_back,
    walk_rows,
)

_PART = 12_000  # traces that are made together
_A_SECOND = 50  # traces that a vantage point starts
START = 1_790_000_000  # seconds: 2026-09-21
A_DAY = 86_400
_NAT_ADDRS = ("100.64.0.1", "10.0.0.1", "100.72.11.1")
BEHIND_NAT = "192.168.1.100"


@dataclass(frozen=True, eq=False)
class Part:
    """Some traces.

    ``rows``: of each vantage point and method (in this order), those of ``traces``; ``starts``:
    seconds, of each likewise.
    """

    traces: Traces
    rows: dict[tuple[int, int], np.ndarray]
    starts: dict[tuple[int, int], np.ndarray]


class Campaign:
    """What the vantage points of a network measure.

    Parameters
    ----------
    network : Network or Night
        A night: of one after another, with what is altered.
    n_traces : int or None
        Of all vantage points and methods together; None: each vantage point traces each target.
        More than there are targets: further addresses of the same blocks.
    law : Law or None
        None: that of the plan; each night has another seed.
    delays : Delays or None
        None: those of the network. Nights have those of the network before it was altered.
    """

    def __init__(
        self,
        network: Network | Night,
        n_traces: int | None = None,
        law: Law | None = None,
        delays: Delays | None = None,
    ) -> None:
        self.night = night = network if isinstance(network, Night) else Night(network)
        self.network = network = night.network
        plan = network.plan
        self.methods = plan.methods
        self.delays = Delays(network) if delays is None else delays
        if law is None:
            seed = plan.seed + 7 + (night.number << 32)
            law = Law(seed, plan.limited_answers, 0.9, 1.0, plan.rebalanced)
        self.law = law
        self.wires = wires_of(night, self.delays, law)
        self.hosts: Hosts = place_hosts(
            network, [private_hops(network, vantage) for vantage in network.vantages]
        )
        self.targets, self.blocks, picked = _choose(network, n_traces)
        left_out = np.array(sorted(night.left_out), np.int32)
        self._picked = [
            each[~np.isin(each, left_out)] if v not in night.gone else each[:0]
            for v, each in enumerate(picked)
        ]
        self.n_traces = len(self.methods) * sum(map(len, self._picked))

    @property
    def src(self) -> np.ndarray:
        """Addresses that vantage points call their own, (n_vantages, 2) uint64."""
        if self.network.plan.vantage_behind_nat:
            return np.repeat(addrs_of([BEHIND_NAT]), len(self.network.vantages), axis=0)
        return self.hosts.addr

    def method_of(self, vantage: int, method: int) -> str:
        """Name of the method of some number, as a vantage point has it."""
        each = self.methods[method].split("/")
        return each[vantage % len(each)]

    @property
    def start_s(self) -> int:
        """When vantage points begin, seconds since 1970."""
        return START + A_DAY * self.night.number

    def end_s(self, vantage: int) -> int:
        """When a vantage point has begun its last trace."""
        return self.start_s + max(0, self.n_of(vantage) * len(self.methods) - 1) // _A_SECOND

    def n_of(self, vantage: int) -> int:
        """Traces of a vantage point by each method."""
        return len(self._picked[vantage])

    def pairs(self, most: int, most_ases: int) -> list[np.ndarray]:
        """Targets that each vantage point traces, in so many ASes and so many pairs at most.

        If there are more of either, every second, third or so.
        """
        ases = np.unique(self.targets.asn)  # finding the routes to each is what takes time
        chosen = np.isin(self.targets.asn, ases[:: -(-len(ases) // most_ases) or 1])
        picked = [each[chosen[each]] for each in self._picked]
        step = max(1, -(-sum(map(len, picked)) // most))
        return [each[::step] for each in picked]

    def walk(self, wires: Wires, picked: Sequence[np.ndarray]) -> list[Walked]:
        """Ways of pairs, a flow of a Paris traceroute each, in parts.

        ``wires``: of the network, or of one that was altered. ``picked``: as ``pairs`` gives them.
        """
        table, held = crc_table(), local()
        ptr, flat = _joined(picked)

        def walk(part: tuple[int, int, int]) -> Walked:
            first, end, n = part
            if not hasattr(held, "toward"):
                held.toward, held.way = room_for_routes(wires), room_for_way()
            walked, text = room_for_walked(n), np.empty(50, np.uint8)
            made = walk_rows(
                wires, self.targets, self.hosts, first, end, ptr, flat, held.toward, held.way,
                table, text, walked,
            )  # fmt: skip
            routers = walked.router[: walked.ptr[made]].copy()
            return Walked(walked.pair[:made], walked.ptr[: made + 1], routers, walked.ending[:made])

        with ThreadPoolExecutor(n_cores()) as pool:
            return list(pool.map(walk, self._parts(picked)))

    def run(self, then: Callable[[Part], Any], n_threads: int | None = None) -> Iterator[Any]:
        """What a function makes of each part, in order; it is called on several threads."""
        table, lengths = crc_table(), [len(each) for each in self._picked]
        picked_ptr, picked = _joined(self._picked)
        is_paris = np.array(
            [
                ["paris" in self.method_of(v, at) for at in range(len(self.methods))]
                for v in range(len(lengths))
            ],
            bool,
        ).reshape(len(lengths), -1)
        back = room_for_back(self.wires, len(lengths))
        held = local()

        def room() -> Any:
            if not hasattr(held, "toward"):
                held.toward, held.way = room_for_routes(self.wires), room_for_way()
                held.text = np.empty(50, np.uint8)
            return held

        def go_back(v: int) -> None:
            walk_back(self.wires, self.hosts, v, room().toward, table, back)

        def trace(first: int, end: int, n: int) -> Any:
            traces, mine = room_for_traces(n), room()
            made = trace_rows(
                self.wires, self.targets, self.hosts, back, first, end, picked_ptr, picked,
                is_paris, self.law, mine.toward, mine.way, table, mine.text, traces,
            )  # fmt: skip
            return then(self._part(traces, made, first))

        n_threads = n_threads or n_cores()
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(go_back, range(len(lengths))))
            waiting: deque[Future[Any]] = deque()
            for part in self._parts(self._picked, len(self.methods)):
                waiting.append(pool.submit(trace, *part))
                if len(waiting) > 2 * n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _parts(
        self, picked: Sequence[np.ndarray], n_methods: int = 1
    ) -> Iterator[tuple[int, int, int]]:
        """First and last targets of parts, and the number of traces to them."""
        n_targets = len(self.targets.asn)
        each = np.zeros(n_targets, np.int64)
        for of_vantage in picked:
            each[of_vantage] += n_methods
        ends = np.cumsum(each)
        first = done = 0
        while first < n_targets:
            end = max(int(np.searchsorted(ends, done + _PART, side="right")), first + 1)
            yield first, end, int(ends[end - 1]) - done
            first, done = end, int(ends[end - 1])

    def _part(self, traces: Traces, n: int, first: int) -> Part:
        key = traces.vantage[:n].astype(np.int64) * len(self.methods) + traces.method[:n]
        order = np.argsort(key, kind="stable")
        cuts = np.flatnonzero(np.diff(key[order])) + 1
        rows, starts = {}, {}
        for some in np.split(order, cuts) if n else ():
            v, method = divmod(int(key[some[0]]), len(self.methods))
            done = int(np.searchsorted(self._picked[v], first)) + method * self.n_of(v)
            rows[v, method] = some
            starts[v, method] = self.start_s + (done + np.arange(len(some))) // _A_SECOND
        return Part(traces, rows, starts)


def wires_of(night: Night, delays: Delays, law: Law) -> Wires:
    """The arrays of a network as it is on a night, whole."""
    wires = lay_wires(night.network, delays)
    measure_inside(wires)
    wires.share[wires.answers & LIMITED != 0] = law.limited_answers
    wires.share[wires.answers & SILENT != 0] = 0
    for router, share in night.rare.items():
        wires.share[router] *= share
    if night.slow:
        for at, link in enumerate(night.network.links):
            wires.delay[at] += night.slow.get(link.addrs, 0.0)
    return wires


def _joined(picked: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Targets of each vantage point side by side, and where each begins."""
    ptr = np.concatenate([[0], np.cumsum([len(each) for each in picked])]).astype(np.int64)
    return ptr, np.concatenate([*picked, np.empty(0, np.int32)]).astype(np.int32)


def private_hops(network: Network, vantage: Vantage) -> list[str]:
    """Private hops before the first router of a vantage point; drawn by a seed of their own."""
    if not network.plan.vantage_behind_nat:
        return []
    random = Random(f"{network.plan.seed} nat {vantage.name}")
    carrier = [random.choice(_NAT_ADDRS)] if random.random() < 0.7 else []
    return ["192.168.1.1", *carrier]


def _choose(
    network: Network, n_traces: int | None
) -> tuple[Targets, list[Block], list[np.ndarray]]:
    """Targets, the blocks that they are in, and which of them each vantage point traces."""
    plan, vantages = network.plan, network.vantages
    blocks = network.blocks_of_routers() if plan.targets == "routers" else network.blocks
    blocks = sorted(blocks, key=lambda block: block.prefix)
    lan = {vantage.lan: v for v, vantage in enumerate(vantages)}
    home = np.array([lan.get(str(block.prefix), -1) for block in blocks], np.int64)
    texts = [block.target for block in blocks]
    answers = [block.answers for block in blocks]
    rows, of_vantage, near = list(range(len(blocks))), [-1] * len(blocks), home.tolist()
    if plan.targets != "hosts":
        at_lan = {str(block.prefix): at for at, block in enumerate(blocks)}
        own = {str(block.prefix): block for block in network.blocks}
        for v, vantage in enumerate(vantages):
            block = own[vantage.lan]
            at = at_lan.get(vantage.lan)
            if at is None:
                at = len(blocks)
                blocks.append(block)
            rows.append(at)
            texts.append(vantage.addr)
            answers.append(block.answers or (vantage.addr != block.target and not block.dead))
            of_vantage.append(v)
            near.append(v)
    shares = _shares(n_traces, len(vantages), len(plan.methods))
    n_rounds = 1
    if shares:
        fewest = len(rows) - np.bincount([v for v in near if v >= 0], minlength=len(vantages)).max()
        n_rounds = max(1, -(-max(shares) // max(1, int(fewest))))
    if n_rounds > 1:
        more = _further(network, blocks, home, n_rounds)
        texts, answers = texts + more[0], answers + more[1]
        rows, near = rows + more[2], near + more[3]
        of_vantage += [-1] * len(more[0])
        order = np.argsort(np.array(rows), kind="stable").tolist()
        rows, texts = [rows[i] for i in order], [texts[i] for i in order]
        answers, near = [answers[i] for i in order], [near[i] for i in order]
        of_vantage = [of_vantage[i] for i in order]
    targets = _targets(network, [blocks[row] for row in rows], texts, answers, of_vantage, rows)
    all_near, picked = np.array(near), []
    for v in range(len(vantages)):
        found = np.flatnonzero(all_near != v).astype(np.int32)
        if shares and shares[v] < len(found):
            random = np.random.Generator(np.random.PCG64([plan.seed, v]))
            found = np.sort(random.choice(found, shares[v], replace=False))
        picked.append(found)
    return targets, blocks, picked


def _shares(n_traces: int | None, n_vantages: int, n_methods: int) -> list[int]:
    """Targets of each vantage point, so that there are this many traces, or just as many more."""
    if n_traces is None or not n_vantages:
        return []
    n = -(-n_traces // n_methods)
    return [n // n_vantages + (v < n % n_vantages) for v in range(n_vantages)]


def _further(
    network: Network, blocks: Sequence[Block], home: np.ndarray, n_rounds: int
) -> tuple[list[str], list[bool], list[int], list[int]]:
    """Further hosts of each block: text, whether it answers, its block, the vantage point there."""
    texts: list[str] = []
    answers: list[bool] = []
    rows: list[int] = []
    near: list[int] = []
    for at, block in enumerate(blocks):
        if block.router is not None:
            continue
        start, room = (60, 190) if block.prefix.num_addresses >= 256 else (6, 50)
        first = int(block.prefix.network_address) + start
        drawn = zlib.crc32(f"{network.plan.seed} {block.prefix}".encode())
        kind = type(block.prefix.network_address)
        shut = network.answers.is_shut(block.asn)
        for number in range(1, n_rounds):
            text = str(kind(first + (drawn + number) % room))
            share = zlib.crc32(f"{network.plan.seed} {text}".encode()) / 2**32
            texts.append(text)
            answers.append(share < network.plan.hosts_answer and not shut and not block.dead)
            rows.append(at)
            near.append(int(home[at]) if at < len(home) else -1)
    return texts, answers, rows, near


def _targets(
    network: Network,
    blocks: Sequence[Block],
    texts: Sequence[str],
    answers: Sequence[bool],
    of_vantage: Sequence[int],
    rows: Sequence[int],
) -> Targets:
    place_of = {asn: at for at, asn in enumerate(network.ases.tier)}
    n_gateways = [len(block.gateways) for block in blocks]
    return Targets(
        addrs_of(texts),
        np.array([place_of[block.asn] for block in blocks], np.int32),
        np.concatenate([[0], np.cumsum(n_gateways)]).astype(np.int32),
        np.array([gateway for block in blocks for gateway in block.gateways], np.int32),
        np.array([-1 if block.router is None else block.router for block in blocks], np.int32),
        np.array(answers, bool),
        np.array([block.zombie for block in blocks], bool),
        np.array([block.loops for block in blocks], bool),
        np.array(of_vantage, np.int32),
        np.array(rows, np.int32),
    )
