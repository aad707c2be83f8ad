"""Where the ASes of a snapshot come from, by its manifest: what their nodes are, and which were
made by a generator.

A topology file says in its header how it was made (``ReadReport.made_by``), a generator that wrote
into the store does so among the options of the snapshot.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pipeline.model.words import made_text

# What files hold by their format, for manifests of earlier versions, which do not say so: new
# formats do not belong here.
_HELD_BEFORE = {"brite": "topology", "snap": "topology"} | dict.fromkeys(
    ("pfx2as", "as-names", "itdk-nodes", "", None), "table"
)


@dataclass(frozen=True, eq=False)
class Source:
    """A topology file, or a generator that wrote into the store.

    Attributes
    ----------
    path : str
        Of the file; empty for a generator.
    kind : str
        What its nodes are.
    made_by : str
        How it was made, where that is not a measurement; else empty.
    as_ranges : tuple of (int, int)
        Its AS numbers, first and last of each run of them.
    """

    path: str
    kind: str
    made_by: str
    as_ranges: tuple[tuple[int, int], ...]

    @property
    def n_ases(self) -> int:
        return sum(last - first + 1 for first, last in self.as_ranges)

    def among(self, asn: np.ndarray) -> Source:
        """The same, of some of the ASes; ``asn`` are ascending."""
        first, last = np.array(self.as_ranges, np.int64).reshape(-1, 2).T
        at = np.searchsorted(first, asn, side="right") - 1
        own = asn[(at >= 0) & (asn <= last[at])]
        return replace(self, as_ranges=tuple((a, b) for a, b in as_ranges(own)))


@dataclass(frozen=True, eq=False)
class Origins:
    """Origins of the ASes of a snapshot.

    Attributes
    ----------
    kind : str
        What a node is: ``interface``, ``router``, ``as``, or ``mixed``.
    trace_kind : str
        The same of the ASes that come from traces.
    sources : tuple of Source
        What the others come from.
    has_traces : bool
    has_inferred : bool
        Whether addresses were merged into routers as traces show.
    """

    kind: str
    trace_kind: str
    sources: tuple[Source, ...]
    has_traces: bool
    has_inferred: bool = False

    def source_of(self, asn: int) -> Source | None:
        """Where an AS comes from; None: from traces, or an old manifest does not say."""
        for source in self.sources:
            at = bisect_right(source.as_ranges, (asn, 2**32)) - 1
            if at >= 0 and source.as_ranges[at][1] >= asn:
                return source
        return None

    def kind_of(self, source: Source | None) -> str:
        """What a node is in an AS that comes from ``source``."""
        if self.kind != "mixed":
            return self.kind
        return self.trace_kind if source is None else source.kind

    def among(self, asn: np.ndarray) -> Origins:
        """The same, of some of the ASes, of a report for instance; ``asn`` are ascending."""
        kept = [(old, old.among(asn) if old.as_ranges else old) for old in self.sources]
        sources = tuple(new for old, new in kept if new.as_ranges or not old.as_ranges)
        n_declared = sum(source.n_ases for source in sources)
        return replace(self, sources=sources, has_traces=self.has_traces and n_declared < len(asn))

    @property
    def synthetic(self) -> tuple[Source, ...]:
        """Sources that were not measured."""
        return tuple(source for source in self.sources if source.made_by)

    @property
    def all_synthetic(self) -> bool:
        return bool(self.sources) and not self.has_traces and all(s.made_by for s in self.sources)

    def made(self) -> list[str]:
        """What made which ASes, per source that was not measured.

        A report may cover some of a snapshot's ASes: they are counted only where others stand
        beside them.
        """
        if self.all_synthetic and len(self.synthetic) == 1:
            return [f"all made by {self.synthetic[0].made_by}"]
        return [made_text(source.n_ases, source.kind, source.made_by) for source in self.synthetic]

    def notes(self) -> list[str]:
        """One line per source that was not measured."""
        return [
            f"Synthetic, not measured: {made}" + (f" ({source.path})" if source.path else "")
            for made, source in zip(self.made(), self.synthetic, strict=True)
        ]

    def facts(self) -> list[dict]:
        """The same for JSON."""
        return [
            {
                "input": source.path or None,
                "made_by": source.made_by,
                "n_ases": source.n_ases,
                "node_kind": source.kind,
            }
            for source in self.synthetic
        ]


def as_ranges(asn: np.ndarray) -> list[list[int]]:
    """Ascending AS numbers as [first, last] of each run of neighbouring ones."""
    if len(asn) == 0:
        return []
    cuts = np.flatnonzero(np.diff(asn) > 1) + 1
    return [[int(run[0]), int(run[-1])] for run in np.split(asn, cuts)]


def held_by(entry: Mapping[str, Any]) -> str:
    """What an input holds: traces, a topology or a table."""
    return entry.get("holds") or _HELD_BEFORE.get(entry.get("format"), "traces")


def origins_of(manifest: Mapping[str, Any], asn: np.ndarray) -> Origins:
    """Origins of the ASes of a snapshot.

    Parameters
    ----------
    manifest : mapping
        Of the snapshot.
    asn : (n_ases,) int64
        Its ASes, ascending.
    """
    inputs = [e for e in manifest.get("inputs") or [] if e.get("status") != "rejected"]
    kind = manifest.get("kind") or ""
    sources = [
        Source(
            path=str(entry.get("path") or ""),
            kind=str(entry.get("kind") or kind),
            made_by=str(entry.get("made_by") or ""),
            as_ranges=tuple((first, last) for first, last in entry.get("as_ranges") or ()),
        )
        for entry in inputs
        if held_by(entry) == "topology"
    ]
    options = manifest.get("options") or {}
    if not inputs and options.get("model"):
        # Snapshots of earlier versions name the model and the seed, but no command.
        made_by = options.get("command") or f"{options['model']}, seed {options.get('seed')}"
        ranges = tuple((first, last) for first, last in as_ranges(asn))
        sources = [Source("", kind, str(made_by), ranges)]
    traces = any(held_by(entry) == "traces" for entry in inputs)
    unknown = kind == "mixed" and any(not source.as_ranges for source in sources)
    counts = manifest.get("counts") or {}
    merged = counts.get("merged_addresses")
    trace_kind = "mixed" if unknown else "router" if merged else "interface"
    return Origins(kind, trace_kind, tuple(sources), traces, bool(counts.get("inferred_aliases")))
