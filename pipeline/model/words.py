"""Words that terminals, pages and messages share: what nodes and packages are called, counts."""

from __future__ import annotations

import re
from typing import NamedTuple

# Packages whose versions reports and ``hopscope doctor`` name, as package indexes know them.
PACKAGES = ("numpy", "numba", "pyarrow", "dask", "distributed")
GPU_PACKAGES = ("dask-cuda", "cupy-cuda13x")

MAX_WARNINGS = 20  # that a terminal or a page lists; all of them are in report.json
LOW_CONFIDENCE = 0.5  # an ingress below it is more likely wrong than right, and is marked

# Controls, separators of lines and halves of surrogate pairs are invisible at best and unencodable
# at worst; marks that change the direction of text can make a name look like another one.
UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class NodeWords(NamedTuple):
    """What one node is called, and several."""

    noun: str
    nouns: str

    @property
    def one(self) -> str:
        """With its article: ``a router``, ``an interface``."""
        return f"{'an' if self.noun[0] in 'aAi' else 'a'} {self.noun}"


_BY_KIND = {
    "interface": NodeWords("interface", "interfaces"),
    "router": NodeWords("router", "routers"),
    "as": NodeWords("AS", "ASes"),
    "mixed": NodeWords("node", "nodes"),  # routers of one input, interfaces of another
}


def node_words(kind: str | None) -> NodeWords:
    """Names of nodes of this kind (``Topology.kind``, or ``mixed``)."""
    return _BY_KIND.get(kind or "", _BY_KIND["mixed"])


def printable(text: object) -> str:
    """Third-party text with invisible and misleading characters replaced by U+FFFD."""
    return UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(text))


def number(n: int, noun: str) -> str:
    """A count with its noun: ``1 file``, ``2 files``, ``3 ASes``, ``4 searches``."""
    ending = "" if n == 1 else "es" if noun[-1] in "sS" or noun.endswith("ch") else "s"
    return f"{n:,} {noun}{ending}"


def confidence_text(value: float) -> str:
    """Two decimals of a confidence, but never ``1.00``: nothing that was inferred is certain."""
    return f"{min(value, 0.99):.2f}"


def amount(value: float) -> str:
    """A length or a sum of weights: six digits, or all those before the point."""
    return f"{value:,.0f}" if 1e5 <= value < 1e15 else f"{value:,.6g}"


def graphs_text(n_ases: int, kind: str | None) -> str:
    """ASes with their noun; a map of ASes is a graph of them, not one of them."""
    return f"{number(n_ases, 'graph')} of ASes" if kind == "as" else number(n_ases, "AS")


def made_text(n_ases: int, kind: str | None, made_by: str) -> str:
    """How many ASes, and what made them."""
    return f"{graphs_text(n_ases, kind)} made by {made_by}"


def sizes(n_ases: int, n_nodes: int, kind: str | None) -> list[str]:
    """ASes and their nodes, each with its noun; of an AS-level graph the nodes are ASes too."""
    if kind == "as":
        return [graphs_text(n_ases, kind), f"{number(n_nodes, 'AS')} as nodes"]
    return [graphs_text(n_ases, kind), number(n_nodes, node_words(kind).noun)]


def ingresses_text(n_ingresses: int, n_candidates: int) -> str:
    """Ingresses, and separately candidates (seen only after a gap), if there are any."""
    text = number(n_ingresses, "ingress")
    return f"{text} and {number(n_candidates, 'candidate')}" if n_candidates else text


def inside_text(n_traces: int) -> str:
    """Traces that begin inside an AS, though they were not sent from it."""
    begin, they = ("begins", "it") if n_traces == 1 else ("begin", "they")
    return (
        f"{number(n_traces, 'trace')} {begin} inside this AS, though not sent from it: "
        f"how {they} entered is not shown"
    )


def rough_duration(seconds: float) -> str:
    """A long time in readable units: 45 s, 41 min, 4.9 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def duration(seconds: float) -> str:
    """A short time in the unit that fits: ``0.120 ms``, ``35.1 ms``, ``2.40 s``."""
    if seconds >= 1:
        return f"{seconds:,.2f} s"
    ms = 1e3 * seconds
    return f"{ms:.1f} ms" if ms >= 10 else f"{ms:.3f} ms"
