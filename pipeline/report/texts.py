"""Figures as short texts of pages."""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from markupsafe import Markup

from pipeline.metrics import decimals_of
from pipeline.model.words import amount, outward_amount, round_amount

MAX_SHOWN = 80  # characters of a name in a heading
NONE = "\u2013"  # where there is no figure


def share_text(count: int, total: int) -> str:
    """Share in per cent, short: ``12``, ``1.2``, ``<.1``, or empty for none."""
    share = 100 * count / total
    if count == 0:
        return ""
    if share < 0.05:
        return "&lt;.1"
    if share >= 99.5 and count < total:
        return "&gt;99"  # not all
    return f"{share:.0f}" if share >= 9.95 else f"{share:.1f}"


def share(count: int, total: int) -> str:
    """Share with its unit, for running text."""
    if not count or not total:
        return "0 %"
    return "100 %" if count == total else f"{Markup(share_text(count, total)).unescape()} %"


def short(name: str) -> str:
    """A name cut to what a heading has room for."""
    return name if len(name) <= MAX_SHOWN else f"{name[: MAX_SHOWN - 1]}\u2026"


def as_text(asn: int | None, names: Mapping[int, str]) -> str:
    """An AS with its name, if it has one, for running text."""
    if asn is None:
        return "an unknown AS"
    name = names.get(asn)
    return f"AS{asn} ({short(name)})" if name else f"AS{asn}"


def short_number(n: int) -> str:
    """A count for a small drawing: ``950``, ``1.2k``, ``40k``, ``3M``."""
    for size, unit in ((10**6, "M"), (1000, "k")):
        if n >= size:
            return (
                f"{n / size:.0f}{unit}"
                if n >= 10 * size
                else f"{n / size:.1f}".rstrip("0").rstrip(".") + unit
            )
    return str(n)


def utc(seconds: float) -> str:
    """UTC date and minute of seconds since 1970."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def rounded(value: float, key: str) -> float:
    """The number that a figure shows: rounded once, from the full value.

    The script of the index gets this number, so that the index and the pages show the same.
    """
    if _is_weight(key):
        return round_amount(value, decimals_of(key))
    return float(f"{value:.{decimals_of(key)}f}")


def figure(value: float | str | None, key: str) -> str:
    """A figure as text, the same on all pages and in the index; a text as it is."""
    if value is None or isinstance(value, str):
        return value or NONE
    decimals = decimals_of(key)
    if decimals is None:
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:,}"
    return amount(value, decimals) if _is_weight(key) else f"{value:,.{decimals}f}"


def width(value: float) -> str:
    """A width: hops as they are, weights as figures."""
    return f"{value:,}" if isinstance(value, int) else figure(value, "weighted_diameter")


def _is_weight(key: str) -> bool:
    return key.startswith("weighted")


def interval(lower: float, upper: float, between: str = NONE) -> str:
    """Two bounds, the upper -1 where there is none; rounded outwards, so that they stay bounds.

    Weights as ``amount`` shows them, from 100 on without decimals.
    """
    if isinstance(lower, int):
        texts = f"{lower:,}", f"{upper:,}"
    else:
        texts = _end(lower), _end(upper, is_upper=True)
    return f"at least {texts[0]}" if upper < 0 else between.join(texts)


def _end(bound: float, *, is_upper: bool = False) -> str:
    decimals = 0 if bound >= 100 else 2
    return amount(outward_amount(bound, decimals, is_upper=is_upper), decimals)


def next_number(number: int) -> str:
    """A number of an SVG path after another one: a minus needs no space before it."""
    return f"{number}" if number < 0 else f" {number}"
