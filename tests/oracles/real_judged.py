"""Ingresses of real measurements, judged by readers who did not see what hopscope says.

    python -m tests.oracles.real_judged cases [FOLDER] > cases.txt
    python -m tests.oracles.real_judged table [FOLDER]

``cases`` prints what a reader gets for each address that hopscope, or a plain look-up by prefix,
would call an ingress: the traces through it, with prefixes' ASes and their names, in an order
that says nothing about the answer. Two readers answered each by themselves (``real_judged.json``:
the AS that the router is of, the ASes before it if it is an ingress, and why; null where the
traces do not tell). ``table`` draws 60 of what is stated now, by ``SEED``, and counts which of
them both readers contradict, or one (doubtful). Measurements are read one by one.
FOLDER is as in ``tests.oracles.real_ingresses``.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.infer import Observer, PrefixTable, infer_topology
from pipeline.ingest import open_reader
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import TraceBatch
from pipeline.model.topology import NO_ASN, Topology
from tests.addresses import format_addrs, parse_addrs
from tests.oracles.real_ingresses import prefixes_of_ranges
from tests.real_data import ROOT

SEED = "real ingresses, 2026"
DRAWN = 60
MEASUREMENTS = (
    "pantrace/atlas.jsonl",
    "pantrace/trace.warts",
    "sagan/atlas_traceroute.jsonl",
    "mlab_scamper2/valid-complex",
    "mlab_scamper2/valid-complex-dst-in-hops-v4",
    "mlab_scamper2/valid-complex-dst-in-hops-v6",
)
JUDGEMENTS = Path(__file__).with_name("real_judged.json")
_SHOWN = 8  # traces in a case
_BEFORE, _AFTER = 5, 7  # hops shown around the address

Place = tuple[str, str]  # measurement, address


@dataclass(frozen=True)
class Trace:
    """One trace: hops by TTL (a hop without an answer is absent), and the target."""

    hops: tuple[tuple[int, str], ...]
    target: str

    def place(self, addr: str) -> int | None:
        """Which hop ``addr`` is."""
        return next((at for at, (_, hop) in enumerate(self.hops) if hop == addr), None)


@dataclass(frozen=True)
class Stated:
    """What is said of one node with ``addr``."""

    asn: int
    before: tuple[int, ...]
    confidence: float
    candidate: bool


def _rank(place: Place) -> str:
    return hashlib.sha256(" ".join((SEED, *place)).encode()).hexdigest()


def _traces(batches: Iterable[TraceBatch]) -> Iterator[Trace]:
    for batch in batches:
        addrs, targets = format_addrs(batch.addr), format_addrs(batch.dst_addr)
        for row, target in enumerate(targets):
            first, end = batch.reply_ptr[row : row + 2].tolist()
            hops = {}
            for reply in range(first, end):
                hops.setdefault((int(batch.ttl[reply]), addrs[reply]), None)
            yield Trace(tuple(hops), target)


def _as_names(folder: Path) -> dict[int, str]:
    names = {}
    for version in "46":
        path = folder / "ip2as" / f"asn-ipv{version}.csv.gz"
        with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
            names.update({int(asn): name for _, _, asn, name, *_ in csv.reader(stream)})
    return names


class _Labels:
    """Addresses with the AS of their prefix and its name."""

    def __init__(self, prefixes: PrefixTable, names: dict[int, str]) -> None:
        self.prefixes, self.names, self.known = prefixes, names, dict[str, int]()

    def asn(self, addr: str) -> int:
        if addr not in self.known:
            self.known[addr] = int(self.prefixes.lookup(parse_addrs([addr]))[0])
        return self.known[addr]

    def __call__(self, addr: str) -> str:
        asn = self.asn(addr)
        if asn == NO_ASN:
            return f"{addr} [no prefix]"
        return f"{addr} [AS{asn} {self.names.get(asn, '')[:28]}]"


def read(folder: Path, measurement: str, scratch: Path) -> tuple[list[Trace], Observer]:
    """The traces of one measurement, and what inference gathers from them."""
    path, observer, kept = folder / "traceroute" / measurement, Observer(scratch), []
    for batch in open_reader(path, ReadReport(str(path)))[1]:
        observer.add(batch)
        kept += _traces([batch])
    return kept, observer


def stated(topology: Topology) -> dict[str, Stated]:
    """Ingresses and candidates, by each address of their nodes."""
    assert topology.addrs is not None
    assert topology.addr_node is not None
    table, by_node = topology.ingresses, defaultdict(list)
    for addr, node in zip(format_addrs(topology.addrs), topology.addr_node.tolist(), strict=True):
        by_node[node].append(addr)
    said = {}
    for row, node in enumerate(table.node.tolist()):
        first, end = table.neighbor_ptr[row : row + 2]
        one = Stated(
            int(topology.node_asn[node]),
            tuple(table.neighbor_asn[first:end].tolist()),
            float(table.confidence[row]),
            bool(table.candidate[row]),
        )
        said |= dict.fromkeys(by_node[node][:1], one)
    return said


def by_prefix(traces: Iterable[Trace], labels: _Labels) -> set[str]:
    """Addresses right behind one whose prefix is of another AS, in some trace."""
    found = set()
    for trace in traces:
        for (ttl, addr), (next_ttl, behind) in zip(trace.hops, trace.hops[1:], strict=False):
            owners = labels.asn(addr), labels.asn(behind)
            told = NO_ASN not in owners and owners[0] != owners[1]
            if told and next_ttl == ttl + 1 and behind != trace.target:
                found.add(behind)
    return found


def _line(trace: Trace, at: int | None, labels: _Labels) -> str:
    """One trace, around its hop ``at`` or whole."""
    window = trace.hops if at is None else trace.hops[max(0, at - _BEFORE) : at + _AFTER + 1]
    words, last = [], None
    for ttl, addr in window:
        if last is not None and ttl > last + 1:
            words.append(f"({ttl - last - 1} unanswered)")
        mark = ">>" if at is not None and addr == trace.hops[at][1] else ""
        words.append(f"{mark}{'same TTL: ' if ttl == last else ''}{labels(addr)}")
        last = ttl
    more = 0 if at is None else len(trace.hops) - at - _AFTER - 1
    tail = f"; {more} more hops" if more > 0 else ""
    reached = "" if any(hop == trace.target for _, hop in trace.hops) else ", did not answer"
    return f"  to {labels(trace.target)}{reached}: {' -> '.join(words)}{tail}"


def case(place: Place, traces: Sequence[Trace], labels: _Labels) -> str:
    """What a reader gets: up to eight traces through the address, of the most different kinds."""
    measurement, addr = place
    through = [(trace, at) for trace in traces if (at := trace.place(addr)) is not None]
    kinds = defaultdict(list)
    for trace, at in through:
        around = tuple(hop for _, hop in trace.hops[max(0, at - 1) : at + 2])
        kinds[around, labels.asn(trace.target)].append((trace, at))
    shown = [several[0] for several in sorted(kinds.values(), key=len, reverse=True)][:_SHOWN]
    targets = sorted({labels.asn(trace.target) for trace, _ in through})
    head = (
        f"## {measurement} {labels(addr)}\n"
        f"{len(through)} traces, to targets in {len(targets)} ASes; {len(shown)} shown"
    )
    return "\n".join([head, *(_line(trace, at, labels) for trace, at in shown)])


@dataclass(frozen=True)
class Row:
    """One drawn ingress beside both readers."""

    place: Place
    said: Stated
    readers: tuple[dict, dict] | None

    @property
    def verdict(self) -> str:
        """right, wrong (both say otherwise), doubtful (they differ, or do not know), unread."""
        if self.readers is None:
            return "unread"
        votes = {self._vote(reader) for reader in self.readers}
        return votes.pop() if len(votes) == 1 else "doubtful"

    def _vote(self, reader: dict) -> str:
        if reader["asn"] is None or reader["before"] is None:
            return "doubtful"
        right = reader["asn"] == self.said.asn and set(reader["before"]) & set(self.said.before)
        return "right" if right else "wrong"


def rows(folder: Path, judgements: dict) -> list[Row]:
    """The drawn ingresses: candidates, which are stated as such, are not among them."""
    everything = {}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        prefixes = prefixes_of_ranges(folder / "ip2as", scratch)
        for measurement in MEASUREMENTS:
            _, observer = read(folder, measurement, scratch)
            topology = infer_topology([observer.close()], prefixes=prefixes, registries=None)
            said = stated(topology)
            everything |= {(measurement, addr): one for addr, one in said.items()}
    sure = [place for place in everything if not everything[place].candidate]
    weak = [place for place in everything if everything[place].candidate]
    drawn = (sorted(sure, key=_rank) + sorted(weak, key=_rank))[:DRAWN]
    return [Row(place, everything[place], judgements.get(" ".join(place))) for place in drawn]


def print_cases(folder: Path) -> None:
    """All cases, by a rank that says nothing, then all traces."""
    names, texts, whole = _as_names(folder), dict[str, str](), list[str]()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        prefixes = prefixes_of_ranges(folder / "ip2as", scratch)
        labels = _Labels(prefixes, names)
        for measurement in MEASUREMENTS:
            traces, observer = read(folder, measurement, scratch)
            topology = infer_topology([observer.close()], prefixes=prefixes, registries=None)
            for addr in by_prefix(traces, labels) | set(stated(topology)):
                place = measurement, addr
                texts[_rank(place)] = case(place, traces, labels)
            whole += [
                f"# All traces of {measurement}",
                *(_line(one, None, labels) for one in traces),
            ]
    cases = "\n\n".join(texts[rank] for rank in sorted(texts))
    sys.stdout.write("\n".join([cases, "", *whole, ""]))


def table(rows_: Sequence[Row]) -> Iterator[str]:
    """Markdown, faults first."""
    order = ("wrong", "doubtful", "unread", "right")
    yield (
        ", ".join(f"{sum(row.verdict == kind for row in rows_)} {kind}" for kind in order) + "\n\n"
    )
    heads = ("address", "measurement", "stated", "first reader", "second reader", "judged")
    yield _cells(heads)
    yield _cells(["---"] * len(heads))
    for row in sorted(rows_, key=lambda row: (order.index(row.verdict), _rank(row.place))):
        said = row.said
        kind = "candidate" if said.candidate else f"{said.confidence:.3f}"
        before = ", ".join(f"AS{asn}" for asn in said.before)
        readers = ["", ""] if row.readers is None else map(_reading, row.readers)
        stated_as = f"AS{said.asn} from {before}, {kind}"
        yield _cells((row.place[1], row.place[0], stated_as, *readers, row.verdict))


def _cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _reading(reader: dict) -> str:
    if reader["asn"] is None:
        return f"cannot be told: {reader['why']}"
    if reader["before"] is None:
        return f"AS{reader['asn']}, from where cannot be told: {reader['why']}"
    before = ", ".join(f"AS{asn}" for asn in reader["before"]) or "nowhere else"
    return f"AS{reader['asn']} from {before}: {reader['why']}"


def main(words: Sequence[str] | None = None) -> None:
    """Print cases, or the table."""
    words = sys.argv[1:] if words is None else words
    folder = Path(words[1]) if len(words) > 1 else ROOT
    if words[0] == "cases":
        print_cases(folder)
    else:
        sys.stdout.writelines(table(rows(folder, json.loads(JUDGEMENTS.read_text()))))


if __name__ == "__main__":
    main()
