"""Counts what the interpreter does: much of it where a loop should be compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def n_lines(call: Callable[[], Any]) -> tuple[int, Any]:
    """How many lines of Python the call runs in this thread, and what it returns."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        result = call()
    finally:
        sys.settrace(before)
    return count, result
