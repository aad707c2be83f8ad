"""Results of inference in a laboratory network, compared with its true topology.

    python -m tests.oracles.truth LAB_DIR...

A laboratory is a folder of measurements with ``ground_truth.json`` and ``lab.pfx2as*`` next to
them. Files that are the same measurement in two formats (``x.warts.gz``, ``x.json.gz``) are read
once.

Figures, each against the truth:

- links: pairs of routers that the measured topology joins, of all pairs that are joined. A link to
  a host counts neither way. A pair that is not joined in truth is false.
- router-to-AS: of all addresses of known routers that answered as routers, those on a node in the
  right AS. No node, or one without an AS, is wrong.
- ingresses: an ingress (candidates are not counted) is right if it sits on a router of the AS that
  it is in, and that router has a link to an AS that is named with it. Visible are the border
  routers that the same traces show when the owner of every address is known; found are those of
  them that a right ingress is on.
- hops: over all pairs of a right ingress and a node that it reaches within its AS, measured hops
  against breadth-first search in the true network of that AS.
"""

from __future__ import annotations

import ipaddress
import json
import sys
import tempfile
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np

from pipeline.errors import FormatError
from pipeline.infer import (
    AliasTable,
    Observation,
    Observer,
    PrefixTable,
    infer_topology,
    read_pfx2as,
)
from pipeline.infer.ingresses import find_ingresses
from pipeline.infer.traces.merge import find_addrs, merge_addresses
from pipeline.infer.traces.passes import Spools
from pipeline.ingest import FORMATS, open_reader
from pipeline.model.addresses import sort_addrs
from pipeline.model.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology
from tests.addresses import format_addrs, parse_addrs

# Laboratories use ranges that are set apart for documentation and benchmarks.
LAB_RANGES = ("198.18.0.0/15", "2001:db8::/32")


@dataclass(frozen=True)
class Truth:
    """A network as it was built."""

    asn_of: dict[str, int]  # of routers
    router_of: dict[str, str]  # address -> router
    links: frozenset[frozenset[str]]  # between routers
    neighbor_asns: dict[str, set[int]]  # of border routers: the ASes that they have links to

    @property
    def border_routers(self) -> set[str]:
        return set(self.neighbor_asns)


def _text(addr: str) -> str:
    return str(ipaddress.ip_address(addr))


def load_truth(folder: Path) -> Truth:
    """Read ``ground_truth.json`` of a laboratory, in either of the two spellings of its links."""
    data = json.loads((folder / "ground_truth.json").read_text())
    hosts = data.get("hosts", {})
    router_of: dict[str, str] = {}
    links = set()
    for link in data["links"]:
        one, other = ("u", "v") if "u" in link else ("a", "b")
        for end in (one, other):
            for suffix in ("_addr", "_addr6"):
                if end + suffix in link and link[end] not in hosts:
                    router_of[_text(link[end + suffix])] = link[end]
        if link[one] not in hosts and link[other] not in hosts:
            links.add(frozenset((link[one], link[other])))
    for key in ("loopback", "loopback6"):
        router_of.update({_text(addr): router for router, addr in data.get(key, {}).items()})
    router_of.update(
        {_text(host["gw_addr"]): host["gw"] for host in hosts.values() if "gw_addr" in host}
    )
    for exchange in data.get("ixps", []):
        router_of.update({_text(addr): router for router, addr in exchange["members"].items()})
    asn_of = {router: asn for router, asn in data["asn_of"].items() if router not in hosts}
    neighbor_asns: dict[str, set[int]] = {}
    for here, there in (pair for link in links for pair in permutations(link)):
        if asn_of[here] != asn_of[there]:
            neighbor_asns.setdefault(here, set()).add(asn_of[there])
    return Truth(asn_of, router_of, frozenset(links), neighbor_asns)


def observe_lab(folder: Path, scratch: Path) -> list[Observation]:
    """Read every measurement of a laboratory, one observation a file."""
    observations, seen = [], set()
    for path in sorted(folder.iterdir(), key=lambda path: (".warts" not in path.name, path.name)):
        report = ReadReport(str(path))
        stem = path.name.split(".warts")[0].split(".json")[0]
        try:
            form, batches = open_reader(path, report)
        except FormatError:
            continue  # the truth, the prefix table, another tool's output
        if form is not FORMATS.get(report.format, form) or form.kind != "traces" or stem in seen:
            continue
        seen.add(stem)
        observer = Observer(scratch)
        for batch in batches:
            observer.add(batch)
        observations.append(observer.close())
    return observations


