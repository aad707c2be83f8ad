"""Whether comparing nights finds what was planted in ``internet``, and tells it first.

Each network has a plant of every kind that finds a place, up to three a night, in different ASes
and on pairs of their own. A night with plants is compared with a night before without, and the
night after, on which they are taken back, with it: both directions are judged.

They are counted twice: as a reader would accept it, by the decisions that ``planted`` gives reasons
for, and as before these (``once``). Standard errors are those of a ratio over networks, whose
plants and nights depend on one another.
"""

from __future__ import annotations

import contextlib
import io
import math
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np

from benchmarks.lib.record import record
from pipeline.compare import Changes, Events, References, compare_nights, follow
from pipeline.compare.changes import WIDTHS
from pipeline.generate.networks.planting.plant import shuffled
from pipeline.generate.networks.planting.ways import Seen, common
from pipeline.generate.networks.tracing import Campaign
from pipeline.model.addresses import format_addr
from tests.oracles.nights.internet import (
    CLASSIC,
    PARIS,
    ingest,
    lose_replies,
    night_of,
    take_traces,
    traces_of,
)
from tests.oracles.nights.planted import PLANTS, Places, Wanted

A_NIGHT = 3  # plants
_TRIES = 25  # places of a plant that are looked at
_OVERLAP = 0.25  # of the pairs of the smaller of two plants
FRESH = (0.0, 0.3, 1.0)  # shares of flows that are balanced otherwise each night
_MOST = 1.2  # times the pairs of every other plant: it touches most


@dataclass
class Counts:
    """Counts by kind of plant, of both directions.

    ``first``, ``most``: it is the first event, of those that touch most pairs of their night.
    """

    planted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    first: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)

    def add(self, other: Counts) -> None:
        """Count another one too."""
        for own, more in zip(vars(self).values(), vars(other).values(), strict=True):
            own.update(more)


@dataclass
class Judged:
    """What is found of plants; ``by_seed``: the counts of each network.

    ``missed``: seed, night, kind, and the events of that night. ``false``: kinds of events that no
    plant explains, on nights with plants.
    """

    counts: Counts = field(default_factory=Counts)
    once: Counts = field(default_factory=Counts)
    by_seed: list[tuple[Counts, Counts]] = field(default_factory=list)
    false: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    n_nights: int = 0

    def add(self, other: Judged) -> None:
        """Count another network too."""
        self.counts.add(other.counts)
        self.once.add(other.once)
        self.by_seed.append((other.counts, other.once))
        self.false.update(other.false)
        self.missed += other.missed
        self.n_nights += other.n_nights


def judge_seed(seed: int, kinds: Mapping[str, Places] = PLANTS) -> Judged:
    """Plant into the network of a seed, compare, and judge."""
    has_figures = kinds is not PLANTS
    judged = Judged()
    first = night_of(seed)
    with tempfile.TemporaryDirectory() as name:
        folder, luck = Path(name), seed * 1000
        old = ingest(first, luck, folder, has_figures=has_figures)
        usual = follow(References.none(), old)
        for number, plants in enumerate(nights_of(Seen(Campaign(first)), Random(seed), kinds)):
            night = first.copy()
            for plant in plants:
                plant.alter(night)
            luck += 1
            new = ingest(night, luck, folder, has_figures=has_figures)
            where = f"{seed}.{number}"
            _judge(judged, where, plants, *compare_nights(old, new, usual), back=False)
            luck += 1
            old = ingest(first, luck, folder, has_figures=has_figures)
            back = compare_nights(new, old, follow(usual, new))
            _judge(judged, where, plants, *back, back=True)
            usual = follow(usual, old)
    return judged


def nights_of(seen: Seen, random: Random, kinds: Mapping[str, Places]) -> list[list[Wanted]]:
    """Plants of each kind, shared out over nights."""
    nights: list[list[Wanted]] = []
    for kind in shuffled(random, kinds):
        for _, plant in zip(range(_TRIES), kinds[kind](seen, random), strict=False):
            room = [night for night in nights if len(night) < A_NIGHT and _fits(plant, night)]
            if room:
                room[0].append(plant)
            else:
                nights.append([plant])
            break
    return nights


