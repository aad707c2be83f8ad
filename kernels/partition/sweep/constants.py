"""Numbers that ``sweep.cu`` knows too; see ``steps``."""

from __future__ import annotations

# Places in a message: nodes of a frontier, their arcs, nodes of each lane, how many are listed.
NODES_AT, ARCS_AT, LANES_AT, LISTED_AT = 0, 1, 2, 66
HEAD = 80  # int64 before its list, so that it begins at a whole line of 128 bytes
