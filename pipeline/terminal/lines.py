"""Lines for a terminal: results on stdout, warnings on stderr.

Every command imports this first, so code that uses rich is in other modules.
"""

from __future__ import annotations

import logging
import sys

from pipeline.model.words import UNPRINTABLE, printable
from pipeline.places import with_urls
from pipeline.terminal import log


def escaped_json(text: str) -> str:
    """JSON with such characters in its strings as escapes: the same values, and inert."""
    return UNPRINTABLE.sub(
        lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text
    )


def print_line(text: str) -> None:
    """One line of the result, on stdout."""
    sys.stdout.write(printable(with_urls(text)) + "\n")


def warn(text: str) -> None:
    """One line on stderr."""
    _say(logging.WARNING, text)


def fail(text: str) -> None:
    """One line on stderr: why nothing was done."""
    _say(logging.ERROR, text)


def _say(level: int, text: str) -> None:
    text = with_urls(text)
    if log.is_json():
        logging.getLogger(log.OWN).log(level, "%s", text)
    else:
        sys.stderr.write(f"hopscope: {printable(text)}\n")
