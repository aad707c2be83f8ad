"""GML: ``graph [ node [ id 0 ] edge [ source 0 target 1 ] ]``, as the Topology Zoo publishes.

What is done with it:

- Whole numbers, numbers and texts in quotes are attributes; lists inside of nodes and links
  (``graphics``) are not read. What attributes mean: ``text/named_graph.py``; ``label`` is kept
  beside the id. Texts may hold entities of HTML (``&#38;``).
- ``directed 1``: edges are used as undirected, which is noted.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.text.named_graph import NamedGraph, drained, value_of
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import Topology

_BLOCK = 1 << 20
_MOST_TOKEN = 1 << 20  # bytes of one text
_MOST_DEPTH = 100
_TOKEN = re.compile(rb'"[^"]*"|[\[\]]|[^\s\[\]"]+|\n')
_GRAPH = re.compile(rb"(?:\A|\n)\s*graph\s*(?:\n\s*)*\[", re.IGNORECASE)


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is GML: keys and values, then ``graph [``."""
    head = head.removeprefix(BOM)
    found = _GRAPH.search(head)
    if found is None:
        return False
    before = [line for line in head[: found.start()].split(b"\n") if line.strip()]
    return all(re.match(rb"\s*(?:#|[A-Za-z]\w*\s+\S)", line) for line in before)


def read(stream: BinaryIO, report: ReadReport) -> Iterator[Topology]:
    """Read one graph, whole.

    Yields
    ------
    Topology

    Raises
    ------
    FormatError
        After what is whole, if the file is cut short or broken from some place on; at once if it
        holds no node.
    """
    reader = _Reader(report)
    fault: FormatError | None = None
    try:
        for token in _tokens(stream):
            reader.take(token)
        if reader.is_open:
            fault = FormatError(report.path, "", "cut short: a bracket is not closed")
    except FormatError as error:
        fault = error
    except ValueError as error:
        fault = drained(stream) or FormatError(report.path, f"line {reader.line}", str(error))
    topology = reader.graph.topology()
    if topology is not None:
        yield topology
    if fault is not None:
        raise fault
    if topology is None:
        raise FormatError(report.path, "", "no usable node; expected node [ id ... ]")


def _tokens(stream: BinaryIO) -> Iterator[bytes]:
    """Words, brackets, texts in quotes, and line ends."""
    rest, is_begun = b"", False
    while True:
        block = stream.read(_BLOCK)
        text = rest + block
        if not is_begun:
            text, is_begun = text.removeprefix(BOM), True
        end = len(text)
        if block:  # the last token may continue
            end = text.rfind(b"\n") + 1
            if text.count(b'"', 0, end) % 2:
                end = text.rfind(b'"', 0, end)
        for token in _TOKEN.finditer(text, 0, end):
            yield token.group()
        rest = text[end:]
        if not block:
            return
        if len(rest) > _MOST_TOKEN + _BLOCK:
            raise ValueError("a text or line longer than 1 MiB")


class _Reader:
    """Nodes and links of the tokens that it takes."""

    def __init__(self, report: ReadReport):
        self.report, self.graph = report, NamedGraph(report)
        self.line = 1
        self._stack: list[str] = []  # keys of open lists
        self._key = ""
        self._values: dict[str, Any] = {}
        self._began = 1
        self._is_comment = False
        self._is_directed = False

    @property
    def is_open(self) -> bool:
        return bool(self._stack)

    def take(self, token: bytes) -> None:
        """One token; ValueError if it cannot be there."""
        if token == b"\n":
            self.line += 1
            self._is_comment = False
        elif self._is_comment or (not self._key and token.startswith(b"#")):
            self._is_comment = True
        elif token == b"[":
            self._open()
        elif token == b"]":
            self._close()
        elif not self._key:
            if token.startswith(b'"'):
                raise ValueError("a text where a key is expected")
            self._key = token.decode("utf-8", "replace")
        else:
            key, self._key = self._key, ""
            self._value(key, token)
            self.line += token.count(b"\n")

    def _open(self) -> None:
        if len(self._stack) >= _MOST_DEPTH:
            raise ValueError(f"more than {_MOST_DEPTH} lists inside one another")
        self._stack.append(self._key)
        self._key = ""
        if self._stack[0] == "graph" and len(self._stack) == 2:
            self._values, self._began = {}, self.line

    def _close(self) -> None:
        if not self._stack or self._key:
            raise ValueError("a bracket that closes nothing")
        closed = self._stack.pop()
        if self._stack == ["graph"]:
            place = f"line {self._began}"
            ends = [self._values.pop(name, None) for name in ("source", "target")]
            if closed == "node":
                if (name := self._values.pop("id", None)) is None:
                    self.report.reject(place, "node without an id or ends")
                else:
                    self.graph.node(str(name), self._values, place)
            elif closed == "edge":
                if None in ends:
                    self.report.reject(place, "edge without an id or ends")
                else:
                    if self._is_directed:
                        self.report.notes["directed edges, used as undirected"] += 1
                    self.graph.link(str(ends[0]), str(ends[1]), self._values, self._began)

    def _value(self, key: str, token: bytes) -> None:
        text = token.decode("utf-8", "replace")
        value = html.unescape(text[1:-1]) if text.startswith('"') else value_of(text)
        if len(self._stack) == 2 and self._stack[0] == "graph":
            self._values[key] = value
        elif self._stack == ["graph"] and key == "directed":
            self._is_directed = value == 1
