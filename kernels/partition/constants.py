"""Numbers that ``partition.cu`` knows too; see ``message``."""

from __future__ import annotations

HEAD = 16  # int64 before the list of a message, so that it begins at 128 bytes
