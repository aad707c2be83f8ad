"""The hop lines of traceroute: see the rules of ``traceroute_text``."""

from __future__ import annotations

import functools
import re

from pipeline.ingest.columns import Reply
from pipeline.ingest.text.blocks import BrokenLine
from pipeline.model.addresses import parse_addr
from pipeline.model.measured.traces import KIND_UNKNOWN, KIND_UNREACHABLE, LABELLED

NO_RESULT = "neither an address nor a probe's result"
_HOP = re.compile(r"\s*(\d{1,3})(?=\s|$)(.*)")
# What a hop consists of. Of MTUs, hops of the way back, TTLs of replies and sizes nothing is read.
_TOKEN = re.compile(
    r"""
      (?P<time>\d{1,12}(?:[.,]\d{1,12})?) \s{0,9} ms (?=\s|$)
    | (?P<none>\*) (?=\s|$)
    | (?P<box>\[[^\[\]]*\]|<[^<>]*>)
    | (?P<mark>!(?:[A-Z]?(?:-?\d{1,9})?|<\d{1,9}>)) (?=\s|$)
    | (?P<unread>F=\d+|'-?\d+'|\(\d+\)|\(ttl=\d+!?\)|\d{1,6}[ ]bytes[ ]to[ ]\S+) (?=\s|$)
    | \S+ [ \t]{1,9} \( (?!\d+\)|ttl=) (?P<addr>[^()\s]+) \) (?=\s|$)
    | (?P<word>\S+)
    """,
    re.VERBOSE,
)
_MPLS_LINE = re.compile(r"\s+MPLS\b")


@functools.lru_cache(1 << 14)
def read_addr(text: str) -> tuple[int, int]:
    """Words of an address, without the interface of a link-local one."""
    return parse_addr(text.partition("%")[0])


class Hops:
    """Reads the lines of one trace."""

    def __init__(self, replies: list[Reply]) -> None:
        self.replies = replies
        self._ttl = 0
        self._addr: tuple[int, int] | None = None  # for the times that follow
        self._first = 0  # reply of that address
        self._is_labelled = False

    def read(self, lines: list[str]) -> int:
        """Add the replies of some lines; returns how many lines are none of a trace."""
        n_others = 0
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                if found := _HOP.fullmatch(line.rstrip()):
                    self._begin_hop(int(found[1]))
                    self._words(found[2])
                elif not line[0].isspace():
                    n_others += 1
                elif _MPLS_LINE.match(line):
                    self._label()
                else:
                    self._words(line)
            except ValueError as error:
                raise BrokenLine(number, str(error), line.strip()) from None
        self._end_address()
        return n_others

    def _begin_hop(self, ttl: int) -> None:
        self._end_address()
        if not 1 <= ttl <= 255:
            raise ValueError("hop number outside 1 to 255")
        if ttl < self._ttl:
            raise ValueError("hop numbers fall")
        self._ttl = ttl

    def _end_address(self) -> None:
        """An address without any time is a reply."""
        if self._addr is not None and len(self.replies) == self._first:
            self._add(float("nan"))
        self._addr, self._is_labelled = None, False

    def _add(self, rtt_ms: float) -> None:
        if self._addr is None:
            raise ValueError("a time before any address")
        kind = KIND_UNKNOWN | (LABELLED if self._is_labelled else 0)
        self.replies.append(Reply(self._ttl, self._addr, rtt_ms, kind))

    def _label(self) -> None:
        self._is_labelled = True
        for i in range(self._first, len(self.replies)):
            self.replies[i] = self.replies[i]._replace(kind=self.replies[i].kind | LABELLED)

    def _mark(self, mark: str) -> None:
        if mark == "!":  # the TTL of the reply was 0 or 1
            return
        if self._addr is not None and len(self.replies) == self._first:
            self._add(float("nan"))
        if self._addr is None:
            raise ValueError("a mark before any address")
        last = self.replies[-1]
        self.replies[-1] = last._replace(kind=last.kind & LABELLED | KIND_UNREACHABLE)

    def _words(self, text: str) -> None:
        if self._ttl == 0:
            raise ValueError("before the first hop")
        for found in _TOKEN.finditer(text):
            kind = found.lastgroup
            if kind == "time":
                self._add(float(found["time"].replace(",", ".")))
            elif kind == "addr" or kind == "word":
                self._end_address()
                try:
                    self._addr = read_addr(found[kind])
                except ValueError:
                    raise ValueError(NO_RESULT) from None
                self._first = len(self.replies)
            elif kind == "mark":
                self._mark(found["mark"])
            elif kind == "box" and "MPLS" in found["box"]:
                self._label()
