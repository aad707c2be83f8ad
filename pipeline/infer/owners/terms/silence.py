"""Where most traces are aimed at one AS, some of them end in silence anywhere, by chance.

So that they do says no more than how rare such traces are: the logarithm of their share, as if
``surroundings`` had seen 200 more to other ASes.
"""

from __future__ import annotations

from pipeline.infer.rule import Rule

TERM = Rule(
    "worth-of-silence",
    "owners",
    "that traces end in silence says no more than how few are aimed there",
    "traces by destination AS",
    "derived: logarithm of a share; 200 traces elsewhere are chosen",
)
