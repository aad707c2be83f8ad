"""Figures as pages have them, by decimal arithmetic."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal


def rounded_once(value: float | None, decimals: int) -> str:
    """From the full value, so that no figure is rounded twice."""
    if value is None:
        return "\u2013"
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN):,}"
