"""Arguments of public functions: taken if they are what a function needs, else GraphError."""

from __future__ import annotations

import operator
from typing import Any

from kernels.errors import GraphError


def whole_number(name: str, given: Any, least: int | None = None) -> int:
    """``given`` as an int; GraphError unless it is whole, and not less than ``least``."""
    try:
        number = operator.index(given)
    except TypeError:
        raise GraphError(f"{name} is {given!r}; it must be a whole number") from None
    if least is not None and number < least:
        raise GraphError(f"{name} is {number}; it must be {least} or more")
    return number
