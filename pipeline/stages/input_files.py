"""Input files for programs: the graph of a topology, or traces as columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.errors import UsageError
from pipeline.ingest import FORMATS, detect_format, open_reader
from pipeline.model.measured.reading import ReadReport, printable_path
from pipeline.model.measured.traces import LABELLED, TraceBatch
from pipeline.model.named_graph import NamedGraph
from pipeline.report.tables.node_names import addr_texts
from pipeline.stages.graphs import read_graph

# Kinds of replies, as text; their order is that of KIND_* in pipeline.model.measured.traces.
_KINDS = pa.array(["unknown", "time exceeded", "unreachable", "echo reply", "other"])


@dataclass
class TraceFile:
    """A file of traces, read again by each call.

    Attributes
    ----------
    path : Path
    format : str
    report : ReadReport
        Of the last reading: records used, skipped and rejected.
    """

    path: Path
    format: str
    report: ReadReport = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.report = ReadReport(printable_path(self.path), self.format)

    def batches(self) -> Iterator[TraceBatch]:
        """Traces as columns, some thousands at a time.

        Raises
        ------
        FormatError
            After everything valid, if the file is cut short or damaged.
        """
        self.report = ReadReport(printable_path(self.path), self.format)
        for batch in open_reader(self.path, self.report, self.format)[1]:
            assert isinstance(batch, TraceBatch)  # FORMATS says that this format yields them
            yield batch

    def table(self, n_traces: int | None = None) -> pa.Table:
        """One row per reply: trace, src, dst, start_s, ttl, addr, rtt_ms, kind, mpls.

        Parameters
        ----------
        n_traces : int or None
            Stop after about this many traces; None: read all, which takes memory for all.
        """
        parts, n = [NO_REPLIES], 0
        for batch in self.batches():
            parts.append(replies_of(batch, n))
            n += batch.n_traces
            if n_traces is not None and n >= n_traces:
                break
        return pa.concat_tables(parts)


_NO_ADDRS = np.empty((0, 2), np.uint64)
_NO_TRACES = TraceBatch(
    _NO_ADDRS,
    _NO_ADDRS,
    np.empty(0),
    np.zeros(1, np.int64),
    np.empty(0, np.uint8),
    _NO_ADDRS,
    np.empty(0, np.float32),
    np.empty(0, np.uint8),
)


def replies_of(batch: TraceBatch, first: int) -> pa.Table:
    """Rows of ``TraceFile.table``, one per reply; traces are numbered from ``first`` on."""
    trace = np.repeat(np.arange(batch.n_traces), np.diff(batch.reply_ptr))
    start = pa.array(batch.start_s, mask=batch.start_s == 0)
    columns: dict[str, Any] = {
        "trace": trace + first,
        "src": _texts(batch.src_addr).take(pa.array(trace)),
        "dst": _texts(batch.dst_addr).take(pa.array(trace)),
        "start_s": start.take(pa.array(trace)),
        "ttl": batch.ttl,
        "addr": _texts(batch.addr),
        "rtt_ms": pa.array(batch.rtt_ms, mask=np.isnan(batch.rtt_ms)),
        "kind": _KINDS.take(pa.array(batch.kind & ~np.uint8(LABELLED))),
        "mpls": (batch.kind & LABELLED) > 0,
    }
    return pa.table(columns)


def _texts(addrs: np.ndarray) -> pa.Array:
    """Addresses as text; null where the format does not say."""
    known = addrs.any(axis=1)
    return pc.if_else(pa.array(known), addr_texts(addrs), pa.scalar(None, pa.string()))


NO_REPLIES = replies_of(_NO_TRACES, 0)


def read_file(path: Path, format: str | None = None) -> NamedGraph | TraceFile:
    """An input file: the whole graph of a topology, or traces.

    Parameters
    ----------
    path : Path
        Plain, gzip, bzip2 or xz.
    format : str or None
        Of a trace file; None: recognised by content.

    Raises
    ------
    UsageError
        If the format is unknown.
    FormatError
        If the file cannot be read, or is of no known format.
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f"unknown format {format!r}; known: {', '.join(FORMATS)}")
    found = format or detect_format(path)
    return TraceFile(path, found) if FORMATS[found].kind == "traces" else read_graph(path)
