"""What single laboratories ought to reach, and how many of a plan do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pipeline.judge import Score

# P and R of each plan: without further files, and with registries.
WITHOUT_FILES: Mapping[str, tuple[float, float]] = {
    "provider31": (0.90, 0.93),
    "ixp": (0.85, 0.86),
    "customer": (0.92, 0.95),
    "answers": (0.88, 0.91),
    "harsh": (0.72, 0.60),
    "realistic": (0.86, 0.87),
}
WITH_REGISTRIES: Mapping[str, tuple[float, float]] = {
    "provider31": (0.96, 0.97),
    "ixp": (0.97, 0.97),
    "customer": (0.92, 0.95),
    "answers": (0.90, 0.94),
    "harsh": (0.89, 0.87),
    "realistic": (0.93, 0.93),
}
WITH_TRUE_ALIASES = (0.95, 0.95)
NO_AIM_WITH_TRUE_ALIASES = "harsh"
_EQUAL, _EXCESS = 0.85, 0.20  # of hops


@dataclass(frozen=True)
class Aim:
    """A figure and the least, or the most, that it ought to be."""

    what: str
    figure: Callable[[Score], float]
    limit: float
    is_least: bool = True

    def is_missed(self, score: Score) -> bool:
        found = self.figure(score)
        return found < self.limit if self.is_least else found > self.limit


# Of routers that are inferred, whatever the plan.
OF_INFERRED = (
    Aim("alias pairs right", lambda s: s.alias_precision, 0.97),
    Aim("alias pairs found", lambda s: s.alias_recall, 0.75),
    Aim("links right", lambda s: s.link_precision, 0.99),
    Aim("hops equal", lambda s: s.hops_equal_share, _EQUAL),
    Aim("mean excess of hops", lambda s: s.hops_excess, _EXCESS, is_least=False),
)
# The same of hops, if all owners, routers and links that the traces show were known.
AT_BEST = (
    Aim("hops equal", lambda s: s.best_equal_share, _EQUAL),
    Aim("mean excess of hops", lambda s: s.best_excess, _EXCESS, is_least=False),
)


def aims_of(plan: str, *, registries: bool, true_aliases: bool, inferred: bool) -> list[Aim]:
    """Aims of a laboratory of a plan, with what is known of it; none of a plan without any."""
    of_plan = (WITH_REGISTRIES if registries else WITHOUT_FILES).get(plan)
    if true_aliases:
        of_plan = None if plan == NO_AIM_WITH_TRUE_ALIASES else of_plan and WITH_TRUE_ALIASES
    found = list(OF_INFERRED) if inferred and plan in WITHOUT_FILES else []
    if of_plan is not None:
        found += [
            Aim("P", lambda s: s.ingress_precision, of_plan[0]),
            Aim("R", lambda s: s.border_recall, of_plan[1]),
        ]
    return found
