"""Nights of one network whose links become slower: what is reported with and without references.

Each seed is one network with 24 nights. From the tenth on, each on links of its own: drifts (0.2 ms
more every night), steps (4 ms from a night on), and single bad nights (4 ms on that night only).
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from pipeline.compare import Changes, References, compare_nights, follow
from pipeline.compare import Night as Compared
from pipeline.compare.changes import FASTER, SLOWER
from pipeline.compare.figures.references import ALPHA
from pipeline.model.addresses import V4_PREFIX
from pipeline.model.columns.ragged import row_of_value
from pipeline.model.measured.traces import TraceBatch
from tests.oracles.nights.judge import ingest
from tests.oracles.nights.network import Network, Plan, make_network, measure
from tests.oracles.nights.plants import first_night

Link = tuple[int, int]  # routers, the near one first

N_NIGHTS = 24
START = 10  # of the first plant: references cover some nights then
DRIFT, STEP, BAD_NIGHT = "drift", "step", "bad night"
DRIFT_MS, STEP_MS = 0.2, 4.0
NOISE_MS = 0.5  # mean of what queues add to an answer
PER_KIND = 2  # links of a network
ALPHAS = (None, 0.01, ALPHA, 0.3)  # None: compared with the night before alone
_MIN_VANTAGES = 9  # that cross a link with a plant


@dataclass(frozen=True)
class Plant:
    """A link that becomes slower, and by how many ms on each night."""

    kind: str
    link: Link
    added_ms: np.ndarray

    @property
    def start(self) -> int:
        return int(np.flatnonzero(self.added_ms)[0])


@dataclass
class Reported:
    """What was reported each night: plants, those found, events of them that say nothing new.

    ``n_false``: events on links without a plant. Found: an event that a link is slower, of steps
    and bad nights on the very night. Nothing new (``again``): that a link is as it was before one
    bad night, or that a step is still there.
    """

    planted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    again: Counter[str] = field(default_factory=Counter)
    n_false: int = 0
    n_nights: int = 0

    def add(self, other: Reported) -> None:
        """Count another one too."""
        for name in ("planted", "found", "again"):
            getattr(self, name).update(getattr(other, name))
        self.n_false += other.n_false
        self.n_nights += other.n_nights


def judge_delays(
    seed: int, alphas: Sequence[float | None] = ALPHAS, n_nights: int = N_NIGHTS
) -> dict[float | None, Reported]:
    """Compare each night of one network with the one before, by references of each weight."""
    net = make_network(Plan(seed=seed, outgoing=0.0))
    plants = plant_delays(net, np.random.default_rng([seed, 1]), n_nights)
    reported: dict = {alpha: [] for alpha in alphas}  # each night: kind and links of its events
    references = dict.fromkeys(alphas, References.none())
    before: Compared | None = None
    with tempfile.TemporaryDirectory() as folder:
        for number in range(n_nights):
            slow = replace(first_night(net), drop=lambda b, n=number: _slowed(b, net, plants, n))
            night = ingest(slow, 1000 * number + seed, Path(folder))
            for alpha in alphas:
                if before is not None:
                    usual = None if alpha is None else references[alpha]
                    reported[alpha].append(_events(net, compare_nights(before, night, usual)[0]))
                if alpha is not None:
                    references[alpha] = follow(references[alpha], night, alpha)
            before = night
    return {alpha: _judge(plants, [[], *events]) for alpha, events in reported.items()}


def plant_delays(net: Network, rng: np.random.Generator, n_nights: int) -> list[Plant]:
    """Plants on links that many vantage points cross, no two at one router."""
    batch = measure(replace(net, silent=set(), limited=set()))
    trace, router = _routers(net, batch)
    on = np.flatnonzero((trace[1:] == trace[:-1]) & (router[1:] >= 0) & (router[:-1] >= 0))
    source = batch.src_addr[trace[on], 1].tolist()
    seen: dict[Link, set[int]] = {}
    links = zip(router[on].tolist(), router[on + 1].tolist(), strict=True)
    for link, by in zip(links, source, strict=True):
        seen.setdefault(link, set()).add(by)
    able = set(range(len(net.asn))) - net.silent - net.limited
    many = sorted(k for k, by in seen.items() if len(by) >= _MIN_VANTAGES and set(k) <= able)
    night = np.arange(n_nights)
    plants: list[Plant] = []
    taken: set[int] = set()
    for u, v in rng.permutation(np.array(many).reshape(-1, 2)).tolist():
        if len(plants) == 3 * PER_KIND or taken & {u, v}:
            continue
        taken |= {u, v}
        kind = (DRIFT, STEP, BAD_NIGHT)[len(plants) % 3]
        start = START if kind == DRIFT else int(rng.integers(START, n_nights - 3))
        added = {
            DRIFT: DRIFT_MS * np.maximum(night - start + 1, 0),
            STEP: STEP_MS * (night >= start),
            BAD_NIGHT: STEP_MS * (night == start),
        }[kind]
        plants.append(Plant(kind, (u, v), added))
    return plants


def _routers(net: Network, batch: TraceBatch) -> tuple[np.ndarray, np.ndarray]:
    """Trace and router of each reply, -1 for a host."""
    numbers = (batch.addr[:, 1] ^ V4_PREFIX).astype(np.int64).tolist()
    return row_of_value(batch.reply_ptr), np.array([net.owner.get(n, -1) for n in numbers])


def _slowed(batch: TraceBatch, net: Network, plants: Sequence[Plant], night: int) -> TraceBatch:
    """Traces with RTTs of this night: a millisecond a hop, queues, and what was planted."""
    trace, router = _routers(net, batch)
    rng = np.random.default_rng([net.plan.seed, night, 2])
    rtt = batch.ttl + rng.exponential(NOISE_MS, len(batch.ttl))
    same = np.append(False, trace[1:] == trace[:-1])
    before = np.where(same, np.roll(router, 1), -1)
    for plant in plants:
        crosses = (before == plant.link[0]) & (router == plant.link[1])
        passed = np.cumsum(crosses)
        at_start = (passed - crosses)[batch.reply_ptr[:-1][trace]] if len(trace) else passed
        rtt += plant.added_ms[night] * (passed - at_start)
    return replace(batch, rtt_ms=rtt.astype(np.float32))


def _events(net: Network, changes: Changes) -> list[tuple[str, set[Link]]]:
    """Kind and links of each event about delays."""
    events: dict[tuple[int, str], set[Link]] = {}
    for row in np.flatnonzero((changes.event >= 0) & np.isin(changes.kind, (SLOWER, FASTER))):
        ends = (changes.addr_low[row], changes.other_low[row])
        link = tuple(net.owner.get(int(low ^ V4_PREFIX), -1) for low in ends)
        events.setdefault((int(changes.event[row]), changes.kind[row]), set()).add(link)
    return [(kind, links) for (_, kind), links in events.items()]


def _judge(plants: Sequence[Plant], nights: list[list[tuple[str, set[Link]]]]) -> Reported:
    reported = Reported(n_nights=len(nights) - 1)
    own = {plant.link for plant in plants}
    reported.n_false = sum(not links & own for events in nights for _, links in events)
    for plant in plants:
        reported.planted[plant.kind] += 1
        about = [
            (n, kind) for n, events in enumerate(nights) for kind, at in events if plant.link in at
        ]
        slower = [n for n, kind in about if kind == SLOWER]
        good = [n for n in slower if n >= plant.start]
        if plant.kind != DRIFT:
            good = [n for n in good if n == plant.start]
        reported.found[plant.kind] += bool(good)
        reported.again[plant.kind] += len(about) - len(good)
    return reported


def table(seeds: Sequence[int]) -> list[str]:
    """Lines of a table of the networks of some seeds."""
    total = {alpha: Reported() for alpha in ALPHAS}
    for seed in seeds:
        for alpha, reported in judge_delays(seed).items():
            total[alpha].add(reported)
    lines = [
        "| compared with | drifts | steps | bad nights | nothing new | false | nights |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for alpha, reported in total.items():
        name = "the night before" if alpha is None else f"references, weight {alpha}"
        found = [f"{reported.found[k]} of {reported.planted[k]}" for k in (DRIFT, STEP, BAD_NIGHT)]
        more = (reported.again.total(), reported.n_false, reported.n_nights)
        lines.append(f"| {' | '.join([name, *found, *map(str, more)])} |")
    return lines
