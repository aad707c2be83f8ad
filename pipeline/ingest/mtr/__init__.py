"""mtr's reports: JSON (``--json``), text (``--report``) and CSV (``--csv``).

https://www.bitwizard.nl/mtr/; versions 0.8 to 0.96. A report sums up the probes of each TTL: a hop
is one reply, with the smallest of its times, and one without an address did not answer.

- The source is a host's name, if anything: traces have no vantage point.
- The destination is what was requested: unknown if that is a name. ``--report`` does not say it.
- ``--json`` has no time.
- Probes have numbers of their own, so traces are *classic* (``TraceBatch.n_classic``).
- A hop that is a name without an address makes a trace broken: mtr writes addresses with ``-n`` or
  ``-b``.
- ``--report``: further addresses of a hop are replies without a time; labels of ``--mpls`` mark the
  reply above.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from pipeline.files import BOM
from pipeline.ingest.column_reader import ColumnReader
from pipeline.ingest.mtr import lines, records
from pipeline.ingest.text.beginning import peek
from pipeline.ingest.text.json_records import read_records
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import TraceBatch

_JSON = re.compile(rb'"mtr"\s*:\s*\{')


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a report of mtr."""
    text = head.removeprefix(BOM).lstrip()
    if text[:1] in (b"{", b"["):
        return _JSON.search(text) is not None and records.MARK.search(text) is not None
    return lines.SNIFFED.search(text) is not None


def read(stream: BinaryIO, report: ReadReport) -> Iterator[TraceBatch]:
    """Yield the traces of a file, in file order.

    Raises
    ------
    FormatError
        After everything valid: the file is empty, cut short, or has no report.
    """
    head, stream = peek(stream, 1 << 10)
    if head.removeprefix(BOM).lstrip()[:1] in (b"{", b"["):
        yield from read_records(stream, report, records.MARK, records.traces)
    else:
        yield from ColumnReader(stream, report, lines.ReportDecoder(report)).batches()
