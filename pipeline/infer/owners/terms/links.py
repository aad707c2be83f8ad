"""Links between two ASes: most links stay inside one.

The weight must be a probability like those of the habit of numbering (``habit``).
"""

from __future__ import annotations

from pipeline.infer.rule import CHOSEN, Rule

TERM = Rule(
    "inner-links",
    "owners",
    "most links stay inside one AS",
    "links",
    CHOSEN,
    "MAP-IT (Marder and Smith, IMC 2016)",
    {"between": 2.5},
    piece=("link", "to another AS"),
)
