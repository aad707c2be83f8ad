"""Nights of one network whose links become slower: what is reported with and without references.

Each seed is one network with 24 nights, as ``hopscope generate internet --nights`` makes them. From
the tenth on, each on links of its own: drifts (a quarter of a millisecond more every night), steps
(8 ms from a night on), and single bad nights (8 ms on that night only).
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import numpy as np

from benchmarks.lib.record import record
from pipeline.compare import Changes, References, compare_nights, follow
from pipeline.compare import Night as Compared
from pipeline.compare.changes import FASTER, SLOWER
from pipeline.compare.figures.references import ALPHA
from pipeline.generate.networks.network import Network
from pipeline.generate.networks.night import addresses_of
from pipeline.generate.networks.planting.orders import Order, parse_order
from pipeline.generate.networks.planting.series import Planted, Series
from pipeline.model.addresses import format_addr
from tests.oracles.nights.internet import PLAN, ingest, measured

N_NIGHTS = 24
START = 10  # of the first plant: references cover some nights then
DRIFT, STEP, BAD_NIGHT = "drift", "step", "bad night"
PER_KIND = 2  # links of a network
ALPHAS = (None, 0.01, ALPHA, 0.3)  # None: compared with the night before alone

_Told = tuple[int, str, set[str]]  # night, kind, and addresses of an event's links


@dataclass
class Reported:
    """What was reported each night: plants, those found, events of them that say nothing new.

    ``n_false``: events on links that share no router with one that has a plant; those that do may
    be slower or faster for it, as replies of one end alone go back over that link. Found: an event
    that a link is slower, of steps and bad nights on the very night. Nothing new (``again``): that
    a link is as it was before one bad night, or that a step is still there.
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
    series = planted_delays(seed, n_nights)
    told: dict[float | None, list[_Told]] = {alpha: [] for alpha in alphas}
    references = {alpha: References.none() for alpha in alphas if alpha is not None}
    before: Compared | None = None
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, n_nights + 1):
            campaign = series.campaign(number)
            night = ingest(campaign.night, 0, Path(folder), measured(campaign))
            for alpha in alphas:
                if before is not None:
                    usual = None if alpha is None else references[alpha]
                    changes, _ = compare_nights(before, night, usual)
                    told[alpha] += ((number, *each) for each in _events(changes))
                if alpha is not None:
                    references[alpha] = follow(references[alpha], night, alpha)
            before = night
    return {alpha: _judge(series, each) for alpha, each in told.items()}


def planted_delays(seed: int, n_nights: int) -> Series:
    """The nights of a seed, with as many plants as find places."""
    network, random = Network(replace(PLAN, seed=seed)), Random(seed)
    orders: list[Order] = []
    for _ in range(PER_KIND):
        step, bad = (random.randrange(START, n_nights - 2) for _ in range(2))
        for text in (f"link-drifting@{START}", f"link-slower@{step}", f"link-slower@{bad}-{bad}"):
            more = [*orders, parse_order(text, n_nights)]
            with contextlib.suppress(ValueError):  # no place for it
                Series(network, None, n_nights, more)
                orders = more
    return Series(network, None, n_nights, orders)


def _events(changes: Changes) -> Iterator[tuple[str, set[str]]]:
    """Kind and addresses of each event about delays."""
    rows = np.flatnonzero((changes.event >= 0) & np.isin(changes.kind, (SLOWER, FASTER)))
    for event in np.unique(changes.event[rows]):
        own = rows[changes.event[rows] == event]
        for kind in np.unique(changes.kind[own]):
            at = own[changes.kind[own] == kind]
            words = (changes.addr_high, changes.addr_low), (changes.other_high, changes.other_low)
            yield (
                str(kind),
                {
                    format_addr(int(high[row]), int(low[row]))
                    for high, low in words
                    for row in at
                },
            )  # fmt: skip


def _judge(series: Series, told: Sequence[_Told]) -> Reported:
    reported = Reported(n_nights=series.n_nights - 1)
    own = [_addresses(series.network, each) for each in series.planted]
    reported.n_false = sum(not any(at & end for ends in own for end in ends) for _, _, at in told)
    for planted, ends in zip(series.planted, own, strict=True):
        order, name = planted.order, DRIFT
        if order.what == "link-slower":
            name = STEP if order.stays else BAD_NIGHT
        reported.planted[name] += 1
        about = [(night, kind) for night, kind, at in told if all(at & end for end in ends)]
        good = [night for night, kind in about if kind == SLOWER and night >= order.first]
        if name != DRIFT:
            good = [night for night in good if night == order.first]
        reported.found[name] += bool(good)
        reported.again[name] += len(about) - len(good)
    return reported


def _addresses(network: Network, planted: Planted) -> list[set[str]]:
    """All addresses of the routers of a plant's link."""
    return [addresses_of(network, router) for router in planted.plant.routers]


def table(seeds: Sequence[int]) -> list[str]:
    """Judge the networks of some seeds; records the table, and returns its lines."""
    total = {alpha: Reported() for alpha in ALPHAS}
    for seed in seeds:
        for alpha, reported in judge_delays(seed).items():
            total[alpha].add(reported)
    rows = [{"weight": alpha, **vars(reported)} for alpha, reported in total.items()]
    with contextlib.redirect_stdout(io.StringIO()):
        record("nights_delays", rows, seeds=[*seeds])
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
