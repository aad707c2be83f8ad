"""ASes of one organisation number each other's links, inner ones too, and share routers."""

from __future__ import annotations

from pipeline.infer.rule import CHOSEN, Rule

TERM = Rule(
    "organisations",
    "owners",
    "ASes of one organisation act nearly like one AS",
    "organisations (--as2org)",
    CHOSEN,
    "bdrmapIT (Marder et al., IMC 2018), section 4",
    # A link between two of them; the same next to each other, link unknown; a link inside one,
    # numbered from the other; a link to another AS, numbered from the other.
    {
        "siblings": 1.5,
        "siblings_near": 0.8,
        "sibling_inside": 0.3,
        "sibling_between": 2.5,
    },
    piece=("link", "between ASes of one organisation"),
)
