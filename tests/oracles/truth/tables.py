"""Figures as text for a terminal and as Markdown for the docs. A new figure is one row here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.oracles.truth.calibration import HEADS, pool, rows_of
from tests.oracles.truth.scores import Score


@dataclass(frozen=True)
class Judged:
    """A laboratory and its scores by the way in which owners were found, our own ways first."""

    name: str
    plan: str  # laboratories of one plan differ in their seed
    described: str
    scores: Mapping[str, Score]
    programs: frozenset[str] = frozenset()  # ways that are other programs


def share(part: int, whole: int) -> str:
    """A share and what it is of."""
    return f"{part / whole:.3f} ({part} of {whole})" if whole else "none"


def _left_out(s: Score) -> str:
    return f"{s.candidates}; {s.borders_true - s.borders_visible}"


def _precision_recall(s: Score) -> str:
    return f"{s.ingress_precision:.3f} / {s.border_recall:.3f}"


def _with_hops(s: Score) -> str:
    return f"{_precision_recall(s)} / {f'{s.hops_equal_share:.3f}' if s.hop_pairs else 'none'}"


def _hops(s: Score) -> str:
    return f"{s.hops_equal_share:.3f}, {s.hops_excess:+.2f}" if s.hop_pairs else "none"


TRUE_ALIASES = "elected, true aliases"
REGISTRIES = "elected, registries"
LEFT_OUT = "left out: candidates; border routers not visible"
FIGURES: Mapping[str, Callable[[Score], str]] = {
    LEFT_OUT: _left_out,
    "ingresses right (P)": lambda s: share(s.ingresses_right, s.ingresses),
    "routers right": lambda s: share(s.routers_right, s.routers),
    "border routers found (R)": lambda s: share(s.borders_found, s.borders_visible),
    "ASes entered": lambda s: f"{s.ases_found} of {s.ases_visible}",
    "addresses in their AS": lambda s: share(s.addrs_right, s.addrs),
    "links found": lambda s: f"{s.links_found} of {s.links_visible}",
    "false links": lambda s: str(s.links_false),
    "alias pairs right": lambda s: share(s.alias_pairs_right, s.alias_pairs),
    "alias pairs found": lambda s: share(s.alias_pairs_found, s.alias_pairs_visible),
    "hops equal, mean excess": _hops,
}

# Figures of the first way in the brief table.
_BRIEF: Mapping[str, Callable[[Score], str]] = {
    LEFT_OUT: _left_out,
    "P / R": _precision_recall,
    "ASes entered": FIGURES["ASes entered"],
    "addresses in their AS": lambda s: f"{s.asn_precision:.3f}",
    "links found, false": lambda s: f"{s.links_found} of {s.links_visible}, {s.links_false}",
    "hops equal, mean excess": _hops,
}


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(map(_row, (heads, ["---"] * len(heads), *rows)))


def full_table(judged: Sequence[Judged]) -> str:
    """Every figure, one row per laboratory and way."""
    rows = []
    for lab in judged:
        label = lab.described
        for way, s in lab.scores.items():
            rows.append([label, way, *(figure(s) for figure in FIGURES.values())])
            label = "..."
    return _markdown(["laboratory", "owners", *FIGURES], rows)


def brief_table(judged: Sequence[Judged]) -> str:
    """One row per laboratory: the first way, and P, R and equal hops of the others."""
    ways = list(dict.fromkeys(way for lab in judged for way in lab.scores))
    rows = []
    for lab in judged:
        first = lab.scores[ways[0]]
        others = [_with_hops(lab.scores[way]) if way in lab.scores else "" for way in ways[1:]]
        rows.append([lab.described, *(figure(first) for figure in _BRIEF.values()), *others])
    heads = ["laboratory", *_BRIEF, *(f"{way}: P / R / hops equal" for way in ways[1:])]
    return _markdown(heads, rows)


def gain_table(judged: Sequence[Judged]) -> str:
    """One row per way: mean P and R of the laboratories of each plan."""
    plans = list(dict.fromkeys(lab.plan for lab in judged))
    rows = []
    for way in dict.fromkeys(way for lab in judged for way in lab.scores):
        cells = []
        for plan in plans:
            found = [lab.scores[way] for lab in judged if lab.plan == plan and way in lab.scores]
            precision = sum(s.ingress_precision for s in found) / max(1, len(found))
            recall = sum(s.border_recall for s in found) / max(1, len(found))
            cells.append(f"{precision:.3f} / {recall:.3f}" if found else "")
        rows.append([way, *cells])
    n = {plan: sum(lab.plan == plan for lab in judged) for plan in plans}
    return _markdown(["owners", *(f"{plan} ({n[plan]})" for plan in plans)], rows)


def calibration_table(judged: Sequence[Judged]) -> str:
    """Stated and measured confidence in all laboratories and ways together; empty without any."""
    rated = pool(one for lab in judged for score in lab.scores.values() for one in score.rated)
    return _markdown(HEADS, rows_of(rated)) if rated else ""


def _lower(s: Score, other: Score, precision: str = "ingress_precision") -> str:
    """What of P and R is lower than another score's, with both."""
    pairs = {
        "P": (getattr(s, precision), getattr(other, precision)),
        "R": (s.border_recall, other.border_recall),
    }
    return ", ".join(f"{what} {a:.3f} < {b:.3f}" for what, (a, b) in pairs.items() if a < b)


def misses(judged: Sequence[Judged]) -> list[str]:
    """Sentences that name where P or R is lower than it ought to be.

    That is: lower than another program's, or lower with registries or true aliases than without.
    In these last two each router counts once, as nodes with aliases and without are not the same;
    what is lower by nodes only is said apart.
    """
    found: dict[str, list[str]] = {}
    for lab in judged:
        first = next(iter(lab.scores.values()))
        ought = {f"Lower than {name}": (first, lab.scores[name]) for name in sorted(lab.programs)}
        added = {}
        if known := lab.scores.get(REGISTRIES):
            for name in sorted(lab.programs):
                ought[f"With registries lower than {name}"] = (known, lab.scores[name])
            added["registries"] = known
        if TRUE_ALIASES in lab.scores:
            added["true aliases"] = lab.scores[TRUE_ALIASES]
        for what, (score, other) in ought.items():
            found.setdefault(what, [])
            if lower := _lower(score, other):
                found[what].append(f"{lab.name} ({lower})")
        for what, score in added.items():
            by_router = found.setdefault(f"Lower with {what} than without, each router once", [])
            by_node = found.setdefault(f"Lower with {what} than without, by nodes only", [])
            if lower := _lower(score, first, "router_precision"):
                by_router.append(f"{lab.name} ({lower})")
            elif lower := _lower(score, first):
                by_node.append(f"{lab.name} ({lower})")
    return [f"{what}: {'; '.join(where) or 'nowhere'}." for what, where in found.items()]


def text(lab: Judged) -> str:
    """One laboratory for a terminal: one line per figure, one column per way."""
    columns = [
        ["", *FIGURES],
        *([way, *(figure(s) for figure in FIGURES.values())] for way, s in lab.scores.items()),
    ]
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in zip(*columns, strict=True)
    ]
    return "\n".join([lab.described, *lines])