def load_prefixes(folder: Path) -> PrefixTable:
    """The prefix tables of a laboratory."""
    paths = sorted(folder.glob("lab.pfx2as*"))
    return read_pfx2as(paths, [ReadReport(str(path)) for path in paths])


def true_aliases(truth: Truth) -> AliasTable:
    """Alias sets as a perfect alias resolution would give them."""
    addrs = parse_addrs(truth.router_of)
    numbers = {router: i for i, router in enumerate(truth.asn_of)}
    router = np.array([numbers[r] for r in truth.router_of.values()], np.int64)
    order = sort_addrs(addrs)
    return AliasTable(addrs[order], router[order])


@dataclass(frozen=True)
class Score:
    """Figures of one topology; see the module."""

    links_found: int
    links_false: int
    links_true: int
    addrs_right: int
    addrs: int
    ingresses_right: int
    ingresses: int
    borders_found: int
    borders_visible: int
    borders_true: int
    hop_pairs: int
    hops_equal: int
    hops_excess: float

    @property
    def link_recall(self) -> float:
        return self.links_found / max(1, self.links_true)

    @property
    def link_precision(self) -> float:
        return self.links_found / max(1, self.links_found + self.links_false)

    @property
    def asn_precision(self) -> float:
        return self.addrs_right / max(1, self.addrs)

    @property
    def ingress_precision(self) -> float:
        return self.ingresses_right / max(1, self.ingresses)

    @property
    def hops_equal_share(self) -> float:
        return self.hops_equal / max(1, self.hop_pairs)


def _names(topology: Topology, truth: Truth) -> list[str | None]:
    assert topology.node_addr is not None
    return [truth.router_of.get(addr) for addr in format_addrs(topology.node_addr)]


def _borders_visible(truth: Truth, observations: Sequence[Observation]) -> set[str | None]:
    """Border routers that the traces show if the owner of every address is known."""
    addrs = merge_addresses(observations).addrs
    names = [truth.router_of.get(addr) for addr in format_addrs(addrs)]
    owner = np.array([NO_ASN if n is None else truth.asn_of[n] for n in names], np.int64)
    table = find_ingresses(Spools(observations, addrs, 1), np.arange(len(addrs)), owner)
    return {names[node] for node in table.node[~table.candidate].tolist()}


def _asn_right(
    topology: Topology,
    truth: Truth,
    observations: Sequence[Observation],
    aliases: AliasTable | None,
) -> tuple[int, int]:
    """Addresses of routers that are on a node in the right AS, and all that answered as routers."""
    assert topology.node_addr is not None
    answers = merge_addresses(observations)
    addrs = answers.addrs[answers.is_router]
    node = find_addrs(topology.node_addr, addrs).astype(np.int64)
    if aliases is not None:
        of_set = aliases.routers_of(topology.node_addr)
        node_of = {router: i for i, router in enumerate(of_set.tolist()) if router >= 0}
        alias_set = aliases.routers_of(addrs).tolist()
        node = np.array([node_of.get(s, n) for s, n in zip(alias_set, node.tolist(), strict=True)])
    names = [truth.router_of.get(addr) for addr in format_addrs(addrs)]
    right = [
        at >= 0 and topology.node_asn[at] == truth.asn_of[name]
        for at, name in zip(node.tolist(), names, strict=True)
        if name is not None
    ]
    return sum(right), len(right)


def _right_ingresses(topology: Topology, names: list[str | None], truth: Truth) -> list[int]:
    """Nodes that are ingresses, in the AS of their router, next to an AS that it has a link to."""
    table, right = topology.ingresses, []
    for i in np.flatnonzero(~table.candidate).tolist():
        node = int(table.node[i])
        name = names[node]
        seen = table.neighbor_asn[table.neighbor_ptr[i] : table.neighbor_ptr[i + 1]].tolist()
        if name is None or truth.asn_of[name] != topology.node_asn[node]:
            continue
        if not truth.neighbor_asns.get(name, set()).isdisjoint(seen):
            right.append(node)
    return right


def _neighbors(links: Iterable[Iterable[Hashable]]) -> dict[Hashable, list[Hashable]]:
    near: dict[Hashable, list[Hashable]] = {}
    for one, other in links:
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    return near


