"""What a rule of inference is: a row that can be listed, weighed and left out by its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pipeline.errors import UsageError, did_you_mean

# Origins of weights that several rules share.
CHOSEN = "chosen on simulated networks"
NO_WEIGHT = "none: it holds or it does not"


@dataclass(frozen=True)
class Rule:
    """One rule, cost term or repair; its module's docstring is its documentation.

    Attributes
    ----------
    name : str
        As ``--without-rule`` takes it.
    kind : str
        ``"routers"``: which addresses are one router; ``"owners"``: which AS a router is in;
        ``"repairs"``: what whole paths say about it; ``"gaps"``: which routers
        are where nothing answers.
    says : str
        The rule in one line.
    needs : str
        Evidence that it looks at.
    origin : str
        Where its weights come from.
    source : str
        The paper that the idea is from; empty: our own.
    weights : mapping of str to float
        Nats, by what they are the weight of.
    without : mapping of str to float
        Weights that stand in where the rule is left out; 0 for the others.
    piece : tuple of two str
        One piece of evidence that costs something, as a noun and what follows it.
    """

    name: str
    kind: Literal["routers", "owners", "repairs", "gaps"]
    says: str
    needs: str
    origin: str = NO_WEIGHT
    source: str = ""
    weights: Mapping[str, float] = field(default_factory=dict)
    without: Mapping[str, float] = field(default_factory=dict)
    piece: tuple[str, str] = ("piece", "of other evidence")

    @property
    def weight(self) -> str:
        """Its weights for a table: ``2.5``, ``0.8 to 4``; empty for none."""
        least, most = min(self.weights.values(), default=0), max(self.weights.values(), default=0)
        if not self.weights:
            return ""
        return f"{least:g}" if least == most else f"{least:g} to {most:g}"

    def tenths(self, name: str) -> int:
        """A weight in tenths of a nat, as costs are computed."""
        return round(10 * self.weights[name])


class Rules:
    """The rules in force: all of a table but those that were left out.

    Parameters
    ----------
    table : iterable of Rule
    without : iterable of str
        Names.

    Raises
    ------
    UsageError
        If no rule has one of these names.
    """

    def __init__(self, table: Iterable[Rule] = (), without: Iterable[str] = ()) -> None:
        names = {rule.name for rule in table}
        self.without = frozenset(without)
        for name in sorted(self.without - names):
            hint = did_you_mean(name, names)
            raise UsageError(f"no rule is named {name!r}: --list-rules lists them{hint}")

    def __contains__(self, rule: Rule) -> bool:
        return rule.name not in self.without


EVERY_RULE = Rules()