def _fits(plant: Wanted, night: Sequence[Wanted]) -> bool:
    """Whether a plant is apart from those of a night."""
    if plant.needs_alone or any(other.needs_alone for other in night):
        return False
    for other in night:
        fewer = min(len(plant.pairs), len(other.pairs))
        asns, others = plant.asns | plant.hidden, other.asns | other.hidden
        if asns & others or len(common(plant.pairs, other.pairs)) > _OVERLAP * fewer:
            return False
    return True


@dataclass(frozen=True)
class _Told:
    """An event: ASes and addresses that its changes of the kind that began it name, and why.

    ``grown``: by how much figures of its ASes changed.
    """

    kind: str
    asns: frozenset[int]
    addrs: frozenset[str]
    label: str
    n_traces: int
    grown: Mapping[tuple[int, str], float]

    @classmethod
    def of(cls, changes: Changes, events: Events, event: int) -> _Told:
        first = events.first[event]
        rows = np.flatnonzero((changes.event == event) & (changes.what == changes.what[first]))
        asns = {*changes.asn[rows].tolist(), *changes.other_asn[rows].tolist()}
        rows = rows[changes.kind[rows] == changes.kind[first]]
        addrs = {
            format_addr(int(high), int(low))
            for highs, lows in (
                (changes.addr_high, changes.addr_low),
                (changes.other_high, changes.other_low),
            )
            for high, low in zip(highs[rows], lows[rows], strict=True)
        }
        label, n_traces = str(changes.reason[first]), int(events.n_traces[event])
        rows = np.flatnonzero(np.isin(changes.what, WIDTHS) & np.isin(changes.asn, [*asns]))
        names = zip(changes.asn[rows].tolist(), changes.what[rows].tolist(), strict=True)
        grown = dict(zip(names, (changes.new - changes.old)[rows].tolist(), strict=True))
        return cls(events.kind[event], frozenset(asns), frozenset(addrs), label, n_traces, grown)

    def is_right(self, plant: Wanted, *, back: bool) -> bool:
        """Whether it is what was planted, by its kind."""
        if self.kind not in (plant.back if back else plant.kinds):
            return False
        sign = -1 if back else 1
        is_as_wide = all(
            abs(self.grown.get((asn, name), 0) - sign * (after - before)) <= 1
            for name, (before, after) in plant.figures.items()
            for asn in plant.asns
        )
        return is_as_wide and self.is_about(plant) and plant.label in ("", self.label)

    def is_about(self, plant: Wanted) -> bool:
        """Whether it names an AS of the plant; a plant without any may be in all."""
        return not plant.asns or bool(plant.asns & self.asns)

    def is_as_true(self, plant: Wanted, *, back: bool) -> bool:
        """Whether it is another true description of what was planted."""
        return any(
            self.kind in (alike.back if back else alike.kinds)
            and alike.asns <= self.asns
            and bool(not alike.addrs or alike.addrs & self.addrs)
            for alike in plant.alike
        )


