"""Figures as short texts of pages."""

from __future__ import annotations

import datetime

from markupsafe import Markup

from pipeline.report.plots import share_text

NONE = "\u2013"  # where there is no figure


def number(n: int, noun: str) -> str:
    """A count with its noun: ``1 file``, ``2 files``, ``3 ASes``, ``4 ingresses``."""
    ending = "" if n == 1 else "es" if noun[-1] in "sS" else "s"
    return f"{n:,} {noun}{ending}"


def share(count: int, total: int) -> str:
    """Share with its unit, for running text."""
    if not count or not total:
        return "0 %"
    return "100 %" if count == total else f"{Markup(share_text(count, total)).unescape()} %"


def utc(seconds: float) -> str:
    """UTC date and minute of seconds since 1970."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


_DECIMALS = {"mean_hops": 2, "median_hops": 1, "p90_hops": 1}


def figure(number: float | None, key: str) -> str:
    """A figure of the index as its script writes it."""
    if number is None:
        return NONE
    return f"{number:.{_DECIMALS[key]}f}" if key in _DECIMALS else f"{number:,}"
