"""A private address by which packets came in shows a link inside one AS, which alone uses it."""

from __future__ import annotations

from pipeline.infer.rule import CHOSEN, Rule

TERM = Rule(
    "private-links",
    "owners",
    "a link with private addresses is inside one AS",
    "private addresses and their predecessors",
    CHOSEN,
    weights={"private_between": 5.0},
    without={"private_between": 1.3},  # as routers next to each other,
    piece=("private link", "to another AS"),
)
