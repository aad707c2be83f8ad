"""Tables with a row for each reply: of caracal, iris and yarrp, and plain CSV.

Rows are in any order, as such probers send: those of one source, destination and flow are one
trace. Columns are found by name, further ones are left out:

- caracal, iris, diamond-miner (CSV with a header, Parquet): ``probe_dst_addr``, ``probe_ttl``,
  ``reply_src_addr``; perhaps ``probe_src_addr``, ports and protocol (the flow), ``rtt``,
  ``capture_timestamp``, ``reply_icmp_type`` and ``_code``, ``reply_mpls_labels``, ``reply_ttl``.
  Whole ``rtt`` are tenths of a millisecond; those of a floating type, and of older versions (with
  ``probe_ttl_l4``), milliseconds. An echo reply names no destination: it is who answered.
- yarrp (``.yrp``): columns by the header's ``Output_Fields``, or 14 or 15 by place. ``rtt`` is in
  ms unless the header says ``RTT_Granularity: us``; ``SourceIP`` there is the source.
- plain CSV, or Parquet: ``vantage``, ``destination``, ``ttl``, ``address``, perhaps ``rtt`` (ms),
  ``time`` (s, or ISO 8601) and ``trace``, and what else `hopscope convert` writes: ``start_s``,
  ``kind``, ``mpls``; and ``reply_ttl``. Without ``trace``, rows of a trace stand together, TTLs
  not falling. A vantage that is a name is no address: the trace has no source.

Separators are commas, semicolons, TABs or ``|``. A row without an address, or with ``*``, is none.
A row is rejected that has too few or too many columns, a TTL outside 1 to 255, or something else
where an address is. Methods: each trace is one flow; plain CSV does not say.
Up to some millions of rows are held in memory, more in temporary files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from pipeline.errors import FormatError
from pipeline.ingest.columns import count_batch
from pipeline.ingest.reply_rows.dialects import Dialect, dialect_of, rows_of
from pipeline.ingest.reply_rows.grouping import ReplyRows
from pipeline.ingest.reply_rows.tables import PARQUET, Table, csv_head, open_table
from pipeline.ingest.text.beginning import peek
from pipeline.model.measured.reading import NO_SOURCE, NO_TARGET, ReadReport
from pipeline.model.measured.traces import TraceBatch

_HEAD_BYTES = 1 << 16


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is Parquet, or has the columns of such a table."""
    if head.startswith(PARQUET):
        return True
    found = csv_head(head)
    return found is not None and dialect_of(found.names) is not None


def read(stream: BinaryIO, report: ReadReport) -> Iterator[TraceBatch]:
    """Yield the traces of one file; those of large files in no certain order.

    Raises
    ------
    FormatError
        After everything valid: the file is empty, cut short, damaged, or lacks a column.
    """
    head, stream = peek(stream, _HEAD_BYTES)
    if not head:
        stream.read(1)
        raise FormatError(report.path, "", "empty")
    with open_table(stream, head, report) as table:
        dialect = _dialect(table, report)
        rows = ReplyRows()
        for batch in table.batches(dialect.columns):
            rows.add(rows_of(batch, dialect, table, report))
        for traces in rows.traces():
            if n_unknown := int((~traces.src_addr.any(axis=1)).sum()):
                report.notes[NO_SOURCE] += n_unknown
            if n_unknown := int((~traces.dst_addr.any(axis=1)).sum()):
                report.notes[NO_TARGET] += n_unknown
            count_batch(traces, report)
            yield traces
        if table.fault is not None:
            raise table.fault


def _dialect(table: Table, report: ReadReport) -> Dialect:
    found = dialect_of(table.names)
    if found is None:
        named = ", ".join(table.names[:20]) or "none"
        raise FormatError(
            report.path,
            "",
            f"no table of replies: its columns are {named}; needed are vantage (perhaps empty), "
            "destination, ttl and address, or probe_dst_addr, probe_ttl and reply_src_addr; of "
            "links, as hopscope exports them, give .csv or .graphml",
        )
    return found


def compile_kernels() -> None:
    """Compile what reading needs, or load it from numba's cache."""
    import io

    text = b"vantage,destination,ttl,address\n192.0.2.1,192.0.2.9,1,::ffff:192.0.2.2\n"
    for _ in read(io.BytesIO(text), ReadReport("none")):
        pass
