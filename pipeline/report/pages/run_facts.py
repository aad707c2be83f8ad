"""Facts about the whole run for every page: what a node is, and the limits of that."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipeline.model.measured.mapped import is_mapped_low, mapped_of
from pipeline.model.measured.origins import Origins, Source, origins_of
from pipeline.model.words import NodeWords, graphs_text, node_words, printable
from pipeline.report.tables.summarise import Summary
from pipeline.report.texts import share, utc


@dataclass(frozen=True)
class Synthetic:
    """A source that was not measured, for pages."""

    made_by: str
    path: str  # of the file; empty: a generator wrote into the store
    graphs: str  # how many there are, with their noun


@dataclass(frozen=True)
class RunFacts:
    """Facts about the whole run, for pages; texts are plain, templates escape them."""

    snapshot: str
    written: str
    version: str
    noun: str  # what a node is
    nouns: str
    limit: str  # what that means
    declared: bool  # some ASes come from topology files or generators
    declared_only: bool
    n_ases_stored: int
    unreached_share: str
    brief: str = ""  # ``limit`` in a few words
    synthetic: tuple[Synthetic, ...] = ()
    all_synthetic: bool = False
    mapped: str = ""  # the share of addresses of a known AS; empty without traces
    is_mapped_low: bool = False  # so low that pages warn
    has_panel: bool = False  # the report knows its addresses, and what is known of each router

    @property
    def one(self) -> str:
        """A node with its article."""
        return NodeWords(self.noun, self.nouns).one

    @property
    def of_ases(self) -> bool:
        """Nodes are whole ASes."""
        return self.noun == node_words("as").noun

    @property
    def whole(self) -> NodeWords:
        """What a graph is called: an AS, but not if its nodes are ASes."""
        return NodeWords("graph", "graphs") if self.of_ases else node_words("as")

    def graphs(self, n_ases: int) -> str:
        """That number of ASes with their noun; where nodes are ASes, graphs of them."""
        return graphs_text(n_ases, "as" if self.of_ases else None)


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
    origins = origins_of(snapshot.manifest, snapshot.asn)
    reported = origins.among(summary.ases["asn"].to_numpy())
    totals, counts = summary.totals, snapshot.manifest.get("counts") or {}
    words = node_words(origins.kind)
    brief, limit = _limit(
        origins.kind,
        bool(origins.sources),
        origins.has_traces,
        origins.all_synthetic,
        origins.has_inferred,
    )
    return RunFacts(
        snapshot=printable(snapshot.name),
        written=utc(written),
        version=version,
        noun=words.noun,
        nouns=words.nouns,
        limit=limit,
        brief=brief,
        declared=bool(origins.sources),
        declared_only=bool(origins.sources) and not origins.has_traces,
        n_ases_stored=len(snapshot.asn),
        unreached_share=share(totals["n_unreached"], totals["n_nodes"]),
        synthetic=tuple(map(_synthetic, reported.synthetic)),
        all_synthetic=reported.all_synthetic,
        mapped=mapped_of(counts).replace(" %", "\N{NO-BREAK SPACE}%"),
        is_mapped_low=is_mapped_low(counts),
    )


def about_as(run: RunFacts, origins: Origins, source: Source | None) -> RunFacts:
    """The same, worded for the page of an AS that comes from ``source``."""
    kind = origins.kind_of(source)
    words = node_words(kind)
    declared = source is not None or run.declared_only
    made_up = origins.all_synthetic or (source is not None and bool(source.made_by))
    brief, limit = _limit(kind, declared, not declared, made_up, origins.has_inferred)
    return replace(
        run,
        noun=words.noun,
        nouns=words.nouns,
        limit=limit,
        brief=brief,
        declared=declared,
        declared_only=declared,
        mapped=run.mapped if source is None else "",
        synthetic=(_synthetic(source),) if source is not None and source.made_by else (),
    )


def _synthetic(source: Source) -> Synthetic:
    graphs = graphs_text(source.n_ases, source.kind)
    return Synthetic(printable(source.made_by), printable(source.path), graphs)


def _limit(
    kind: str, has_files: bool, has_traces: bool, made_up: bool, inferred: bool
) -> tuple[str, str]:
    """What a node is, briefly, and the limits of that."""
    if kind != "router":
        return _LIMITS.get(kind, _LIMITS["mixed"])
    if has_files and not has_traces:
        if made_up:
            return "a router of a generated topology", "A node is a router of a generated topology."
        return "a router of the topology file", "A node is a router of the topology file."
    if has_files:
        return (
            "a router of a topology file, or of traces with its addresses merged",
            "A node is a router, from a topology file, or from traces where an alias file groups "
            "its addresses.",
        )
    if inferred:
        return (
            "a router (inferred), its addresses merged where traces or an alias file show it",
            "A node is a router: addresses were merged where traces show that they lead to the "
            "same routers, or where an alias file, if one was given, groups them. What traces show "
            "was inferred, not measured; other addresses of a router may be nodes of their own.",
        )
    return (
        "a router, its addresses merged where the alias file lists them",
        "A node is a router: addresses were merged as the alias file groups them.",
    )


_LIMITS = {
    "interface": (
        "an interface address; none were merged into routers",
        "A node is an interface address, since nothing says which addresses belong to one router, "
        "so there are fewer real routers, and at most as many hops between them.",
    ),
    "mixed": (
        "a router of a topology file, or an interface address of traces",
        "A node is a router if an AS comes from a topology file, and an interface address if it "
        "comes from traces and none were merged: there are fewer real routers than addresses.",
    ),
    "as": (
        "a whole AS",
        "A node is a whole AS: the input is a map of ASes, searched as one graph.",
    ),
}
