"""Alias files other than ITDK ``nodes``, line by line.

- MIDAR's ``.sets`` [1]_: ``# set 0: ...`` begins a set, whose addresses follow, one per line.
- ITDK ``.ifaces``, also of kapar [2]_: ``addr N1 L1 T D``, all but the address optional; addresses
  of one node are one router.
- iffinder's ``.iffout``: ``addr addr status ...``: the address probed, the address that answered;
  status ``D``, they differ: aliases. Lines of another status are counted (``skipped``).
- Lines of two or more addresses, as kapar and scamper's ``sc_speedtrap`` write pairs.

Pairs and lines chain: those that share an address are one router.

References
----------
.. [1] CAIDA, "Vela MIDAR API", https://www.caida.org/projects/ark/vela/midar-api/.
.. [2] CAIDA, "Macroscopic Internet Topology Data Kit (ITDK)", README; K. Keys, README of kapar 0.6.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from enum import Enum

import numpy as np

from kernels import CSRGraph, components
from pipeline.model.addresses import V4_PREFIX, parse_addr, unique_addrs
from pipeline.model.columns.sorted_addrs import find_addrs
from pipeline.model.measured.reading import ReadReport


class Form(Enum):
    """What an alias file is."""

    NODES = "itdk-nodes"
    SETS = "midar-sets"
    IFACES = "itdk-ifaces"
    IFFINDER = "iffinder"
    LINES = "alias-lines"


_HEAD = re.compile(rb"#\s*set\s+\d+")
_OF_IFACE = re.compile(rb"[NL]\d{1,18}|[TD]")
_NOT_AN_ADDRESS = "not an address"


def is_placeholder(high: int, low: int) -> bool:
    """Whether an address stands for one that never answered: 0.0.0.0/8 and 224.0.0.0/3."""
    if high != 0 or low >> 32 != int(V4_PREFIX) >> 32:
        return False
    first = low >> 24 & 0xFF
    return first == 0 or first >= 224


def _parse(word: bytes) -> tuple[int, int]:
    return parse_addr(word.decode("ascii", "replace"))


def _is_address(word: bytes) -> bool:
    try:
        _parse(word)
    except ValueError:
        return False
    return True


def recognise(text: bytes) -> Form:
    """Form of the first line that shows it; ITDK nodes if none does."""
    for line in text.split(b"\n"):
        if _HEAD.match(line):
            return Form.SETS
        words = line.split()
        if not words or line.startswith(b"#"):
            continue
        if words[0] == b"node":
            return Form.NODES
        if len(words) < 2 or not _is_address(words[0]):
            continue
        if _OF_IFACE.fullmatch(words[1]):
            return Form.IFACES
        if _is_address(words[1]):
            plain = len(words) == 2 or _is_address(words[2])
            return Form.LINES if plain else Form.IFFINDER
    return Form.NODES


class _Lines:
    """Addresses so far and the number of the set, node or line that each is in."""

    def __init__(self, form: Form, report: ReadReport) -> None:
        self.parse = {
            Form.SETS: self._of_set,
            Form.IFACES: self._iface,
            Form.IFFINDER: self._iffinder,
            Form.LINES: self._line,
        }[form]
        self.report = report
        self.high, self.low, self.label = array("Q"), array("Q"), array("q")
        self._set, self._is_new = -1, False
        self.n_of_sets = 0  # addresses; sets are what is counted as records

    def _add(self, texts: Iterable[bytes], label: int) -> None:
        """Keep addresses; ValueError with a fixed phrase, and none kept, if one is broken."""
        try:
            found = [_parse(text) for text in texts]
        except ValueError:
            raise ValueError(_NOT_AN_ADDRESS) from None
        for high, low in found:
            if not is_placeholder(high, low):
                self.high.append(high)
                self.low.append(low)
                self.label.append(label)

    def _of_set(self, number: int, line: bytes) -> None:
        if line.startswith(b"#"):
            if _HEAD.match(line):
                self._set, self._is_new = number, True
            return
        if self._set < 0:
            raise ValueError("address before the first `# set`")
        self._add([line], self._set)
        self.n_of_sets += 1
        self.report.n_records += self._is_new
        self._is_new = False

    def _iface(self, number: int, line: bytes) -> None:
        words = line.split()
        nodes = [word for word in words[1:] if word.startswith(b"N")]
        if len(nodes) > 1 or not all(map(_OF_IFACE.fullmatch, words[1:])):
            raise ValueError("not `addr N1 L1 T D`")
        self._add(words[:1], int(nodes[0][1:]) if nodes else -number)
        self.report.n_records += 1

    def _iffinder(self, number: int, line: bytes) -> None:
        words = line.split()
        if len(words) < 3 or not words[2].isalpha():
            raise ValueError("not `addr addr status`")
        if words[2] != b"D":
            self.report.skip("no alias")
            return
        self._add(words[:2], number)
        self.report.n_records += 1

    def _line(self, number: int, line: bytes) -> None:
        self._add(line.split(), number)
        self.report.n_records += 1

    def columns(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, 2) uint64 addresses, (n,) int64 labels, without labels of one address."""
        addrs = np.column_stack([np.array(self.high, np.uint64), np.array(self.low, np.uint64)])
        label = np.array(self.label, np.int64)
        _, which, n = np.unique(label, return_inverse=True, return_counts=True)
        kept = n[which] > 1
        return addrs[kept], label[kept]


def read_lines(
    chunks: Iterator[tuple[int, bytes]], form: Form, report: ReadReport
) -> tuple[np.ndarray, np.ndarray]:
    """Read an alias file of any form but ITDK nodes.

    Parameters
    ----------
    chunks : iterator of (int, bytes)
        As from ``read_chunks``.
    form : Form
    report : ReadReport
        Filled.

    Returns
    -------
    addrs : (n, 2) uint64
        In the order of the file; sets of one address are left out.
    router : (n,) int64
        Equal for addresses of one router.
    """
    lines = _Lines(form, report)
    for first_line, text in chunks:
        for number, line in enumerate(text.split(b"\n"), first_line):
            stripped = line.strip()
            if not stripped or (stripped.startswith(b"#") and form is not Form.SETS):
                continue
            try:
                lines.parse(number, stripped)
            except ValueError as error:
                report.reject(f"line {number}", str(error), stripped.decode("ascii", "replace"))
    if form is Form.SETS:
        n = lines.n_of_sets
        report.kept_of = {"address": (n, n + report.rejected.total())}
    addrs, label = lines.columns()
    return addrs, _chain(addrs, label) if form in (Form.IFFINDER, Form.LINES) else label


def _chain(addrs: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Routers of addresses if labels that share an address are one."""
    number = find_addrs(unique_addrs([addrs]), addrs).astype(np.int64)
    same = np.flatnonzero(label[1:] == label[:-1])
    n = int(number.max(initial=-1)) + 1
    graph = CSRGraph.from_edges(number[same], number[same + 1], n_nodes=n, symmetrise=True)
    return components(graph).component.astype(np.int64)[number]
