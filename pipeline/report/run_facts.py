"""What every page says about the run as a whole: what a node is, and what that limits."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report.escaping import printable
from pipeline.report.summarise import Summary
from pipeline.report.texts import share, utc


@dataclass(frozen=True)
class RunFacts:
    """What pages say about the run as a whole; texts are plain, templates escape them."""

    snapshot: str
    written: str
    version: str
    noun: str  # what a node is
    nouns: str
    limit: str  # what that means
    declared: bool  # some ASes come from topology files
    declared_only: bool
    n_ases_stored: int
    unreached_share: str


def describe_run(snapshot, summary: Summary, *, version: str, written: float) -> RunFacts:
    """Facts that every page needs, from the snapshot's manifest.

    Parameters
    ----------
    snapshot : pipeline.store.Snapshot
    summary : Summary
    version : str
    written : float
        Seconds since 1970 UTC.
    """
    kind = snapshot.manifest.get("kind") or ""
    noun, nouns, limit = _NODES.get(kind, _NODES["router"])
    inputs = snapshot.manifest.get("inputs") or []
    declared = [entry.get("format") in _TOPOLOGIES for entry in inputs if entry.get("format")]
    traces = any(entry.get("format") not in _NO_TRACES for entry in inputs)
    totals = summary.totals
    if kind == "router" and any(declared) and not traces:
        limit = "A node is a router of the topology file."
    return RunFacts(
        snapshot=printable(snapshot.name),
        written=utc(written),
        version=version,
        noun=noun,
        nouns=nouns,
        limit=limit,
        declared=any(declared),
        declared_only=any(declared) and not traces,
        n_ases_stored=len(snapshot.asn),
        unreached_share=share(totals["n_unreached"], totals["n_nodes"]),
    )


_TOPOLOGIES = ("brite", "snap")
_NO_TRACES = (*_TOPOLOGIES, "pfx2as", "as-names", "itdk-nodes", "", None)

_NODES = {
    "interface": (
        "router",
        "routers",
        "An interface address is a router here, since no alias file told which addresses belong "
        "to one machine: real routers are fewer, and hops between them at most as many.",
    ),
    "router": (
        "router",
        "routers",
        "A node is a router: addresses of one machine were merged by an alias file, or the input "
        "is a map of routers.",
    ),
    "mixed": (
        "router",
        "routers",
        "A node is a router where the input is a map of routers, and an interface address where "
        "it is traces without an alias file: of those, real routers are fewer.",
    ),
    "as": (
        "AS",
        "ASes",
        "A node is a whole AS: the input is a map of ASes, searched as one graph.",
    ),
}
