"""CAIDA's AS relationships as a graph: ASes, and a link for each relationship.

    # input clique: 174 209 286
    1|2|-1
    1|3|0|bgp

Lines of serial-1 and serial-2: two ASes, then -1 (the first is a provider of the second), 0
(peers), 1 or 2 (siblings), kept as the column ``relationship``. A node is an AS; the whole file is
one graph (``--asn N``). Beside traces, the same file is a table for ``--as-rel``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.text.lines import Lines
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import Topology

_LINE = re.compile(rb"(\d{1,10})\|(\d{1,10})\|(-1|0|1|2)(?:\|[\w,.-]*)?\r?$")
_ROWS = 100


def sniff(head: bytes) -> bool:
    """Whether the first lines after comments are all relationships."""
    *lines, last = head.removeprefix(BOM).split(b"\n")
    rows = [line for line in [*lines, last][:-1] or [last] if line and not line.startswith(b"#")]
    return bool(rows) and all(_LINE.fullmatch(row) for row in rows[:_ROWS])


def read(stream: BinaryIO, report: ReadReport) -> Iterator[Topology]:
    """Read one graph, whole.

    Yields
    ------
    Topology
        kind ``as``; node_id and node_asn are AS numbers.

    Raises
    ------
    FormatError
        After the topology, if the stream is cut short; at once if it holds no relationship.
    """
    lines = Lines(stream)
    parts: list[np.ndarray] = []
    while lines.fill():
        block = lines.buffer[lines.start : lines.stop].tobytes()
        parts.append(_rows(block, lines.number, report))
        lines.number += block.count(b"\n") + (not block.endswith(b"\n"))
        lines.start = lines.stop
    rows = np.concatenate([np.empty((0, 3), np.int64), *parts])
    if len(rows):
        asn, ends = np.unique(rows[:, :2], return_inverse=True)
        ends = ends.reshape(-1, 2)
        report.n_records += len(rows)
        yield Topology(
            node_asn=asn,
            node_id=asn,
            near=ends[:, 0].copy(),
            far=ends[:, 1].copy(),
            link_columns={"relationship": rows[:, 2].copy()},
            kind="as",
        )
    if lines.error is not None:
        raise lines.error
    if not len(rows):
        raise FormatError(report.path, "", "no line `AS|AS|relationship`")


def _rows(block: bytes, n_before: int, report: ReadReport) -> np.ndarray:
    """(n, 3) int64: both ASes and the relationship of each line."""
    rows: list[tuple[bytes, ...]] = []
    for i, line in enumerate(block.split(b"\n")):
        if (found := _LINE.fullmatch(line)) is not None:
            rows.append(found.groups())
        elif line.strip() and not line.startswith(b"#"):
            said = line[:60].decode("utf-8", "replace")
            report.reject(f"line {n_before + i + 1}", "not two ASes and a relationship", said)
    found_rows = np.array(rows, "S10").astype(np.int64).reshape(-1, 3)
    is_well = (found_rows[:, :2] <= MAX_ASN).all(axis=1)
    if not is_well.all():
        report.reject("file", "AS number out of range", count=int((~is_well).sum()))
    return found_rows[is_well]
