"""Members of exchange points are registered with addresses of their routers; any one may be it."""

from __future__ import annotations

from pipeline.infer.rule import Rule

TERM = Rule(
    "exchange-members",
    "owners",
    "an address on an exchange point's LAN is on a router of the member registered with it",
    "members of exchange points (--ixp)",
    "derived: one entry in thirty is outdated",
    "bdrmapIT (Marder et al., IMC 2018), section 4",
    {"member_else": 3.4},
    piece=("address", "registered for another member of an exchange point"),
)
