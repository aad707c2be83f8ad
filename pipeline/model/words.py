"""Words that terminals, pages and messages share: what nodes and packages are called, counts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

# Packages whose versions reports and ``hopscope doctor`` name, as package indexes know them.
PACKAGES = ("numpy", "numba", "pyarrow", "dask", "distributed")
GPU_PACKAGES = ("dask-cuda", "cupy-cuda13x")

MAX_WARNINGS = 20  # that a terminal or a page lists; all of them are in report.json
LOW_CONFIDENCE = 0.7  # an ingress below it may well be wrong, and is marked
AS_CONFIDENCE = "AS confidence"  # probability that the AS of an address is right
INGRESS_CONFIDENCE = "ingress confidence"  # that AS and border of an ingress are right
_AS_STORED = 1e-6  # confidences are kept as float32: 0.7 as 0.69999999

# Classes of a confidence, from the lowest, and the least one of each but the first.
CONFIDENCE_CLASSES = ("doubtful", "weak", "fair", "strong")
CONFIDENCE_FROM = (LOW_CONFIDENCE, 0.90, 0.975)

# Of weights and sums of them (``amount``).
SMALL, WHOLE = 0.01, 1e5
WRITTEN_OUT = 1e-4, 1e9

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


def nouns_of(kinds: Iterable[str | None], *, beside_ases: bool = False) -> str:
    """What nodes of several graphs are called; never ``ASes`` beside a count of these graphs."""
    distinct = set(kinds)
    kind = distinct.pop() if len(distinct) == 1 else None
    return node_words(None if beside_ases and kind == "as" else kind).nouns


def is_kind_of_nodes(kind: str) -> bool:
    """Whether nodes can be of this kind."""
    return kind in _BY_KIND


def printable(text: object) -> str:
    """Third-party text with invisible and misleading characters replaced by U+FFFD."""
    return UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(text))


def number(n: int, noun: str) -> str:
    """A count with its noun: ``1 file``, ``2 files``, ``3 ASes``, ``4 searches``, ``5 replies``."""
    # Not ``kernels.words``: to import that loads all kernels, and terminals would begin late.
    if n != 1 and noun.endswith("ly"):
        noun = f"{noun[:-1]}ie"
    ending = "" if n == 1 else "es" if noun[-1] in "sSx" or noun.endswith("ch") else "s"
    return f"{n:,} {noun}{ending}"


def confidence_text(value: float) -> str:
    """Two decimals of a confidence, rounded down: no more is said than is known.

    So it is never ``1.00``, and ``0.70`` exactly where it is not low.
    """
    return f"{min(math.floor(100 * (value + _AS_STORED)) / 100, 0.99):.2f}"


def is_low(confidence: Any) -> Any:
    """Whether a confidence, or each of an array, is below ``LOW_CONFIDENCE``; False of NaN."""
    return confidence < LOW_CONFIDENCE - _AS_STORED


def confidence_class(value: float) -> str:
    """Class of a confidence: ``strong`` from 0.975, ``fair``, ``weak``, or ``doubtful``."""
    return CONFIDENCE_CLASSES[sum(value >= least - _AS_STORED for least in CONFIDENCE_FROM)]


def amount(value: float, decimals: int | None = None) -> str:
    """A weight, a length or a sum of weights, as terminals and pages show it.

    Six significant digits, or all those before the point. In tables with this many decimals, none
    from 1e5 on; what is smaller than 0.01 has three significant digits instead. Below 1e-4, and
    from 1e9 on, with an exponent: ``1.75e-8``. ``amount`` in hopscope.js does the same.
    """
    value = round_amount(value, decimals)
    size = abs(value)
    if not math.isfinite(value):
        return str(value)
    if size and not WRITTEN_OUT[0] <= size < WRITTEN_OUT[1]:
        digits, _, exponent = f"{value:.{_digits(decimals) - 1}e}".partition("e")
        return f"{digits.rstrip('0').rstrip('.')}e{int(exponent):+d}"
    if decimals is None or size >= WHOLE:
        return f"{value:,.0f}" if size >= WHOLE else f"{value:,.6g}"
    if 0 < size < SMALL:
        return f"{value:.{2 - math.floor(math.log10(size))}f}".rstrip("0")
    return f"{value:,.{decimals}f}"


def round_amount(value: float, decimals: int | None = None) -> float:
    """The number that ``amount`` shows: rounded once, from the full value."""
    size = abs(value)
    if WHOLE <= size < WRITTEN_OUT[1]:
        return float(f"{value:.0f}")
    if decimals is None or size < SMALL or size >= WHOLE:
        return float(f"{value:.{_digits(decimals)}g}")
    return float(f"{value:.{decimals}f}")


def outward_amount(value: float, decimals: int, *, is_upper: bool) -> float:
    """The number that ``amount`` shows of a bound: rounded up or down, so that it stays one."""
    near = round_amount(value, decimals)
    if near == value or (near > value) == is_upper:
        return near
    size = abs(value)
    if size < SMALL or size >= WRITTEN_OUT[1]:
        exponent = int(f"{size:.16e}".partition("e")[2])
        places = _digits(decimals) - 1 - exponent
    else:
        places = 0 if size >= WHOLE else decimals
    step = 10.0**-places
    return round_amount(near + step if is_upper else near - step, decimals)


def _digits(decimals: int | None) -> int:
    """Significant digits where these count: three in tables."""
    return 6 if decimals is None else 3


def ms_text(ms: float) -> str:
    """Milliseconds without their unit, for tables: two decimals below 1, else one."""
    text = f"{ms:.2f}" if abs(ms) < 0.995 else f"{ms:.1f}"
    return "0.00" if text == "-0.00" else text


def spread_text(row: Mapping[str, Any]) -> str:
    """Quartiles of a delay in ms; ``row``: of ``ingresses.parquet``."""
    return f"{ms_text(row['delay_p25_ms'])} to {ms_text(row['delay_p75_ms'])}"


def delay_basis(row: Mapping[str, Any]) -> str:
    """What a delay is the median of, and how many of these differences are negative."""
    parts = [
        number(row["delay_n_traces"], "trace"),
        number(row["delay_n_vantages"], "vantage point"),
    ]
    if row["delay_n_negative"]:
        parts.append(f"{row['delay_n_negative']:,} below 0")
    return ", ".join(parts)


def graphs_text(n_ases: int, kind: str | None) -> str:
    """ASes with their noun; a map of ASes is a graph of them, not one of them."""
    return f"{number(n_ases, 'graph')} of ASes" if kind == "as" else number(n_ases, "AS")


def made_text(n_ases: int, kind: str | None, made_by: str) -> str:
    """How many ASes, and what made them."""
    return f"{graphs_text(n_ases, kind)} made by {made_by}"


def size_text(n_bytes: int) -> str:
    """Bytes in words: ``12.3 MiB``."""
    if n_bytes < 1 << 10:
        return number(n_bytes, "byte")
    return f"{n_bytes / 2**10:.1f} KiB" if n_bytes < 1 << 20 else f"{n_bytes / 2**20:,.1f} MiB"


def sizes(n_ases: int, n_nodes: int, kind: str | None, n_silent: int = 0) -> list[str]:
    """ASes and their nodes, each with its noun; of an AS-level graph the nodes are ASes too."""
    if kind == "as":
        return [graphs_text(n_ases, kind), f"{number(n_nodes, 'AS')} as nodes"]
    return [graphs_text(n_ases, kind), nodes_text(n_nodes, kind, n_silent)]


def nodes_text(n_nodes: int, kind: str | None, n_silent: int) -> str:
    """Nodes with their noun, and how many of them never answered, if any."""
    silent = f" ({n_silent:,} of them silent)" if n_silent else ""
    return f"{number(n_nodes, node_words(kind).noun)}{silent}"


def links_text(n_inside: int, n_between: int | None) -> str:
    """Links inside ASes, which are those of their graphs; apart from them those between ASes."""
    inside = number(n_inside, "link")
    return f"{inside} inside ASes and {n_between:,} between them" if n_between else inside


def hiding_text(n: int, n_links: int, where: str = "inside ASes") -> str:
    """How many of some links may hide routers; empty for none."""
    return f"{n:,} of {number(n_links, 'link')} {where} may hide routers" if n else ""


def silent_text(n: int) -> str:
    """What the silent routers among some nodes are."""
    if n == 1:
        first = "1 router is silent: it never answered and has no address. It stands"
    else:
        first = f"{n:,} routers are silent: they never answered and have no address. They stand"
    return (
        f"{first} where traces show one or two unanswered hops between two routers of "
        "this AS, if no answering routers lead from one to the other in as many hops"
    )


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
    """A long time in readable units: 45 s, 41 min, 4.9 h, 7.8 days."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 72 else f"{hours / 24:,.1f} days"


def duration(seconds: float) -> str:
    """A short time in the unit that fits: ``0.120 ms``, ``35.1 ms``, ``2.40 s``."""
    if seconds >= 1:
        return f"{seconds:,.2f} s"
    ms = 1e3 * seconds
    return f"{ms:.1f} ms" if ms >= 10 else f"{ms:.3f} ms"


def traces_kept_text(n_kept: int | None, n_traces: int) -> str:
    """How many traces a snapshot keeps whole out of how many; None: it was made before any were."""
    if n_kept is None:
        return "No traces kept: ingest them again to have some"
    return f"{n_kept:,} of {number(n_traces, 'trace')} kept whole"
