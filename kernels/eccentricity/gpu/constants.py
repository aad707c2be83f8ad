"""Numbers that Python and ``eccentricity.cu`` both know; handed to its compiler by -D."""

from __future__ import annotations

from kernels.eccentricity.questions import CENTER, DIAMETER, PERIPHERY, QUESTIONS, RADIUS

__all__ = [
    "CENTER",
    "DIAMETER",
    "ENDS",
    "MOST_HOPS",
    "PERIPHERY",
    "RADIUS",
    "RUN",
    "SEARCHED",
    "SEARCHED_ALONE",
]

RUN = 32  # nodes that a thread looks at before the warp combines its threads' results
MOST_HOPS = 64  # graphs with reference nodes have fewer: tables of MOST_HOPS squared are shared

# State of a node: a search from it gave bounds to all nodes, or to itself alone; 0: none was made.
SEARCHED, SEARCHED_ALONE = 1, 2

ENDS = len(QUESTIONS)  # question about nodes outside the balls: which may be ends of longest paths
