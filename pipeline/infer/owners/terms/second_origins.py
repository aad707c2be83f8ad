"""Where two ASes announce a prefix, links, hosts and destinations in it may be the second one's."""

from __future__ import annotations

from pipeline.infer.rule import CHOSEN, Rule

TERM = Rule(
    "second-origins",
    "owners",
    "what is numbered from a prefix of two origins may be the second one's",
    "prefixes of several origins",
    CHOSEN,
    weights={"second": 1.8, "hosts_else_second": 4.0, "aimed_second": 3.5},
    piece=("address", "that belongs there by the second origin of its prefix alone"),
)
