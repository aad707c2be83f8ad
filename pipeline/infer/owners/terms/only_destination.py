"""If all traces through a router were aimed at one AS, two of them by one address, it may be in it.

That says little: many routers of a large AS lead to one customer alone. It settles ties, if an
alias set does not know the router by a single address.
"""

from __future__ import annotations

from pipeline.infer.rule import CHOSEN, Rule

TERM = Rule(
    "only-destination",
    "owners",
    "a router that only traces to one AS cross may be in it",
    "destination ASes of all traces through each router",
    CHOSEN,
    "bdrmapIT (Marder et al., IMC 2018), destination ASes",
    {"only_else": 0.6},
    piece=("other AS", "that is the only destination of traces through it"),
)
