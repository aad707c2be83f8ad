"""How many searches may be made."""

from __future__ import annotations

from kernels.errors import GraphError


def checked_limit(max_searches: int | None) -> int | None:
    """The limit as it is; GraphError for one below 0."""
    if max_searches is not None and max_searches < 0:
        raise GraphError(f"max_searches is {max_searches}; give 0 or more, or None for no limit")
    return max_searches
