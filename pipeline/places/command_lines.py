"""Commands that messages advise, as a shell takes them."""

from __future__ import annotations

import shlex
from pathlib import Path

from pipeline.places.urls import shown


def as_word(place: Path | str) -> str:
    """A place as a command takes it that would else read it as an option.

    >>> as_word(Path("-lab"))
    './-lab'
    """
    text = shown(place)
    return f"./{text}" if text.startswith("-") else text


def command_line(
    *words: object, store: Path | str | None = None, out: Path | str | None = None
) -> str:
    """A ``hopscope`` command between backticks, with the places that it is about.

    They are named even where a variable holds them: who reads a log may have another one.

    >>> command_line("restore", "2026-11-20", store="my store")
    "`hopscope restore 2026-11-20 --store 'my store'`"
    """
    places = {"--store": store, "--out": out}
    given = [(option, as_word(place)) for option, place in places.items() if place is not None]
    return f"`{shlex.join(['hopscope', *map(str, words), *sum(given, ())])}`"
