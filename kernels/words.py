"""Counts in messages."""

from __future__ import annotations


def number(n: int, noun: str, ending: str = "s") -> str:
    """A count with its noun: ``1 node``, ``2,000 nodes``."""
    return f"{n:,} {noun}{'' if n == 1 else ending}"
