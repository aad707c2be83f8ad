"""Whether comparing nights finds what was planted in ``internet``, and tells it first.

Each network has a plant of every kind that finds a place, up to three a night, in different ASes
and on pairs of their own. A night with plants is compared with a night before without, and the
night after, on which they are taken back, with it: both directions are judged.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.lib.record import record
from pipeline.compare import Changes, Events, References, compare_nights, follow
from tests.oracles.nights.internet import CLASSIC, PARIS, Night, Trace, ingest
from tests.oracles.nights.planted import PLANTS, Seen, Wanted, shuffled

A_NIGHT = 3  # plants
_TRIES = 25  # places of a plant that are looked at
_OVERLAP = 0.25  # of the pairs of the smaller of two plants
FRESH = (0.0, 0.3, 1.0)  # shares of flows that are balanced otherwise each night
_MOST = 1.2  # times the pairs of every other plant: it touches most


@dataclass
class Judged:
    """Counts by kind of plant, of both directions.

    ``first``, ``most``: it is the first event, of those that touch most pairs of their night.
    ``missed``: seed, night, kind, and the events of that night. ``false``: kinds of events that no
    plant explains, on nights with plants.
    """

    planted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    first: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)
    false: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    n_nights: int = 0

    def add(self, other: Judged) -> None:
        """Count another one too."""
        for name in ("planted", "found", "right", "first", "most", "false"):
            getattr(self, name).update(getattr(other, name))
        self.missed += other.missed
        self.n_nights += other.n_nights


def judge_seed(seed: int, kinds: Sequence[str] = tuple(PLANTS)) -> Judged:
    """Plant into the network of a seed, compare, and judge."""
    judged = Judged()
    first = Night.of_seed(seed)
    with tempfile.TemporaryDirectory() as name:
        folder, luck = Path(name), seed * 1000
        old = ingest(first, luck, folder)
        usual = follow(References.none(), old)
        for number, plants in enumerate(nights_of(Seen.of(first), Random(seed), kinds)):
            night = Night.of_seed(seed)
            for plant in plants:
                plant.alter(night)
            luck += 1
            new = ingest(night, luck, folder)
            where = f"{seed}.{number}"
            _judge(judged, where, plants, *compare_nights(old, new, usual), back=False)
            luck += 1
            old = ingest(first, luck, folder)
            back = compare_nights(new, old, follow(usual, new))
            _judge(judged, where, plants, *back, back=True)
            usual = follow(usual, old)
    return judged


def nights_of(seen: Seen, random: Random, kinds: Sequence[str]) -> list[list[Wanted]]:
    """Plants of each kind, shared out over nights."""
    nights: list[list[Wanted]] = []
    for kind in shuffled(random, kinds):
        for _, plant in zip(range(_TRIES), PLANTS[kind](seen, random), strict=False):
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
        if asns & others or len(plant.pairs & other.pairs) > _OVERLAP * fewer:
            return False
    return True


def _judge(
    judged: Judged,
    where: str,
    plants: Sequence[Wanted],
    changes: Changes,
    events: Events,
    *,
    back: bool,
) -> None:
    judged.n_nights += 1
    about: dict[int, set[int]] = defaultdict(set)
    for event in range(len(events)):
        what = changes.what[events.first[event]]
        rows = (changes.event == event) & (changes.what == what)
        about[event] = {*changes.asn[rows].tolist(), *changes.other_asn[rows].tolist()}
    kinds = events.kind.tolist()
    hits = {
        plant.name: [
            event
            for event in about
            if kinds[event] in (plant.back if back else plant.kinds)
            and (not plant.asns or plant.asns & about[event])
        ]
        for plant in plants
    }
    used = {event for own in hits.values() for event in own}
    for plant in plants:
        if back and not plant.back:
            continue
        name = f"{plant.name}, back" if back else plant.name
        own = hits[plant.name]
        near = [
            event
            for event in about
            if event not in used and (not plant.asns or plant.asns & about[event])
        ]
        judged.planted[name] += 1
        judged.found[name] += bool(own or near)
        judged.right[name] += bool(own)
        others = [len(other.pairs) for other in plants if other is not plant]
        is_most = len(plant.pairs) >= _MOST * max(others, default=0)
        judged.most[name] += is_most
        judged.first[name] += is_most and 0 in own
        if not own or (is_most and 0 not in own):
            text = ", ".join(
                f"{kinds[e]} {sorted(about[e])[-3:]} {events.n_traces[e]}" for e in list(about)[:5]
            )
            place = f"place {own[0] + 1}" if own else "missed"
            asns = sorted(plant.asns)[:4]
            judged.missed.append(
                f"{where} {name} {asns} {len(plant.pairs)} pairs: {place}; {text or 'nothing'}"
            )
    judged.false.update(kind for event, kind in enumerate(kinds) if event not in used)


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
    night = Night.of_seed(seed, **balanced)
    night.loss, night.methods, night.fresh = 0.03, methods, share
    targets = sorted(block.target for block in night.net.blocks)
    with tempfile.TemporaryDirectory() as name:
        old, usual, was_said = None, References.none(), set()
        for number in range(n_nights + 1):
            random = Random(f"{seed} {number}")
            night.left_out = set(random.sample(targets, len(targets) // 10))
            traces: list[Trace] = night.traces(seed * 1000 + number)
            random.shuffle(traces)
            traces += traces[: random.choice((0, 0, len(traces) // 8))]
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


def table(judged: Judged) -> list[str]:
    """Lines of a table by kind."""
    lines = [
        "| planted | changes | found | right kind | first, of those that touch most pairs |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name in sorted(judged.planted):
        first = f"{judged.first[name]} of {judged.most[name]}"
        lines.append(
            f"| {name} | {judged.planted[name]} | {judged.found[name]} | {judged.right[name]} |"
            f" {first} |"
        )
    total = judged.planted.total()
    lines.append(
        f"| all | {total} | {judged.found.total()} | {judged.right.total()} |"
        f" {judged.first.total()} of {judged.most.total()} |"
    )
    return lines


def judge_changes(seeds: Sequence[int]) -> list[str]:
    """Judge plants in the networks of some seeds; records the table, and returns its lines."""
    judged = Judged()
    for n, seed in enumerate(seeds, start=1):
        judged.add(judge_seed(seed))
        _record_changes(judged, seeds[:n])
    others = dict(judged.false.most_common())
    return [*table(judged), f"other events on {judged.n_nights} nights: {others}"]


def _record_changes(judged: Judged, seeds: Sequence[int]) -> None:
    """Write what was judged so far."""
    rows = [
        {
            "planted": name,
            "n": judged.planted[name],
            "found": judged.found[name],
            "right_kind": judged.right[name],
            "touches_most": judged.most[name],
            "first": judged.first[name],
        }
        for name in sorted(judged.planted)
    ]
    others = dict(judged.false.most_common())
    more = {"seeds": [*seeds], "n_nights": judged.n_nights, "other_events": others}
    with contextlib.redirect_stdout(io.StringIO()):
        record("nights_changes", rows, **more, missed=judged.missed)


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
