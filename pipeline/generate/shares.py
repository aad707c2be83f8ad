"""How far a topology is made: the share of its work that has ended, reported while it is made.

Models say which part of the whole a step is (``part``), by the time that it takes, and within it
how far they are (``tell_share``). There may be no listener.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace

TellShare = Callable[[float], None]


@dataclass(frozen=True)
class _Part:
    """From ``begin`` to ``end`` of the whole, both from 0 to 1."""

    tell: TellShare
    begin: float = 0.0
    end: float = 1.0

    def at(self, share: float) -> float:
        return self.begin + share * (self.end - self.begin)


_current: ContextVar[_Part | None] = ContextVar("part", default=None)


@contextlib.contextmanager
def shares_told(tell: TellShare) -> Iterator[None]:
    """Whatever is made in this context reports its share, ascending from 0 to 1."""
    token = _current.set(_Part(tell))
    try:
        yield
    finally:
        _current.reset(token)


@contextlib.contextmanager
def part(begin: float, end: float) -> Iterator[None]:
    """What is made in this context is the work from ``begin`` to ``end`` of that around it."""
    now = _current.get()
    if now is None:
        yield
        return
    now.tell(now.at(begin))
    token = _current.set(replace(now, begin=now.at(begin), end=now.at(end)))
    try:
        yield
    finally:
        _current.reset(token)


def tell_share(share: float) -> None:
    """Report that a share of the current part, from 0 to 1, is made."""
    now = _current.get()
    if now is not None:
        now.tell(now.at(share))
