"""The tables of an ablation: every row for a terminal, one row per rule for the docs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.oracles.ablation.gains import EVERYWHERE, Row
from tests.oracles.ablation.judging import FIGURES
from tests.oracles.truth.tables import markdown


def full_table(rows: Sequence[Row]) -> str:
    """One row per rule and family in which leaving it out changes anything."""
    cells = [
        [row.rule, row.family, str(row.n_changed), *map(str, row.gains.values())]
        for row in rows
        if row.n_changed or not row.is_judged
    ]
    return markdown(["rule", "networks", "of which it changes", *FIGURES], cells)


def brief_table(rows: Sequence[Row], rules: Sequence[Mapping[str, Any]]) -> str:
    """One row per rule: what it gains in all families together, where it helps and harms."""
    cells = []
    for rule in rules:
        own = [row for row in rows if row.rule == rule["name"]]
        whole = next(row for row in own if row.family == EVERYWHERE)
        of_families = [row for row in own if row.family != EVERYWHERE]
        changed = sum(row.n_changed > 0 for row in of_families)
        cells.append(
            [
                f"`{rule['name']}`",
                f"{changed} of {len(of_families)}",
                *map(str, whole.gains.values()),
                _clearly(of_families, 1),
                _clearly(of_families, -1),
            ]
        )
    heads = ["rule", "families it changes", *FIGURES, "clearly helps in", "clearly harms in"]
    return markdown(heads, cells)


def _clearly(rows: Sequence[Row], sign: int) -> str:
    """Number of families, and the one where a figure differs most."""
    found = [(row.gains[what], what, row.family) for row in rows for what in row.clear(sign)]
    if not found:
        return "none"
    gain, what, family = max(found, key=lambda one: abs(one[0].mean))
    n = len({family for _, _, family in found})
    return f"{n}; most: {family}, {what} {gain}"


def sentences(rows: Sequence[Row]) -> list[str]:
    """A list of which rules gain nothing clear, which are for one family alone, which harm."""
    failed, idle, unclear, rare, harmful, worse = ([] for _ in range(6))
    for rule in dict.fromkeys(row.rule for row in rows):
        own = [row for row in rows if row.rule == rule and row.family != EVERYWHERE]
        whole = next(row for row in rows if (row.rule, row.family) == (rule, EVERYWHERE))
        helped, harmed = ([row.family for row in own if row.clear(sign)] for sign in (1, -1))
        if not any(row.is_judged for row in own):
            failed.append(rule)
        elif not any(row.n_changed for row in own):
            idle.append(rule)
        elif not helped:
            unclear.append(_named(rule, whole, 1))
        elif len(helped) == 1:
            rare.append(f"{rule} ({helped[0]})")
        if harmed and len(harmed) >= len(helped):
            harmful.append(f"{rule} ({len(harmed)} harmed, {len(helped)} helped)")
        if whole.clear(-1):
            worse.append(_named(rule, whole, -1))
    named = {
        "Changes nothing in any family": idle,
        "Changes something, but gains less than twice its standard error in every family (clear "
        "gains of all families together in brackets)": unclear,
        "Clearly helps in one family alone": rare,
        "Clearly harms in as many families as it helps in, or more": harmful,
        "A figure of all families together is clearly lower with it": worse,
    }
    said = [f"- {what}: {', '.join(one) or 'none'}." for what, one in named.items()]
    return [*said, f"- Nothing can be inferred without: {', '.join(failed)}."] if failed else said


def _named(rule: str, whole: Row, sign: int) -> str:
    """A rule with the figures of all families together that are clearly better, or worse."""
    clear = ", ".join(f"{what} {whole.gains[what]}" for what in whole.clear(sign))
    return f"{rule} ({clear})" if clear else rule


def families_table(means: Sequence[Mapping[str, Any]]) -> str:
    """Of each family: networks, and figures with all rules."""
    return markdown(
        ["family", "networks", *FIGURES],
        [
            [
                row["family"],
                str(row["n"]),
                *("" if row[what] is None else f"{row[what]:.3f}" for what in FIGURES),
            ]
            for row in means
        ],
    )


def compared_table(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> str:
    """Of each family that both have: figures of ``after``, and what they are more than before."""
    earlier = {row["family"]: row for row in before}
    return markdown(
        ["family", "networks", *FIGURES],
        [
            [
                row["family"],
                str(row["n"]),
                *(_compared(earlier[row["family"]][what], row[what]) for what in FIGURES),
            ]
            for row in after
            if row["family"] in earlier
        ],
    )


def _compared(before: float | None, after: float | None) -> str:
    """``0.981 (+0.002)``; empty where a family has no such figure."""
    if before is None or after is None:
        return ""
    change = round(after - before, 3)
    return f"{after:.3f} ({change:+.3f})" if change else f"{after:.3f}"
