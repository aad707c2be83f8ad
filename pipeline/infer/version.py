"""The number of the rules of inference, by which snapshots of other rules are recognised."""

from __future__ import annotations

# Raise it with every change after which the same traces and tables can give another topology:
# which answers are kept, which addresses are one router, who owns one, what is an ingress. A night
# is then compared with those of the number before as if other options had been given. Not for
# speed, messages, or figures that are measured on a topology.
RULES_VERSION = 6
