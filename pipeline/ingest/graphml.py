"""GraphML: nodes, links and typed attributes, as NetworkX, igraph, Gephi, yEd and we write them.

What is done with it:

- ``key`` elements name attributes and their types; values that are not of their type are text.
  What attributes mean, and which names of nodes are ids: ``text/named_graph.py``.
- Directed edges are used as undirected, which is noted. Nested graphs count as one; hyperedges
  and ports are skipped.
- Nothing outside the file is read: entities that a file declares are refused, and its parser
  (expat) resolves no others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO
from xml.parsers import expat

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.text.named_graph import NamedGraph, drained, value_of
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import Topology

_BLOCK = 1 << 20
_MOST_TEXT = 1 << 16  # characters of one value that are kept
_MOST_DEPTH = 100
_MOST_TAG = 16 << 20  # bytes, which the parser keeps until the tag ends
_START = re.compile(rb"<(?:[\w.-]+:)?graphml[\s>]")
_OUTSIDE = "declares entities, which are not read: remove its <!ENTITY ...> lines"
_UNIT = re.compile(r"[a-z]{1,20}")


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is XML whose first elements are GraphML's."""
    return head.removeprefix(BOM).lstrip()[:1] == b"<" and _START.search(head) is not None


def read(stream: BinaryIO, report: ReadReport) -> Iterator[Topology]:
    """Read one graph, whole.

    Yields
    ------
    Topology

    Raises
    ------
    FormatError
        After what is whole, if the file is cut short or no XML from some place on; at once if it
        declares entities, or holds no node.
    """
    reader = _Reader(report)
    fault: FormatError | None = None
    try:
        while block := stream.read(_BLOCK):
            reader.take(block)
        reader.parser.Parse(b"", True)
    except FormatError as error:
        fault = error
    except (expat.ExpatError, ValueError) as error:
        where = f"line {reader.parser.CurrentLineNumber}"
        fault = drained(stream) or FormatError(report.path, where, f"no XML from here on: {error}")
    topology = None if reader.is_refused else reader.graph.topology()
    if topology is not None:
        yield topology
    if fault is not None:
        raise fault
    if topology is None:
        raise FormatError(report.path, "", "no usable node; expected <node id=...>")


class _Reader:
    """Handles the elements of one file as its parser meets them."""

    def __init__(self, report: ReadReport):
        self.report = report
        self.graph = NamedGraph(report)
        self.is_refused = False
        self._keys: dict[str, tuple[str, str, str]] = {}  # id: whose, name, type
        self._defaults: dict[str, str] = {}
        self._key = ""
        self._is_directed = False
        self._depth = 0
        self._open: list[tuple[str, str, dict, int]] = []  # nodes and edges: name, ends, line
        self._text: list[str] | None = None
        self._n_text = self._n_bytes = 0
        parser = self.parser = expat.ParserCreate(namespace_separator=" ")
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.EntityDeclHandler = self._refuse
        parser.ExternalEntityRefHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.buffer_text = True

    def take(self, block: bytes) -> None:
        """The next bytes; ValueError if they are not GraphML."""
        self.parser.Parse(block, False)
        self._n_bytes += len(block)
        if self._n_bytes - self.parser.CurrentByteIndex > _MOST_TAG:
            raise ValueError(f"a tag longer than {_MOST_TAG >> 20} MiB")

    def _refuse(self, *_: object) -> int:
        self.is_refused = True
        raise FormatError(self.report.path, f"line {self.parser.CurrentLineNumber}", _OUTSIDE)

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        name = element.rpartition(" ")[2]
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise ValueError(f"more than {_MOST_DEPTH} elements inside one another")
        if name == "key":
            self._key = attributes.get("id", "")
            about = attributes.get("for", "all")
            said = attributes.get("attr.name", self._key), attributes.get("attr.type", "string")
            self._keys[self._key] = (about, *said)
        elif name in ("default", "data"):
            self._text, self._n_text = [], 0
            if name == "data":
                self._key = attributes.get("key", "")
        elif name == "graph":
            self._is_directed = attributes.get("edgedefault") == "directed"
        elif name == "node":
            self._open.append(("node", attributes.get("id", ""), {}, self._line))
        elif name == "edge":
            ends = attributes.get("source", "") + "\0" + attributes.get("target", "")
            if attributes.get("directed", str(self._is_directed).lower()) == "true":
                self.report.notes["directed edges, used as undirected"] += 1
            self._open.append(("edge", ends, {}, self._line))
        elif name in ("hyperedge", "port"):
            self.report.skip(name)

    def _characters(self, text: str) -> None:
        if self._text is not None and self._n_text < _MOST_TEXT:
            self._text.append(text)
            self._n_text += len(text)

    def _end(self, element: str) -> None:
        name = element.rpartition(" ")[2]
        self._depth -= 1
        if name in ("default", "data") and self._text is not None:
            text, self._text = "".join(self._text), None
            if name == "default":
                self._defaults[self._key] = text
            elif self._open:
                self._open[-1][2][self._key] = text
            elif self._keys.get(self._key, ("", "", ""))[1] == "weight_unit":
                self.graph.weight_unit = text if _UNIT.fullmatch(text) else self.graph.weight_unit
        elif name in ("node", "edge") and self._open:
            kind, said, data, line = self._open.pop()
            values = self._values(kind, data)
            if kind == "node" and said:
                self.graph.node(said, values, f"line {line}")
            elif kind == "edge" and said[0] != "\0" and said[-1] != "\0":
                tail, _, head = said.partition("\0")
                self.graph.link(tail, head, values, line)
            else:
                self.report.reject(f"line {line}", f"{kind} without an id or ends")

    def _values(self, kind: str, data: dict[str, str]) -> dict:
        values = {}
        for key, (about, _, _) in self._keys.items():
            if key not in data and key in self._defaults and about in (kind, "all"):
                data[key] = self._defaults[key]
        for key, text in data.items():
            _, name, type_ = self._keys.get(key, ("", key, "string"))
            values[name] = _typed(text, type_)
        return values

    @property
    def _line(self) -> int:
        return self.parser.CurrentLineNumber


def _typed(text: str, type_: str) -> bool | int | float | str:
    if type_ == "boolean" and text.strip().lower() in ("true", "false", "1", "0"):
        return text.strip().lower() in ("true", "1")
    if type_ in ("int", "long", "float", "double"):
        value = value_of(text)
        is_float = type_ in ("float", "double") and not isinstance(value, str)
        return float(value) if is_float else value
    return text
