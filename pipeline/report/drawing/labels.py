"""Which labels of a drawing have room side by side, by the width in which it is shown.

A drawing stretches with the screen and its text does not. Labels are hidden by class below the
widths of the style sheet, so that no script has to measure them.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import unescape
from itertools import pairwise

# Pixels of a drawing's width and of a digit, and the class of a label that has no room in narrower
# ones; 270 is that of the narrowest phone.
_ROOM = ((800, 6.4, " class=w"), (480, 6.4, " class=o"), (270, 6.8, ""))

Label = tuple[float, float, float]


def label(at: float, text: str, before: float = 0.5) -> Label:
    """A label: where it is, 0 to 1, its width in digits, and how much of it is before that.

    Parameters
    ----------
    at : float
    text : str
        Markup.
    before : float
        0.5: it is centred there.
    """
    text = unescape(text)
    return at, len(text) - text.count(".") / 2, before


def end_label(at: float, text: str, room: float) -> Label:
    """A label in the middle of some room, or from the nearer end of the drawing on if it has none.

    Parameters
    ----------
    at, room : float
        Where the middle is, and the width; 0 to 1.
    text : str
    """
    width, digit, _ = _ROOM[-1]
    middle = label(at, text)
    side = round(at)
    return middle if middle[1] * digit <= room * width else (side, middle[1], side)


def classes(labels: Sequence[Label], always: Sequence[Label] = ()) -> list[str | None]:
    """Class of each label, from left to right; None: it has no room in any drawing.

    All are shown, or every second, fourth, ... one, without those that meet one of ``always``.
    """
    shown: list[str | None] = [None] * len(labels)
    for width, digit, name in _ROOM:
        spans = [_span(one, width, digit) for one in labels]
        taken = [_span(one, width, digit) for one in always]
        free = [not any(_meet(span, other) for other in taken) for span in spans]
        every = 1
        while True:
            some = [i for i in range(0, len(labels), every) if free[i]]
            if not any(_meet(spans[i], spans[j]) for i, j in pairwise(some)):
                break
            every *= 2
        for i in some:
            shown[i] = name
    return shown


def _span(one: Label, width: float, digit: float) -> tuple[float, float]:
    """Pixels from where to where a label is."""
    at, digits, before = one
    return at * width - before * digits * digit, at * width + (1 - before) * digits * digit


def _meet(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] < other[1] and other[0] < one[1]
