"""Numbers that ``sweep.cu`` knows too; see ``steps``."""

from __future__ import annotations

LISTED = 66  # place of how many entries a message lists, after the counts
HEAD = 80  # int64 before its list, so that it begins at a whole line of 128 bytes
