"""One option: what users must know about it, and how what they give becomes a value."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import UsageError, WrongPartError, did_you_mean
from pipeline.places.urls import folder_of, is_url, redacted, shown

TRUE, FALSE = ("1", "true", "t", "yes", "y", "on"), ("0", "false", "f", "no", "n", "off")
REQUIRED: Any = type("Required", (), {"__repr__": lambda _: "REQUIRED"})()  # no default


@dataclass(frozen=True)
class Option:
    """How users set one field of a config, and how the value is parsed.

    Attributes
    ----------
    help : str
        One line: what it means.
    shared_help : str
        The same for a command of several stages (``merged``); empty: as ``help``.
    variable : str or None
        Variable of the environment; None: none.
    metavar : str or None
        Stands for the value in help; None: the field's choices, else the command line's own.
    unit : str
        What a number counts.
    word : str
        Long name on the command line, without dashes.
    choices : tuple of str, or callable
        Words that it takes; those of a ``Literal`` field are known without. A callable returns them
        if importing them costs time.
    parser : callable or None
        Value as given (text, or JSON) -> value of the field, in place of what the type says;
        raises ValueError with what it takes.
    needs : str
        Kind of input or of metric without which it has no effect: ``traces``, ``topology``,
        ``hops``, ``widths``; empty: it always has one.
    rows : str
        Pattern at the start of a row of the file that it takes, or of a comment that only such a
        file has: a file given as an input that begins so is answered with this option.
    minimum, maximum : number or None
        Bounds of a number, both included.
    pattern : str
        Pattern that a text must match, for forms.
    commas : bool
        A list in one text, ``a,b``.
    completes : callable or None
        What a shell offers where ``choices`` are not known beforehand: what was typed so far, by
        names of fields -> words.
    unset : str
        The word that stands for None.
    takes_urls : bool
        A file or folder may be at a URL of an object store; its path is that of its mirror.
    is_argument : bool
        Has no name on the command line, only a position.
    is_parameter : bool
        Has its own parameter in flow runs; others go into ``options``.
    show_variable, show_default : bool
        In help.
    name : str
        Name of the field.
    kind : type
        Type of the value, or of one in a list: Path, str, int, float or bool.
    is_list : bool
    default : object
        ``REQUIRED`` where it must be given.
    """

    help: str
    variable: str | None
    metavar: str | None
    unit: str
    word: str
    choices: tuple[str, ...] | Callable[[], tuple[str, ...]]
    parser: Callable[[Any], Any] | None
    minimum: float | None
    maximum: float | None
    pattern: str
    commas: bool
    completes: Callable[[Mapping[str, Any], str], Iterable[str]] | None
    unset: str
    shared_help: str
    needs: str
    rows: str
    takes_urls: bool
    is_argument: bool
    is_parameter: bool
    show_variable: bool
    show_default: bool
    name: str = ""
    kind: type = str
    is_list: bool = False
    default: Any = REQUIRED

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED

    @property
    def flag(self) -> str:
        """As on the command line: ``--as-names``, or ``INPUT``."""
        return (self.metavar or self.name) if self.is_argument else f"--{self.word}"

    @property
    def known(self) -> tuple[str, ...]:
        """The words that it takes; none: any."""
        return self.choices() if callable(self.choices) else self.choices

    @property
    def shown_value(self) -> str | None:
        """Placeholder of the value in help."""
        if self.metavar is None and self.choices and not callable(self.choices):
            return "|".join(self.choices)
        return self.metavar

    def parse(self, value: Any, called: str) -> Any:
        """The field's value from what was given.

        Parameters
        ----------
        value : object
            Text, a list of texts, or a JSON value.
        called : str
            Name by which the user knows it: ``--pack``, ``HOPSCOPE_PACK``, ``parameter pack``.

        Raises
        ------
        UsageError
            If the option does not take this value; says what it takes.
        """
        try:
            if self.unset and value == self.unset:
                return None
            if self.parser is not None:
                return self.parser(value)
            if not self.is_list:
                return self._one(value)
            given = self.split(value) if isinstance(value, str) else value
            return tuple(self._one_of_many(item) for item in _typed(given, Sequence, "a list"))
        except WrongPartError as error:
            raise UsageError(
                f"{called} takes {error}, not {error.part!r}{did_you_mean(error.part, self.known)}"
            ) from None
        except ValueError as error:
            raise UsageError(
                f"{called} takes {error}, not {value!r}{did_you_mean(value, self.known)}"
            ) from None

    def split(self, text: str) -> list[str]:
        """The list that a variable holds: paths as in ``PATH``, other words between blanks."""
        if self.commas:
            return [part.strip() for part in text.split(",")]
        return (
            [part for part in text.split(os.pathsep) if part] if self.kind is Path else text.split()
        )

    def plain(self, value: Any) -> Any:
        """The inverse: the value as plain JSON."""
        if value is None:
            return self.unset or None
        if isinstance(value, tuple):
            return [self.plain(item) for item in value]
        return shown(value) if isinstance(value, Path) else value

    def text(self, value: Any) -> str:
        """The value as text, as help and tables show a default; empty: nothing to show."""
        plain = self.plain(value)
        if plain is None or plain is False:
            return ""
        return ",".join(map(str, plain)) if isinstance(plain, list) else str(plain)

    def _one_of_many(self, value: Any) -> Any:
        try:
            return self._one(value)
        except WrongPartError:
            raise
        except ValueError as error:
            raise WrongPartError(str(error), value) from None

    def _one(self, value: Any) -> Any:
        if self.kind is bool:
            return _switch(value)
        if self.kind in (int, float):
            return self._number(value)
        if self.kind is Path:
            # An empty one would mean the current folder, which is not intended.
            text = _text(value, "a file or folder (. is the current folder)")
            if is_url(text) and self.takes_urls:
                return folder_of(text)
            if is_url(text):
                raise WrongPartError("a file or folder on this machine's disks", redacted(text))
            return Path(text)
        if self.choices:
            return one_of(value, self.known)
        return _text(value, "a text of at least one character")

    def _number(self, value: Any) -> float:
        number: Any = None
        if isinstance(value, str):
            with contextlib.suppress(ValueError):  # as "1.5" of a whole number
                number = self.kind(value) if value.isascii() and "_" not in value else None
        elif isinstance(value, (int, self.kind)) and not isinstance(value, bool):
            number = value
        low, high = self.minimum, self.maximum
        if number is None or not (
            (low is None or number >= low) and (high is None or number <= high)
        ):
            what = "a whole number" if self.kind is int else "a number"
            takes = [f"{self.unset} or" if self.unset else "", what, self.range_words]
            raise ValueError(" ".join(filter(None, takes)))
        return number

    @property
    def range_words(self) -> str:
        """Range of a number; empty: any."""
        since = "" if self.minimum is None else f"from {self.minimum}"
        return since + ("" if self.maximum is None else f" to {self.maximum}")


def one_of(value: Any, known: Sequence[str]) -> str:
    """One of the known words; raises ValueError with all of them."""
    if value not in known:
        raise ValueError(", ".join(known))
    return value


def _typed(value: Any, kind: type, what: str) -> Any:
    if isinstance(value, kind):
        return value
    raise ValueError(what)


def _text(value: Any, what: str) -> str:
    if not _typed(value, str, what):
        raise ValueError(what)
    return value


def _switch(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else value
    if word in TRUE:
        return True
    if word in FALSE:
        return False
    raise ValueError("true or false")
