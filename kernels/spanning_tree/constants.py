"""Numbers that Python and ``spanning_tree.cu`` both know; handed to its compiler by -D."""

from __future__ import annotations

NO_KEY = 2**64 - 1  # above all keys
MOST_BITS = 0x7F7FFFFF  # of a weight that is not negative and finite
