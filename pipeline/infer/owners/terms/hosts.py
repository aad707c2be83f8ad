"""Answering hosts right behind a router through which nothing passes are in its AS.

Counted once for each address by which packets came in.
"""

from __future__ import annotations

from pipeline.infer.rule import CHOSEN, Rule

TERM = Rule(
    "hosts",
    "owners",
    "a last router is in the AS of the hosts right behind it",
    "destinations that answered, and the hop before",
    CHOSEN,
    "bdrmapIT (Marder et al., IMC 2018), destination ASes",
    {"hosts_else": 4.5},
    piece=("address", "with hosts of another AS right behind it"),
)
