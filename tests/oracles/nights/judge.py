"""Nights with planted changes, compared: which plants are found, and what else is reported."""

from __future__ import annotations

import ipaddress
import tempfile
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from pipeline.compare import Changes, Events, References, compare_nights, follow
from pipeline.compare import Night as Compared
from pipeline.compare.changes import WIDTHS
from pipeline.graphs import build_graphs
from pipeline.infer import AliasTable, Observer, PrefixTable, infer_topology
from pipeline.ingest.tables import read_prefixes
from pipeline.model.measured.reading import ReadReport
from pipeline.stages.nights.snapshots import open_night
from pipeline.store import Snapshot, open_snapshot, write_snapshot
from tests.oracles.nights import plants
from tests.oracles.nights.network import Plan, make_network
from tests.oracles.nights.observable import unobservable, ways_of
from tests.oracles.nights.plants import Crossed, Expected, Night, crossed, first_night
from tests.oracles.nights.seen import widths_of
from tests.oracles.nights.widths import grow
from tests.tables import table_of_files
from tests.unit.pipeline.infer.handmade import alias_sets

PLANTS = {
    "link cut": plants.cut_link,
    "ingress moved": plants.move_ingress,
    "AS split": plants.split_as,
    "router renumbered": plants.renumber,
    "measurement host lost": plants.lose_vantage,
    "half of the targets lost": plants.lose_targets,
    "rate limiting": plants.limit_rate,
    "prefix table changed": plants.change_table,
    "AS silent": plants.silence_as,
    "diameter grown": grow("diameter"),
    "radius grown": grow("radius"),
}

# What is planted night after night; none: a quiet night.
NIGHTS: tuple[tuple[str, ...], ...] = (
    ("link cut", "router renumbered", "rate limiting"),
    (),
    ("ingress moved", "AS split", "measurement host lost"),
    ("link cut", "half of the targets lost", "rate limiting"),
    (),
    ("prefix table changed", "ingress moved", "router renumbered"),
    ("link cut", "AS split", "measurement host lost"),
    (),
    ("ingress moved", "rate limiting", "link cut"),
    ("router renumbered", "half of the targets lost", "AS split"),
    ("diameter grown", "radius grown", "link cut"),
    ("radius grown", "rate limiting", "diameter grown"),
    ("radius grown", "diameter grown"),
    ("radius grown", "diameter grown"),
)

NOTHING: tuple[str, ...] = ()
OF_WIDTHS = tuple(own if "diameter grown" in own else NOTHING for own in NIGHTS)

SILENT: tuple[tuple[str, ...], ...] = (("AS silent",),) * 6  # with another AS each night

# Other kinds that say the same: of the only link, or of the link by which a router is seen.
_ALSO = {
    "links removed": ("adjacency lost", "routers lost"),
    "AS split in parts": ("routers lost",),
}

N_BEFORE = 4  # quiet nights that references cover


@dataclass
class Score:
    """What was found, by kind of plant.

    ``hidden``: planted, but not observable, and not counted.
    ``confused``: (plant, kinds of events reported about its ASes) of those not found.
    ``unasked``: kinds of events on nights with plants that no plant explains.
    """

    planted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    hidden: Counter[str] = field(default_factory=Counter)
    confused: list[tuple[str, str]] = field(default_factory=list)
    unasked: Counter[str] = field(default_factory=Counter)
    n_quiet: int = 0
    n_false: Counter[str] = field(default_factory=Counter)

    def add(self, other: Score) -> None:
        """Count another one too."""
        for name in ("planted", "found", "hidden", "unasked", "n_false"):
            getattr(self, name).update(getattr(other, name))
        self.confused += other.confused
        self.n_quiet += other.n_quiet


def judge_network(
    seed: int, nights: Sequence[tuple[str, ...]] = NIGHTS, is_aliased: bool = False
) -> Score:
    """Compare nights with planted changes to the last of ``N_BEFORE`` nights of one network.

    ``is_aliased``: ingest knows which addresses are one router's. An entry of ``nights`` has its
    own random numbers, so what is planted in a night does not depend on the others.
    """
    net = make_network(Plan(seed=seed))
    first = first_night(net)
    by = crossed(net)
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        usual, ways = References.none(), ways_of(first)
        for answering in range(seed, seed + 1_000_000 * N_BEFORE, 1_000_000):
            old = ingest(first, answering, Path(folder), is_aliased)
            usual = follow(usual, old)
        for number, planned in enumerate(nights):
            rng = np.random.default_rng([seed, number])
            night, expected = plant(first, planned, rng, by)
            seeds = (answering, 1000 * (number + 1) + seed)
            hidden = unobservable(first, night, expected, seeds, ways)
            new = ingest(night, seeds[1], Path(folder), is_aliased)
            changes, events = compare_nights(old, new, usual)
            score.add(judge_night(expected, changes, events, hidden))
    return score


