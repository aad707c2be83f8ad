"""How links between two ASes are numbered is a habit, which is learned (``costs.by_habit``).

From certain links of the election: how many are numbered from the larger AS, or from the lower AS
number, or from the provider. The rarer way costs as much more as it is rarer.
"""

from __future__ import annotations

from pipeline.infer.rule import Rule

TERM = Rule(
    "habit",
    "owners",
    "links between two ASes mostly have addresses of one side, the provider or the larger AS",
    "links, prefixes; relationships if given",
    "derived: logarithms of shares in the same data; the bound is chosen",
    "bdrmapIT (Marder et al., IMC 2018), who take the provider's for granted",
    # Most that the rarer way costs between a provider and its customer: certain links are of the
    # common way more often than others, so what they teach would outvote the inner links of a
    # router.
    {"most_from_provider": 1.5},
    piece=("link", "with addresses of the less usual side"),
)
