"""A link has addresses of one of the ASes at its ends: nobody uses a third one's on purpose."""

from __future__ import annotations

from pipeline.infer.rule import CHOSEN, Rule

TERM = Rule(
    "numbering",
    "owners",
    "a link has addresses of an AS at one of its ends",
    "links, prefixes",
    CHOSEN,
    "MAP-IT (Marder and Smith, IMC 2016)",
    # A link whose other end is unknown, numbered from another AS; one inside an AS; one between two
    # ASes that is numbered from a third.
    {"numbered_else": 2.5, "foreign_inside": 5.0, "foreign_between": 7.0},
    piece=("link", "with addresses of an AS at neither end"),
)
