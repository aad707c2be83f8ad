"""What rules gain: differences paired over networks, their means and standard errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracles.ablation.judging import ALL_RULES, FIGURES, Outcome
from tests.oracles.truth.tables import mean_error

EVERYWHERE = "all families"
CLEAR = 2.0  # standard errors that a mean differs from 0 by, to be more than chance


@dataclass(frozen=True)
class Gain:
    """What a rule gains in one figure of a family; ``n``: networks that have the figure."""

    mean: float
    error: float | None
    n: int

    @property
    def is_clear(self) -> bool:
        return self.error is not None and abs(self.mean) > CLEAR * self.error

    def __str__(self) -> str:
        """In thousandths."""
        if not self.n:
            return ""
        error = "" if self.error is None else f" ± {1000 * self.error:.1f}"
        return "0" if self.mean == self.error == 0 else f"{1000 * self.mean:+.1f}{error}"


@dataclass(frozen=True)
class Row:
    """What a rule gains in a family, by figure; ``n_changed``: networks where anything does."""

    rule: str
    family: str
    gains: dict[str, Gain]
    n_changed: int

    @property
    def is_judged(self) -> bool:
        """Whether there is a network that could be inferred without the rule."""
        return any(one.n for one in self.gains.values())

    def clear(self, sign: int) -> list[str]:
        """Figures that are clearly better (1) with the rule, or worse (-1)."""
        return [what for what, one in self.gains.items() if one.is_clear and one.mean * sign > 0]

    def as_json(self) -> dict[str, Any]:
        row: dict[str, Any] = {"rule": self.rule, "family": self.family}
        row["n_changed"] = self.n_changed
        for what, one in self.gains.items():
            row[what] = None if not one.n else round(one.mean, 9)
            row[f"{what}_error"] = None if one.error is None else round(one.error, 9)
            row[f"{what}_n"] = one.n
        return row


def row_of(row: dict[str, Any]) -> Row:
    """The row that ``as_json`` wrote."""
    gains = {
        what: Gain(row[what] or 0.0, row[f"{what}_error"], row[f"{what}_n"]) for what in FIGURES
    }
    return Row(row["rule"], row["family"], gains, row["n_changed"])


def unchanged(rule: str, family: str, n: int) -> Row:
    """The row of a rule that changes nothing in the networks of a family."""
    return Row(rule, family, dict.fromkeys(FIGURES, Gain(0.0, 0.0, n)), 0)


def families_of(outcomes: Iterable[Outcome]) -> list[str]:
    """Families in the order of their first network, without those that could not be judged."""
    return list(dict.fromkeys(one.family for one in outcomes if ALL_RULES in one.figures))


def find_gains(outcomes: Sequence[Outcome], rules: Sequence[str]) -> list[Row]:
    """A row for each rule and family, and for each rule in all families together."""
    return [
        _row(rule, family, [one for one in outcomes if family in (EVERYWHERE, one.family)])
        for rule in rules
        for family in (*families_of(outcomes), EVERYWHERE)
    ]


def _row(rule: str, family: str, outcomes: Sequence[Outcome]) -> Row:
    both = [
        (one.figures[ALL_RULES], one.figures[rule])
        for one in outcomes
        if ALL_RULES in one.figures and rule in one.figures
    ]
    gains = {}
    for at, what in enumerate(FIGURES):
        pairs = [(having[at], lacking[at]) for having, lacking in both]
        differences = [a - b for a, b in pairs if a is not None and b is not None]
        mean, error = mean_error(differences) if differences else (0.0, None)
        gains[what] = Gain(mean, error, len(differences))
    return Row(rule, family, gains, sum(having != lacking for having, lacking in both))


def means_of(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Of each family: networks, seconds that all rules took, and figures with all rules."""
    found = []
    for family in families_of(outcomes):
        of = [one for one in outcomes if one.family == family and ALL_RULES in one.figures]
        row: dict[str, Any] = {"family": family, "n": len(of)}
        row["wall_s"] = round(sum(one.wall_s for one in of), 1)
        for at, what in enumerate(FIGURES):
            values = [one.figures[ALL_RULES][at] for one in of]
            known = [value for value in values if value is not None]
            row[what] = round(sum(known) / len(known), 4) if known else None
        found.append(row)
    return found
