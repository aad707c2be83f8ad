"""Figures as text for a terminal and as Markdown for the docs. A new figure is one row here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt

from pipeline.judge import Score
from pipeline.judge.rated import Rated
from tests.oracles.truth.aims import AT_BEST, Aim, aims_of
from tests.oracles.truth.calibration import HEADS, calibrate, rows_of


@dataclass(frozen=True)
class Judged:
    """A laboratory and its scores by the way in which owners were found, our own ways first."""

    name: str
    plan: str  # laboratories of one plan differ in their seed
    described: str
    scores: Mapping[str, Score]
    programs: frozenset[str] = frozenset()  # ways that are other programs
    faults: Mapping[str, dict] = field(default_factory=dict)  # of each of our ways, where listed


def share(part: int, whole: int) -> str:
    """A share and what it is of."""
    return f"{part / whole:.3f} ({part} of {whole})" if whole else "none"


def _left_out(s: Score) -> str:
    return f"{s.candidates}; {s.borders_true - s.borders_visible}"


def _hops(s: Score) -> str:
    return f"{s.hops_equal_share:.3f}, {s.hops_excess:+.2f}" if s.hop_pairs else "none"


TRUE_ALIASES = "elected, true aliases"
REGISTRIES = "elected, registries"
INFERRED = "inferred routers"
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


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(map(_row, (heads, ["---"] * len(heads), *rows)))


def full_table(judged: Sequence[Judged]) -> str:
    """Every figure, one row per laboratory and way."""
    rows = []
    for lab in judged:
        label = lab.described
        for way, s in lab.scores.items():
            rows.append([label, way, *(figure(s) for figure in FIGURES.values())])
            label = "..."
    return markdown(["laboratory", "owners", *FIGURES], rows)


def _ways(judged: Sequence[Judged], *, with_programs: bool = True) -> list[str]:
    """Ways of all laboratories; our own elections alone if there should be no other programs."""
    return list(
        dict.fromkeys(
            way
            for lab in judged
            for way in lab.scores
            if with_programs or (way not in lab.programs and way.startswith("elected"))
        )
    )


def _plans(judged: Sequence[Judged]) -> dict[str, int]:
    """Laboratories of each plan."""
    return dict(Counter(lab.plan for lab in judged))


def gain_table(judged: Sequence[Judged]) -> str:
    """One row per way: mean P and R of the laboratories of each plan."""
    plans = _plans(judged)
    rows = []
    for way in _ways(judged):
        cells = []
        for plan in plans:
            found = [lab.scores[way] for lab in judged if lab.plan == plan and way in lab.scores]
            precision = sum(s.ingress_precision for s in found) / max(1, len(found))
            recall = sum(s.border_recall for s in found) / max(1, len(found))
            cells.append(f"{precision:.3f} / {recall:.3f}" if found else "")
        rows.append([way, *cells])
    return markdown(["owners", *(f"{plan} ({n})" for plan, n in plans.items())], rows)


# Shares of a score that are averaged over networks, by what they are called.
SHARES: Mapping[str, Callable[[Score], float]] = {
    "P": lambda s: s.ingress_precision,
    "R": lambda s: s.border_recall,
    "addresses": lambda s: s.asn_precision,
    "links right": lambda s: s.link_precision,
    "links found": lambda s: s.link_recall,
    "hops equal": lambda s: s.hops_equal_share,
    "alias pairs right": lambda s: s.alias_precision,
    "alias pairs found": lambda s: s.alias_recall,
}


def means_table(judged: Sequence[Judged]) -> str:
    """One row per plan and way: means over its networks, and their standard errors."""
    rows = []
    for plan, n in _plans(judged).items():
        label = f"{plan} ({n})"
        for way in _ways(judged):
            found = [lab.scores[way] for lab in judged if lab.plan == plan and way in lab.scores]
            if not found:
                continue
            means = (mean_error([one(s) for s in found]) for one in SHARES.values())
            rows.append([label, way, *(_with_error(*one) for one in means)])
            label = "..."
    return markdown(["networks", "owners", *SHARES], rows)


def mean_error(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean, and its standard error by the spread of the values; None of a single one."""
    n, mean = len(values), sum(values) / len(values)
    if n < 2:
        return mean, None
    return mean, sqrt(sum((one - mean) ** 2 for one in values) / (n - 1) / n)


