"""Routers seen next to each other without a known link: mostly they are in one AS, too.

A little more than half of the weight of a link, so that two of them outvote one link.
"""

from __future__ import annotations

from pipeline.infer.rule import CHOSEN, Rule

TERM = Rule(
    "adjacency",
    "owners",
    "routers that answer one after the other are mostly in one AS",
    "predecessors and successors",
    CHOSEN,
    "bdrmapIT (Marder et al., IMC 2018)",
    {"adjacent": 1.3},
    piece=("router", "of another AS next to it"),
)