def _judge(
    judged: Judged,
    where: str,
    plants: Sequence[Wanted],
    changes: Changes,
    events: Events,
    *,
    back: bool,
) -> None:
    """Count what the events of a night say of its plants, in both ways."""
    judged.n_nights += 1
    told = [_Told.of(changes, events, event) for event in range(len(events))]
    for counts, of_today in ((judged.counts, True), (judged.once, False)):
        hits = [
            [
                event
                for event, each in enumerate(told)
                if each.is_right(plant, back=back)
                or (of_today and each.is_as_true(plant, back=back))
            ]
            for plant in plants
        ]
        used = {event for own in hits for event in own}
        n_pairs = [
            len(plant.pairs if of_today or plant.once is None else plant.once) for plant in plants
        ]
        for row, (plant, own) in enumerate(zip(plants, hits, strict=True)):
            if (back and not plant.back) or (of_today and plant.untold):
                continue
            name = f"{plant.name}, back" if back else plant.name
            near = [e for e, each in enumerate(told) if e not in used and each.is_about(plant)]
            others = [*n_pairs[:row], *n_pairs[row + 1 :]]
            is_most = n_pairs[row] >= _MOST * max(others, default=0)
            counts.planted[name] += 1
            counts.found[name] += bool(own or near)
            counts.right[name] += bool(own)
            counts.most[name] += is_most
            counts.first[name] += is_most and 0 in own
            if of_today and (not own or (is_most and 0 not in own)):
                text = ", ".join(
                    f"{each.kind} {sorted(each.asns)[-3:]} {each.n_traces}" for each in told[:5]
                )
                place = f"place {own[0] + 1}" if own else "missed"
                asns = sorted(plant.asns)[:4]
                judged.missed.append(
                    f"{where} {name} {asns} {n_pairs[row]} pairs: {place}; {text or 'nothing'}"
                )
        if of_today:
            judged.false.update(each.kind for e, each in enumerate(told) if e not in used)


@dataclass
class Quiet:
    """Events of nights on which nothing happened."""

    n_nights: int = 0
    n_with_events: int = 0
    n_in_a_row: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    said: list[str] = field(default_factory=list)

    def add(self, other: Quiet) -> None:
        """Count another one too."""
        self.n_nights += other.n_nights
        self.n_with_events += other.n_with_events
        self.n_in_a_row += other.n_in_a_row
        self.kinds.update(other.kinds)
        self.said += other.said


