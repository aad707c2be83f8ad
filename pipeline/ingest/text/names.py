"""Names in third-party tables."""

from __future__ import annotations

import re

from pipeline.model.measured.reading import ReadReport

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def clean_name(name: str, most: int, report: ReadReport) -> str:
    """A name of at most ``most`` characters, control characters as U+FFFD; changes are noted."""
    plain = CONTROL.sub("\ufffd", name)
    if plain != name:
        report.notes["names with control characters, replaced"] += 1
    if len(plain) > most:
        report.notes[f"names cut to {most} characters"] += 1
    return plain[:most]
