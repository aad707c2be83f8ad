"""Numbers that ``partition.cu`` knows too; see ``exchange.message``."""

from __future__ import annotations

# Places in a message: nodes of a frontier, their arcs, how many nodes are listed.
NODES_AT, ARCS_AT, LISTED_AT = 0, 1, 2
HEAD = 16  # int64 before the list of a message, so that it begins at 128 bytes
SMALL_BLOCK = 1024  # threads of the one block that does a small level