def plant(
    night: Night, planned: tuple[str, ...], rng: np.random.Generator, by: Crossed
) -> tuple[Night, list[tuple[str, Expected]]]:
    """Plant changes in ASes that have none yet; what finds no place is left out."""
    expected: list[tuple[str, Expected]] = []
    taken: set[int] = set()
    for name in planned:
        planted = PLANTS[name](night, taken, rng, by)
        if planted is not None:
            night, event = planted
            expected.append((name, event))
            taken |= event.asns | event.hidden
    return night, expected


def judge_night(
    expected: list[tuple[str, Expected]],
    changes: Changes,
    events: Events,
    hidden: Set[int] = frozenset(),
) -> Score:
    """Match plants with events; ``hidden``: positions of those that nobody can observe."""
    score = Score(n_quiet=not expected)
    kinds = events.kind.tolist()
    ases = [set(pair) for pair in zip(events.asn.tolist(), events.other_asn.tolist(), strict=True)]
    used: set[int] = set()
    touched: set[int] = set()
    for i, (name, event) in enumerate(expected):
        touched |= event.asns
        if i in hidden:
            score.hidden[name] += 1
            continue
        score.planted[name] += 1
        about = [i for i, own in enumerate(ases) if not event.asns or own & event.asns]
        right = (event.kind, *_ALSO.get(event.kind, ()))
        hits = [i for i in about if kinds[i] in right]
        used.update(hits)
        hits = [i for i in hits if not event.width or tells_width(changes, i, event)]
        if hits:
            score.found[name] += 1
        else:
            score.confused.append((name, ", ".join(kinds[i] for i in about if event.asns)))
    rest = [kinds[i] for i in range(len(kinds)) if i not in used]
    if expected:
        score.unasked.update(rest)
    else:
        score.n_false.update(rest)
    return score


def tells_width(changes: Changes, number: int, expected: Expected) -> bool:
    """Whether an event says that the width of an AS grew as planted, give or take a hop."""
    rows = (changes.event == number) & (changes.what == expected.width)
    grown = changes.new[rows] - changes.old[rows]
    return len(grown) == 1 and abs(float(grown[0]) - expected.by_hops) <= 1


def ingest(night: Night, seed: int, folder: Path, is_aliased: bool = False) -> Compared:
    """A night through inference and a store; ``is_aliased``: with an alias file of the truth."""
    observer = Observer(folder)
    observer.add(night.measure(seed))
    topology = infer_topology(
        [observer.close()],
        prefixes=_prefixes(night.table, folder),
        aliases=_aliases(night) if is_aliased else None,
    )
    write_snapshot(
        folder / "store",
        "night",
        build_graphs([topology]),
        as_names={},
        inputs=[{"holds": "table", "format": "pfx2as", "sha256": night.table}],
        options={},
        counts={},
        rejects=[],
    )
    with open_snapshot(folder / "store") as snapshot:
        return replace(open_night(snapshot), figures=_figures(snapshot))


def _figures(snapshot: Snapshot) -> dict[str, np.ndarray]:
    """Diameter and radius of each AS, as its report would have them."""
    found = []
    for row in range(snapshot.n_ases):
        graph = snapshot.graph(row)
        ends = np.split(graph.indices, graph.indptr[1:-1])
        found.append(widths_of({u: near.tolist() for u, near in enumerate(ends)}))
    return {name: np.array([own[name] for own in found], float) for name in WIDTHS}


def _aliases(night: Night) -> AliasTable:
    """Addresses of each router."""
    sets: dict[int, list[str]] = {}
    for number, router in night.net.owner.items():
        sets.setdefault(router, []).append(str(ipaddress.ip_address(number)))
    return alias_sets(*sets.values())


def _prefixes(table: str, folder: Path) -> PrefixTable:
    path = folder / "table.pfx2as"
    path.write_text(table)
    return table_of_files(read_prefixes, [path], [ReadReport(str(path))])
