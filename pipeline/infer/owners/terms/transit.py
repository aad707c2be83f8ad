"""Traces to several ASes cross only ASes that carry traffic of others, which most ASes never do.

An AS carries it if traces to another AS passed an address numbered from it. That is known before
any owner is. A provider's router at which traces to a customer end, since the customer's routers
are silent, is crossed by traces to other customers too; that customer's own addresses never are.
"""

from __future__ import annotations

from pipeline.infer.rule import CHOSEN, Rule

TERM = Rule(
    "transit",
    "owners",
    "traces to several ASes cross routers of ASes whose own addresses others are aimed past",
    "destination ASes of all traces through each router, prefixes",
    CHOSEN,
    "bdrmapIT (Marder et al., IMC 2018), by relationships",
    {"carried_else": 3.0},
    piece=("router", "that traces to several ASes cross"),
)
