"""Compiled functions that borrow what they are handed: none of them makes or keeps an array.

numba counts references to every array that a function takes out of a tuple. For a ``Case``, of some
twenty arrays, that takes longer than what is computed: 475 ns to count what nothing costs, instead
of 20, and five times as long an election. So what is called for each group or each entry does not
count them. Nor does what is called for each link of a graph: arrays that are used in one branch
only are counted as well. What is handed lives as long as the call, since the caller holds it; what
makes arrays must count them, so it cannot be compiled in this way.
"""

from __future__ import annotations

BORROWS = {"cache": True, "nogil": True, "_nrt": False}
