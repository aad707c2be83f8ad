"""Figures as short texts of pages."""

from __future__ import annotations

import datetime
import math

from markupsafe import Markup

from pipeline.report.plots import share_text

NONE = "\u2013"  # where there is no figure


def number(n: int, noun: str) -> str:
    """A count with its noun: ``1 file``, ``2 files``, ``3 ASes``, ``4 searches``."""
    ending = "" if n == 1 else "es" if noun[-1] in "sS" or noun.endswith("ch") else "s"
    return f"{n:,} {noun}{ending}"


def share(count: int, total: int) -> str:
    """Share with its unit, for running text."""
    if not count or not total:
        return "0 %"
    return "100 %" if count == total else f"{Markup(share_text(count, total)).unescape()} %"


def utc(seconds: float) -> str:
    """UTC date and minute of seconds since 1970."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


_DECIMALS = {
    "mean_hops": 2,
    "median_hops": 1,
    "p90_hops": 1,
    "weighted_diameter": 2,
    "weighted_radius": 2,
}


def figure(number: float | str | None, key: str) -> str:
    """A figure of the index as its script writes it; a text, of two bounds, as it is."""
    if number is None or isinstance(number, str):
        return number or NONE
    return f"{number:,.{_DECIMALS[key]}f}" if key in _DECIMALS else f"{number:,}"


def width(value: float) -> str:
    """A width: hops as they are, weights with two decimals, or three digits where they are less."""
    if isinstance(value, int) or value == 0 or abs(value) >= 0.01:
        return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
    return f"{value:.3g}"


def interval(lower: float, upper: float, between: str = NONE) -> str:
    """Two bounds, the upper -1 where there is none; rounded outwards, so that they stay bounds."""
    if isinstance(lower, int):
        texts = f"{lower:,}", f"{upper:,}"
    else:
        places = 0 if max(lower, upper) >= 100 else 2
        scale = 10**places
        texts = (
            f"{math.floor(lower * scale) / scale:,.{places}f}",
            f"{math.ceil(upper * scale) / scale:,.{places}f}",
        )
    return f"at least {texts[0]}" if upper < 0 else between.join(texts)
