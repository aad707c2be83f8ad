"""How many searches may be made."""

from __future__ import annotations

import operator
from typing import Any

from kernels.errors import GraphError


def checked_limit(max_searches: Any) -> int | None:
    """The limit as an int; GraphError for what is no whole number, or below 0."""
    if max_searches is None:
        return None
    try:
        limit = operator.index(max_searches)
    except TypeError:
        limit = -1
    if limit < 0:
        raise GraphError(
            f"max_searches is {max_searches!r}; give a whole number, 0 or more, "
            "or None for no limit"
        )
    return limit
