"""Where others go on from a router, a trace that ends there in silence may have broken off.

A silent router of the AS that was aimed at may as well be behind it: that of a customer, as a rule,
and it is the same one for all addresses of the router. So such an end says less than others do. If
nothing of that AS ever answers, neither a destination nor an address of its own, its routers lead
nowhere that is seen, and a router from which traces go on is none of them: such an end says
nothing.
"""

from __future__ import annotations

from pipeline.infer.rule import CHOSEN, Rule

TERM = Rule(
    "broken-off",
    "owners",
    "a trace that ends at a router that others pass is weaker evidence of its AS",
    "last routers that others pass; relationships if given",
    CHOSEN,
    # At an AS that may be the provider of the one aimed at; at one of no customer; each further
    # address.
    weights={"broken_else": 2.5, "broken_at_other": 4.0, "broken_else_again": 0.8},
    piece=("end", "of traces to other ASes, which may have broken off"),
)
