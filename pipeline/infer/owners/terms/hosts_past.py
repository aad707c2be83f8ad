"""A host right behind a router that leads on may be a router of the next AS.

It stands for a link to that AS, if the router has no other.
"""

from __future__ import annotations

from pipeline.infer.rule import CHOSEN, Rule

TERM = Rule(
    "hosts-behind-transit",
    "owners",
    "a host right behind a transit router implies a link to the AS of the host",
    "destinations that answered, and the hop before",
    CHOSEN,
    weights={"host_or_router": 2.5},
    piece=("host", "of another AS behind it"),
)
