"""Seeds as they are given on a command line."""

from __future__ import annotations


def parse_seeds(text: str) -> list[int]:
    """Seeds written as ``FIRST-LAST`` or as one number; ValueError if it is neither."""
    first, _, last = text.partition("-")
    seeds = list(range(int(first), int(last or first) + 1))
    if not seeds:
        raise ValueError(f"{text}: the first seed is larger than the last")
    return seeds
