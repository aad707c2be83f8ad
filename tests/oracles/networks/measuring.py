"""Traceroutes through a network, as scamper writes them in JSON, in plain Python.

What ``pipeline.generate.networks`` traces with arrays is the same, but for noise.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from random import Random
from typing import Any

from pipeline.generate.networks.delays import QUEUE_MS, QUEUED, REPLY_MS
from pipeline.generate.networks.network import Block, Network, Vantage
from tests.oracles.networks.walking import Step, Walks

_GAP_LIMIT = 5
_MOST_TTL = 40
_LOOP_HOPS = 4  # after which scamper calls it a loop
_ZOMBIE_REPLIES = 3
_START = 1_790_000_000  # seconds; fifty traces are started in each
TIME_EXCEEDED, UNREACHABLE, ECHO_REPLY = 11, 3, 0


class Prober:
    """Traces from the vantage points of a network to its blocks; the same each time."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._random = Random(network.plan.seed + 7)
        self.walks = Walks(network)
        to_routers = network.plan.targets == "routers"
        blocks = network.blocks_of_routers() if to_routers else network.blocks
        self._blocks = sorted(blocks, key=lambda block: block.prefix)
        self._n_traces = 0

    def traces(self, vantage: Vantage, method: str, nat: list[str]) -> Iterator[dict[str, Any]]:
        network = self._network
        for block in self._blocks:
            if str(block.prefix) != vantage.lan:
                yield self.trace(vantage, block, block.target, method, nat)
        if network.plan.targets != "hosts":
            by_prefix = {str(block.prefix): block for block in network.blocks}
            for other in network.vantages:
                if other is not vantage:
                    yield self.trace(vantage, by_prefix[other.lan], other.addr, method, nat)

    def trace(
        self, vantage: Vantage, block: Block, target: str, method: str, nat: list[str]
    ) -> dict[str, Any]:
        """One trace as scamper's JSON has it."""
        tracer = _Trace(self._network, self.walks, self._random, vantage, block, target)
        stop, hops, n_hops = tracer.run("paris" in method, nat)
        start = {"sec": _START + self._n_traces // 50, "usec": 0}
        self._n_traces += 1
        return {
            "type": "trace",
            "version": "0.1",
            "method": method,
            "src": "192.168.1.100" if nat else vantage.addr,
            "dst": target,
            "stop_reason": stop,
            "start": start,
            "hop_count": n_hops,
            "attempts": 2,
            "firsthop": 1,
            "wait": 1,
            "hops": hops,
        }


class _Trace:
    """One trace while it is made: TTL after TTL, until something ends it."""

    def __init__(
        self,
        network: Network,
        walks: Walks,
        random: Random,
        vantage: Vantage,
        block: Block,
        target: str,
    ) -> None:
        self._network, self._walks, self._random = network, walks, random
        self._vantage, self._block, self._target = vantage, block, target
        self._answers_at_all = block.answers or target != block.target
        self._hops: list[dict[str, Any]] = []

    def run(self, paris: bool, nat: list[str]) -> tuple[str, list[dict[str, Any]], int]:
        """Why it stopped, its hops, and the last TTL that was probed."""
        flow = f"{self._vantage.addr}>{self._target}"
        way = self._walks.there(self._vantage, self._block, flow)
        missed, at_end = 0, 0
        for ttl in range(1, _MOST_TTL + 1):
            if not paris:
                way = self._walks.there(self._vantage, self._block, f"{flow}#{ttl}")
            behind = self._carrier_nat() if way.end == "gateway" else []
            at = ttl - len(nat) - 1
            if at < 0:
                answered = self._reply_private(ttl, nat[ttl - 1], 0.5 * ttl)
            elif at < len(way.steps):
                step = way.steps[at]
                if self._rewrites(step.router) or step.router == self._block.router:
                    self._put(ttl, self._target, ECHO_REPLY, step)
                    return "COMPLETED", self._hops, ttl
                answered = not self._is_stopped(way.steps[: at + 1]) and self._reply(
                    ttl, step, TIME_EXCEEDED
                )
            elif at < len(way.steps) + len(behind):
                ms = way.steps[-1].ms + 0.5
                answered = self._reply_private(ttl, behind[at - len(way.steps)], ms)
            else:
                at_end += 1
                stop = self._end(ttl, way.end, way.steps, at_end)
                if stop:
                    return stop, self._hops, ttl
                continue
            missed = 0 if answered else missed + 1
            if missed == _GAP_LIMIT:
                return "GAPLIMIT", self._hops, ttl
        return "HOPLIMIT", self._hops, _MOST_TTL

    def _end(self, ttl: int, end: str, steps: tuple[Step, ...], n: int) -> str:
        """What answers behind the last router, the n-th time; why it stops, empty: it goes on."""
        block, last = self._block, steps[-1]
        if end != "gateway":
            return "UNREACH" if end == "no route" else "LOOP"
        if self._answers_at_all:
            self._put(ttl, self._target, ECHO_REPLY, last)
            return "COMPLETED"
        silent = self._network.answers.silent
        if self._is_stopped(steps):
            return "GAPLIMIT"
        if block.loops:
            return self._bounce(ttl, steps, n)
        if block.zombie and last.router not in silent:
            self._put(ttl, self._answer(last), UNREACHABLE, last)
            return "UNREACH" if n == _ZOMBIE_REPLIES else ""
        return "GAPLIMIT"

    def _bounce(self, ttl: int, steps: tuple[Step, ...], n: int) -> str:
        """Back to the provider by the default route, and to the customer again."""
        gateway = steps[-1].router
        before = steps[-2].router if len(steps) > 1 else gateway
        link = next(
            (each for each in self._network.links_of[gateway] if each.other(gateway) == before),
            None,
        )
        if before == gateway or link is None:
            return "GAPLIMIT"
        if n > _LOOP_HOPS:
            return "LOOP"
        router = before if n % 2 else gateway
        ms = steps[-1].ms + n * self._walks.delays.of(link)
        self._reply(ttl, Step(router, link.addr(router), ms), TIME_EXCEEDED)
        return ""

    def _is_stopped(self, steps: tuple[Step, ...]) -> bool:
        """Whether a firewall drops the probe that uses up its TTL at the last of these routers."""
        asn_of, answers = self._network.asn_of, self._network.answers
        asn = asn_of[steps[-1].router]
        if asn in answers.only_border:
            return asn_of[steps[max(0, len(steps) - 2)].router] == asn
        return asn in answers.firewalled

    def _rewrites(self, router: int) -> bool:
        asn = self._network.asn_of[router]
        return asn == self._block.asn and asn in self._network.answers.rewriting

    def _carrier_nat(self) -> list[str]:
        """Private hops before the customers of some ASes, the same numbers in each of them."""
        if self._block.asn not in self._network.answers.carrier_nat:
            return []
        drawn = zlib.crc32(self._target.encode())
        start = "10." if drawn & 2 else "100.64."
        addrs = [f"{start}{k}.0.1" if drawn & 2 else f"{start}{k}.1" for k in (1, 2)]
        return addrs[: 1 + (drawn & 1)]

    def _answer(self, step: Step) -> str:
        """The address that a router answers with."""
        answers = self._network.answers
        if step.router in answers.loopback:
            return self._network.loopback[step.router]
        if step.router in answers.outgoing:
            return self._walks.outgoing(step.router, self._vantage) or step.addr
        return step.addr

    def _reply(self, ttl: int, step: Step, icmp_type: int) -> bool:
        """Whether a router answers; if so, its hop."""
        answers, plan = self._network.answers, self._network.plan
        if step.router in answers.silent:
            return False
        if step.router in answers.limited and self._random.random() >= plan.limited_answers:
            return False
        self._put(ttl, self._answer(step), icmp_type, step)
        return True

    def _reply_private(self, ttl: int, addr: str, ms: float) -> bool:
        if self._random.random() >= 0.9:
            return False
        self._add(ttl, addr, TIME_EXCEEDED, 64 - ttl, 2 * ms)
        return True

    def _put(self, ttl: int, addr: str, icmp_type: int, step: Step) -> None:
        reply_ttl, back_ms = self._walks.back(step.router, self._vantage)
        if icmp_type == ECHO_REPLY:
            reply_ttl = 64 - ttl
        self._add(ttl, addr, icmp_type, reply_ttl, step.ms + back_ms)

    def _add(self, ttl: int, addr: str, icmp_type: int, reply_ttl: int, ms: float) -> None:
        self._hops.append(
            {
                "addr": addr,
                "probe_ttl": ttl,
                "probe_id": 1,
                "probe_size": 60,
                "rtt": round(ms + processing_ms(self._random), 3),
                "reply_ttl": reply_ttl,
                "reply_size": 56,
                "icmp_type": icmp_type,
                "icmp_code": 1 if icmp_type == UNREACHABLE else 0,
            }
        )


def processing_ms(random: Random) -> float:
    """How long a reply waits before it is sent."""
    queue = random.expovariate(1 / QUEUE_MS) if random.random() < QUEUED else 0.0
    return random.expovariate(1 / REPLY_MS) + queue
