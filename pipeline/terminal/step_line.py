"""One step of a command as one line of a terminal: how far it is, and the time that is left."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from pipeline.model.progress import MOST_SHARE
from pipeline.model.words import rough_duration

BAR = 16  # columns
LEAST_DETAIL = 12  # columns; less of a detail says nothing
LEAST_S, LEAST_SHARE = 2.0, 0.02  # from here on the time left is worth guessing
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
ASCII_SPINNER = "-\\|/"


@dataclass(frozen=True)
class StepState:
    """What is known of a step.

    Attributes
    ----------
    title : str
    done, total : int
        In ``unit``; total 0 or 1: not to be shown.
    unit : str
    elapsed_s : float
        Since it began; until it ended, if it has.
    share : float or None
        Of the work, 0 to 1, where that says more than ``done``.
    detail : str
        Printable.
    has_ended : bool
    """

    title: str
    done: int
    total: int
    unit: str
    elapsed_s: float
    share: float | None = None
    detail: str = ""
    has_ended: bool = False


def step_line(state: StepState, width: int, is_ascii: bool = False) -> str:
    """The line, at most ``width`` columns.

    What does not fit is left out as a whole: details first, then the bar, rate, count and time.
    The first parts of a detail that fit are shown; commas separate them. Only the very first one
    is cut, and in a very narrow terminal the title.
    """
    share = _share(state)
    mark = _mark(state, is_ascii)
    parts = {"title": f"{mark} {state.title}"}
    if share is not None and not state.has_ended:
        parts["share"] = f"{100 * share:3.0f} %"
    parts["time"] = _time(state, share)
    if state.total > 1:
        of = f" of {state.total:,}" if not state.has_ended else ""
        parts["count"] = f"{state.done:,}{of} {state.unit}".rstrip()
        if (rate := _rate(state)) is not None:
            parts["rate"] = rate
    if share is not None and not state.has_ended:
        parts["bar"] = _bar(share, is_ascii)
    kept: dict[str, str] = {}
    left = width
    for name, text in parts.items():  # the most important first
        needed = columns(text) + (1 if kept else 0)
        if text and needed <= left:
            kept[name] = text
            left -= needed
    if "title" not in kept:
        return cut(parts["title"], width)
    if state.detail and left > LEAST_DETAIL:
        kept["detail"] = _beginning(state.detail, left - 1)
    order = ("title", "bar", "share", "count", "rate", "time", "detail")
    return " ".join(kept[name] for name in order if name in kept)


def columns(text: str) -> int:
    """Columns of a terminal that a text takes."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def cut(text: str, width: int) -> str:
    """A text in at most ``width`` columns; three dots stand for what is left out."""
    if columns(text) <= width:
        return text
    kept = text
    while kept and columns(kept) > width - 3:
        kept = kept[:-1]
    return (kept.rstrip() + "...")[: max(0, width)]


def _beginning(detail: str, width: int) -> str:
    """The parts of a detail, between commas, that fit; of the first one what fits."""
    first, *others = detail.split(", ")
    shown = cut(first, width)
    for part in others if shown == first else ():
        if columns(f"{shown}, {part}") > width:
            break
        shown += f", {part}"
    return shown


def _share(state: StepState) -> float | None:
    if state.share is not None:
        return min(1.0, max(0.0, state.share))
    return min(1.0, state.done / state.total) if state.total > 1 else None


def _mark(state: StepState, is_ascii: bool) -> str:
    if state.has_ended:
        return "*" if is_ascii else "✓"
    spinner = ASCII_SPINNER if is_ascii else SPINNER
    return spinner[int(10 * state.elapsed_s) % len(spinner)]


def _bar(share: float, is_ascii: bool) -> str:
    full = round(share * BAR)
    return ("#" * full + "-" * (BAR - full)) if is_ascii else "━" * full + "╌" * (BAR - full)


def _rate(state: StepState) -> str | None:
    if state.elapsed_s < 1.0 or not state.done:
        return None
    rate = state.done / state.elapsed_s
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s" if rate >= 0.1 else None


def _time(state: StepState, share: float | None) -> str:
    """The time that a step took, else what may be left, else what has passed."""
    is_known = share is not None and LEAST_SHARE <= share < MOST_SHARE
    if share and is_known and not state.has_ended and state.elapsed_s >= LEAST_S:
        return f"{rough_duration(state.elapsed_s * (1 - share) / share)} left"
    return f"{state.elapsed_s:.1f} s" if state.elapsed_s < 60 else rough_duration(state.elapsed_s)
