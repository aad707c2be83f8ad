"""Two ASes that relationships list, but not together, rarely meet.

Peers at exchange points are missing from such files, so it is not excluded.
"""

from __future__ import annotations

from pipeline.infer.rule import CHOSEN, Rule

TERM = Rule(
    "strangers",
    "owners",
    "ASes in no known relationship rarely meet",
    "relationships (--as-rel)",
    CHOSEN,
    "bdrmapIT (Marder et al., IMC 2018); Luckie et al., IMC 2013",
    {"strangers": 2.4, "strangers_near": 1.2},
    piece=("link", "to an AS in no known relationship with it"),
)