def _hops(near: dict[Hashable, list[Hashable]], source: Hashable) -> dict[Hashable, int]:
    """Hops from ``source`` to all that it reaches, by plain breadth-first search."""
    hops, queue = {source: 0}, [source]
    for here in queue:
        for other in near.get(here, ()):
            if other not in hops:
                hops[other] = hops[here] + 1
                queue.append(other)
    return hops


def _compare_hops(
    topology: Topology, names: list[str | None], truth: Truth, sources: Sequence[int]
) -> tuple[int, int, float]:
    """Pairs compared, pairs with equal hops, mean measured minus true hops."""
    inside = topology.node_asn[topology.near] == topology.node_asn[topology.far]
    inside &= topology.node_asn[topology.near] != NO_ASN
    ends = np.column_stack([topology.near[inside], topology.far[inside]])
    measured = _neighbors(ends.tolist())
    built = _neighbors(
        link for link in truth.links if len({truth.asn_of[router] for router in link}) == 1
    )
    pairs = equal = 0
    excess = 0.0
    for source in sources:
        true = _hops(built, names[source])
        for node, hops in _hops(measured, source).items():
            if node != source and names[node] in true:
                difference = hops - true[names[node]]
                pairs += 1
                equal += difference == 0
                excess += difference
    return pairs, equal, excess / max(1, pairs)


def score(
    topology: Topology,
    truth: Truth,
    observations: Sequence[Observation],
    aliases: AliasTable | None = None,
) -> Score:
    """Compare a topology with the truth; ``aliases`` are those that it was inferred with."""
    names = _names(topology, truth)
    joined = {
        frozenset((names[a], names[b]))
        for a, b in zip(topology.near.tolist(), topology.far.tolist(), strict=True)
        if names[a] is not None and names[b] is not None and names[a] != names[b]
    }
    right, n_addrs = _asn_right(topology, truth, observations, aliases)
    good = _right_ingresses(topology, names, truth)
    visible = _borders_visible(truth, observations)
    pairs, equal, excess = _compare_hops(topology, names, truth, good)
    return Score(
        links_found=len(joined & truth.links),
        links_false=len(joined - truth.links),
        links_true=len(truth.links),
        addrs_right=right,
        addrs=n_addrs,
        ingresses_right=len(good),
        ingresses=int(np.count_nonzero(~topology.ingresses.candidate)),
        borders_found=len(visible & {names[node] for node in good}),
        borders_visible=len(visible),
        borders_true=len(truth.border_routers),
        hop_pairs=pairs,
        hops_equal=equal,
        hops_excess=excess,
    )


def score_lab(folder: Path, scratch: Path, *, true_alias_sets: bool = False, **options) -> Score:
    """Read, infer and compare one laboratory; ``options`` go to ``infer_topology``."""
    truth = load_truth(folder)
    observations = observe_lab(folder, scratch)
    aliases = true_aliases(truth) if true_alias_sets else None
    topology = infer_topology(
        observations,
        prefixes=load_prefixes(folder),
        allow_special=LAB_RANGES,
        aliases=aliases,
        **options,
    )
    return score(topology, truth, observations, aliases)


_WAYS: dict[str, dict] = {
    "elected": {},
    "by prefix alone": {"borders": "prefix"},
    "elected, targets are routers": {"targets_are_routers": True},
    "elected, true aliases": {"true_alias_sets": True},
}


def format_score(way: str, s: Score) -> str:
    """One line of the table."""
    return (
        f"{way:28s} | {s.links_found:4d} of {s.links_true:4d}, {s.links_false} false"
        f" | {s.asn_precision:.4f}"
        f" | {s.ingresses:4d}, {s.ingress_precision:.3f}"
        f" | {s.borders_found:3d} of {s.borders_visible:3d} ({s.borders_true})"
        f" | {s.hops_equal_share:.3f}, {s.hops_excess:+.2f}"
    )


def main(folders: Sequence[str]) -> None:
    """Print a table for each laboratory."""
    for name in folders:
        print(f"\n{name}")  # noqa: T201
        print(  # noqa: T201
            f"{'rules':28s} | links, false         | AS right | ingresses, precision"
            " | border routers found of visible (all) | hops equal, mean excess"
        )
        for way, options in _WAYS.items():
            with tempfile.TemporaryDirectory() as scratch:
                print(format_score(way, score_lab(Path(name), Path(scratch), **options)))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