def quiet_nights(seed: int, n_nights: int = 5, fresh: float | None = None) -> Quiet:
    """Compare nights of one network on which nothing but luck and what is measured differs.

    Of all answers 3 % are lost, routers limit their rate, load is balanced by flow, methods are
    Paris and classic traceroute in turn of seeds, a tenth of the targets is left out, others each
    night, files come in another order and some traces twice. ``fresh``: share of the flows that
    take other ways than on the night before; default: none, some, all, by seed.
    """
    quiet = Quiet()
    share = FRESH[seed // len(FRESH) % len(FRESH)] if fresh is None else fresh
    methods = ((PARIS,), (CLASSIC,), (PARIS, CLASSIC))[seed % 3]
    balanced = {"diamonds": (1, 2, 3), "tier1": (5, 6), "transit": (3, 5)} if seed % 2 else {}
    night = night_of(seed, methods=methods, rebalanced=share, **balanced)
    n_targets = len(Campaign(night).targets.addr)
    with tempfile.TemporaryDirectory() as name:
        old, usual, was_said = None, References.none(), set()
        for number in range(n_nights + 1):
            random, rng = Random(f"{seed} {number}"), np.random.default_rng([seed, number])
            night.left_out = set(random.sample(range(n_targets), n_targets // 10))
            traces = lose_replies(traces_of(night, seed * 1000 + number), 0.03, rng)
            rows = rng.permutation(traces.n_traces)
            again = rows[: random.choice((0, 0, len(rows) // 8))]
            traces = take_traces(traces, np.concatenate([rows, again]))
            new = ingest(night, 0, Path(name), traces)
            if old is not None:
                changes, events = compare_nights(old, new, usual)
                quiet.n_nights += 1
                quiet.n_with_events += len(events) > 0
                quiet.kinds.update(events.kind.tolist())
                said = set(zip(events.kind.tolist(), events.asn.tolist(), strict=True))
                quiet.n_in_a_row += len(said & was_said)
                was_said = said
                for at in range(len(events)):
                    row = events.first[at]
                    reason = changes.reason[row]
                    quiet.said.append(
                        f"{seed}.{number} {events.kind[at]} {events.asn[at]} {events.other_asn[at]}"
                        f" {events.n_pairs[at]} pairs {reason}"
                    )
            usual = follow(usual, new)
            old = new
    return quiet


def share(hits: Sequence[int], asked: Sequence[int]) -> tuple[float, float]:
    """A share of all, of counts by network, and its standard error (that of a ratio).

    >>> share([9, 10, 8], [10, 10, 10])
    (0.9, 0.05773502691896257)
    """
    n, total = len(asked), sum(asked)
    if not total:
        return math.nan, math.nan
    ratio = sum(hits) / total
    spread = sum((hit - ratio * each) ** 2 for hit, each in zip(hits, asked, strict=True))
    return ratio, math.sqrt(spread * n / max(1, n - 1)) / total


def shares(by_network: Sequence[Counts]) -> dict[str, tuple[float, float]]:
    """Shares of all plants that were found, by the right kind, and first, with standard errors."""

    def totals(name: str) -> list[int]:
        return [getattr(counts, name).total() for counts in by_network]

    planted, most = totals("planted"), totals("most")
    return {
        "found": share(totals("found"), planted),
        "right_kind": share(totals("right"), planted),
        "first": share(totals("first"), most),
    }


def table(judged: Judged) -> list[str]:
    """Lines of a table by kind, and of shares with their standard errors, counted in both ways."""
    lines = [
        "| planted | changes | found | right kind | first, of those that touch most pairs |",
        "| --- | --- | --- | --- | --- |",
    ]
    counts = judged.counts
    for name in sorted(counts.planted):
        first = f"{counts.first[name]} of {counts.most[name]}"
        lines.append(
            f"| {name} | {counts.planted[name]} | {counts.found[name]} | {counts.right[name]} |"
            f" {first} |"
        )
    for way, each, column in (("all", counts, 0), ("all, as once", judged.once, 1)):
        lines.append(
            f"| {way} | {each.planted.total()} | {each.found.total()} | {each.right.total()} |"
            f" {each.first.total()} of {each.most.total()} |"
        )
        for name, (value, error) in shares([both[column] for both in judged.by_seed]).items():
            lines.append(f"{way}, {name}: {value:.3f} ± {error:.3f}")
    return lines


def judge_changes(seeds: Sequence[int], kinds: Mapping[str, Places], name: str) -> list[str]:
    """Judge plants in the networks of some seeds; records the table, and returns its lines."""
    judged = Judged()
    for n, seed in enumerate(seeds, start=1):
        judged.add(judge_seed(seed, kinds))
        _record_changes(judged, seeds[:n], name)
    others = dict(judged.false.most_common())
    return [*table(judged), f"other events on {judged.n_nights} nights: {others}"]


def _record_changes(judged: Judged, seeds: Sequence[int], recorded: str) -> None:
    """Write what was judged so far."""
    rows = [
        {
            "planted": name,
            "counted": way,
            "n": counts.planted[name],
            "found": counts.found[name],
            "right_kind": counts.right[name],
            "touches_most": counts.most[name],
            "first": counts.first[name],
        }
        for way, counts in (("as accepted", judged.counts), ("as once", judged.once))
        for name in sorted(counts.planted)
    ]
    ways = {
        way: {
            name: {"share": round(value, 4), "standard_error": round(error, 4)}
            for name, (value, error) in shares([both[column] for both in judged.by_seed]).items()
        }
        for way, column in (("as accepted", 0), ("as once", 1))
    }
    others = dict(judged.false.most_common())
    more = {"seeds": [*seeds], "n_nights": judged.n_nights, "other_events": others}
    with contextlib.redirect_stdout(io.StringIO()):
        record(recorded, rows, **more, shares=ways, missed=judged.missed)


def judge_quiet(seeds: Sequence[int]) -> list[str]:
    """Compare quiet nights of the networks of some seeds; records and says what is reported."""
    quiet = Quiet()
    for n, seed in enumerate(seeds, start=1):
        quiet.add(quiet_nights(seed))
        row = {
            "n_nights": quiet.n_nights,
            "with_events": quiet.n_with_events,
            "twice_in_a_row": quiet.n_in_a_row,
            "events": dict(quiet.kinds),
        }
        record("nights_quiet", [row], seeds=[*seeds[:n]], said=quiet.said)
    return quiet.said