def _with_error(mean: float, error: float | None) -> str:
    return f"{mean:.3f}" if error is None else f"{mean:.3f} ± {error:.3f}"


def calibration_table(judged: Sequence[Judged]) -> str:
    """Stated and measured confidence in all laboratories and ways together; empty without any."""
    rows = rows_of(calibrate(_rated(judged)))
    return markdown(HEADS, rows) if rows else ""


def _rated(judged: Sequence[Judged], ways: Collection[str] | None = None) -> list[list[Rated]]:
    """What each network rates, in some ways or in all."""
    return [
        [one for way, s in lab.scores.items() if ways is None or way in ways for one in s.rated]
        for lab in judged
    ]


def confidence_table(judged: Sequence[Judged]) -> str:
    """One row per class: number, stated and measured share in all ways and in each."""
    ways = [way for way in _ways(judged) if any(_rated(judged, (way,)))]
    columns = [calibrate(_rated(judged, wanted)) for wanted in (None, *((way,) for way in ways))]
    rows = []
    for one in columns[0]:
        key = (one.pooled.what, one.pooled.class_name)
        cells = [
            next(
                (
                    f"{other.pooled.stated:.3f}: {other.measured} ({other.pooled.n:,})"
                    for other in column
                    if (other.pooled.what, other.pooled.class_name) == key
                ),
                "none",
            )
            for column in columns
        ]
        rows.append([*key, *cells])
    return markdown(["confidence of", "class", "all", *ways], rows)


def knowledge_table(judged: Sequence[Judged]) -> str:
    """One row per two ways of which one knows more: what gets better, and where it gets worse.

    Each router counts once, since with aliases there are fewer nodes than without.
    """
    ways = _ways(judged)
    rows = []
    for less, more in ((a, b) for a in ways for b in ways if _knows_more(a, b)):
        both = [(lab.scores[less], lab.scores[more]) for lab in judged]
        wrong = [(a.routers - a.routers_right, b.routers - b.routers_right) for a, b in both]
        found = [(a.borders_found, b.borders_found) for a, b in both]
        up = [max(0, b - a) for a, b in wrong]
        down = [max(0, a - b) for a, b in found]
        n_worse = sum(u + d > 0 for u, d in zip(up, down, strict=True))
        sums = [
            f"{sum(a for a, _ in one):,} to {sum(b for _, b in one):,}" for one in (wrong, found)
        ]
        worse = f"{n_worse} of {len(both)}"
        rows.append([less, more, *sums, worse, str(sum(up)), str(sum(down))])
    heads = ["known", "more known", "wrong ingress routers", "border routers found"]
    return markdown([*heads, "networks that get worse", "more wrong there", "fewer found"], rows)


def _knows_more(less: str, more: str) -> bool:
    """Whether a way differs from another by true aliases or by registries alone."""
    of_less, of_more = (set(way.split(", ")) - {"elected", INFERRED} for way in (less, more))
    added = of_more - of_less
    same_nodes = "true aliases" in of_more or (INFERRED in less) == (INFERRED in more)
    return same_nodes and of_less < of_more and added in ({"true aliases"}, {"registries"})


