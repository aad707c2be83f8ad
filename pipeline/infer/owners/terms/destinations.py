"""A router at which traces end is in an AS that they were aimed at, whether it answered or not.

It is in one of the ASes that its addresses were the last routers to. What several of its addresses
say adds up. It says less where they speak for several ASes, where the destinations may be routers
themselves, or where a router of that AS is known beside it.
"""

from __future__ import annotations

from pipeline.infer.rule import CHOSEN, Rule

TERM = Rule(
    "destinations",
    "owners",
    "the last router of traces is in one of their destination ASes",
    "last routers, destination ASes",
    CHOSEN,
    "bdrmapIT (Marder et al., IMC 2018), destination ASes",
    {"aimed_else": 4.0, "aimed_else_again": 1.5, "aimed_else_perhaps": 2.4},
    piece=("end", "of traces to other ASes"),
)