def aims_table(judged: Sequence[Judged]) -> str:
    """One row per way and aim: how many laboratories of each plan do not reach it, of its limit.

    Last, how many would not if all that their traces show were known.
    """
    plans = _plans(judged)
    missed: dict[tuple[str, str], dict[str, tuple[int, float]]] = {}

    def count(label: str, plan: str, scores: Sequence[Score], aims: Sequence[Aim]) -> None:
        for aim in aims:
            n = sum(aim.is_missed(one) for one in scores)
            missed.setdefault((label, aim.what), {})[plan] = n, aim.limit

    for way in _ways(judged, with_programs=False):
        known = way.split(", ")
        for plan in plans:
            of_plan = [lab.scores[way] for lab in judged if lab.plan == plan and way in lab.scores]
            aims = aims_of(
                plan,
                registries="registries" in known,
                true_aliases="true aliases" in known,
                inferred=INFERRED in known,
            )
            count(way, plan, of_plan, aims)
    for plan in plans:
        if any(plan in counts for (_, what), counts in missed.items() if what == AT_BEST[0].what):
            firsts = [next(iter(lab.scores.values())) for lab in judged if lab.plan == plan]
            count("all that traces show, known", plan, firsts, AT_BEST)
    rows = []
    for key, counts in missed.items():
        cells = [f"{n} ({limit:.2f})" for n, limit in counts.values()]
        of_plan = dict(zip(counts, cells, strict=True))
        total = sum(n for n, _ in counts.values())
        rows.append([*key, *(of_plan.get(plan, "") for plan in plans), str(total)])
    heads = [*(f"{plan} ({n})" for plan, n in plans.items()), f"all ({len(judged)})"]
    return markdown(["owners", "aim", *heads], rows)


def programs_table(judged: Sequence[Judged]) -> str:
    """One row per way and other program: in how many laboratories the way is the worse one."""
    rows = []
    for way in _ways(judged, with_programs=False):
        for program in sorted({name for lab in judged for name in lab.programs}):
            lower = [
                _lower(lab.scores[way], lab.scores[program])
                for lab in judged
                if way in lab.scores and program in lab.scores
            ]
            counts = [sum(what in one for one in lower) for what in ("P", "R")]
            rows.append([way, program, *(f"{n} of {len(lower)}" for n in counts)])
    return markdown(["owners", "compared with", "lower P", "lower R"], rows) if rows else ""


def unseen_tables(judged: Sequence[Judged]) -> str:
    """What is found in laboratories that were not used to choose anything."""
    tables = (gain_table, programs_table, aims_table, knowledge_table, confidence_table)
    return "\n\n".join(filter(None, (table(judged) for table in tables)))


def _lower(s: Score, other: Score) -> str:
    """What of P and R is lower than another score's, with both."""
    pairs = {
        "P": (s.ingress_precision, other.ingress_precision),
        "R": (s.border_recall, other.border_recall),
    }
    return ", ".join(f"{what} {a:.3f} < {b:.3f}" for what, (a, b) in pairs.items() if a < b)


def _worse(s: Score, other: Score) -> str:
    """Whether more ingress routers are wrong or fewer border routers found, each router once."""
    wrong = (s.routers - s.routers_right, other.routers - other.routers_right)
    more = [f"{wrong[0]} wrong instead of {wrong[1]}"] if wrong[0] > wrong[1] else []
    if s.borders_found < other.borders_found:
        more.append(f"{s.borders_found} found instead of {other.borders_found}")
    return ", ".join(more)


def misses(judged: Sequence[Judged]) -> list[str]:
    """Sentences that name where a figure is worse than it ought to be.

    That is: P or R lower than another program's, or more wrong routers or fewer found with
    registries or true aliases than without. These are counted, each router once, since nodes with
    aliases and without are not the same, and P can fall because right ones are merged.
    """
    found: dict[str, list[str]] = {}
    for lab in judged:
        first = next(iter(lab.scores.values()))
        ought = {f"Lower than {name}": (first, lab.scores[name]) for name in sorted(lab.programs)}
        added = {}
        if known := lab.scores.get(REGISTRIES):
            for name in sorted(lab.programs):
                ought[f"With registries lower than {name}"] = (known, lab.scores[name])
            added["registries"] = (known, first)
        if known := lab.scores.get(TRUE_ALIASES):
            added["true aliases"] = (known, first)
            if inferred := lab.scores.get(f"elected, {INFERRED}"):
                added["true aliases than with inferred routers"] = (known, inferred)
        for what, (score, other) in ought.items():
            found.setdefault(what, [])
            if lower := _lower(score, other):
                found[what].append(f"{lab.name} ({lower})")
        for what, (score, other) in added.items():
            worse = found.setdefault(f"More routers wrong or fewer found with {what}", [])
            if how := _worse(score, other):
                worse.append(f"{lab.name} ({how})")
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
