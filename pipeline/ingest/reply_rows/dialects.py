"""Which columns of a table mean what, and batches of them as rows of replies."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.ingest.icmp import reply_kind
from pipeline.ingest.reply_rows.addresses import NONE, PARSED, UNSURE, addresses_of
from pipeline.ingest.reply_rows.grouping import ROW
from pipeline.ingest.reply_rows.tables import Table
from pipeline.ingest.text.json_records import read_time
from pipeline.model.addresses import is_v4, parse_addr
from pipeline.model.measured.reading import MAX_SAMPLES, ReadReport
from pipeline.model.measured.traces import KIND_ECHO_REPLY, KIND_UNKNOWN, LABELLED

if TYPE_CHECKING:
    import pyarrow as pa

MAX_RTT_MS = 1e9
_NUMBER = r"^-?\d{1,18}(?:\.\d{1,18})?(?:[eE][+-]?\d{1,2})?$"


@dataclass(frozen=True)
class Dialect:
    """Names of columns; the first of several that a table has counts.

    Attributes
    ----------
    dst, ttl, addr : tuple of str
        These it must have.
    flow : tuple of str
        Columns that together are the flow.
    rtt_per_ms : float
        What a whole number of its times is of a millisecond.
    micros : str
        Column with microseconds beside the seconds of ``time``.
    """

    dst: tuple[str, ...]
    ttl: tuple[str, ...]
    addr: tuple[str, ...]
    src: tuple[str, ...] = ()
    flow: tuple[str, ...] = ()
    rtt: tuple[str, ...] = ()
    rtt_per_ms: float = 1.0
    time: tuple[str, ...] = ()
    micros: str = ""
    icmp_type: str = ""
    icmp_code: str = ""
    kind: str = ""
    labels: str = ""
    reply_ttl: str = ""

    @property
    def columns(self) -> frozenset[str]:
        """All columns that are read."""
        named = (getattr(self, each.name) for each in fields(self))
        return frozenset(
            name for names in named if not isinstance(names, float) for name in _listed(names)
        )


def _listed(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


CARACAL = Dialect(
    dst=("probe_dst_addr",),
    ttl=("probe_ttl", "probe_ttl_l4", "probe_ttl_l3"),
    addr=("reply_src_addr",),
    src=("probe_src_addr",),
    flow=("probe_protocol", "probe_src_port", "probe_dst_port"),
    rtt=("rtt",),
    rtt_per_ms=10.0,
    time=("capture_timestamp",),
    icmp_type="reply_icmp_type",
    icmp_code="reply_icmp_code",
    labels="reply_mpls_labels",
    reply_ttl="reply_ttl",
)
YARRP = Dialect(
    dst=("target",),
    ttl=("ttl",),
    addr=("hop",),
    rtt=("rtt",),
    time=("sec",),
    micros="usec",
    icmp_type="type",
    icmp_code="code",
    labels="mpls",
    reply_ttl="rttl",
)
PLAIN = Dialect(
    dst=("destination", "dst", "target"),
    ttl=("ttl", "hop"),
    addr=("address", "addr", "ip"),
    src=("vantage", "source", "src"),
    flow=("trace",),
    rtt=("rtt", "rtt_ms"),
    time=("time", "timestamp", "start_s"),
    kind="kind",
    labels="mpls",
    reply_ttl="reply_ttl",
)
# As `hopscope convert` writes them, in the order of KIND_*.
KINDS = ("unknown", "time exceeded", "unreachable", "echo reply", "other")


def dialect_of(names: list[str]) -> Dialect | None:
    """The dialect that has these columns."""
    have = set(names)
    if have >= {"target", "sec", "usec", "ttl", "hop"}:
        return YARRP
    for dialect, needed in ((CARACAL, CARACAL.dst), (PLAIN, PLAIN.src)):
        if all(have & set(each) for each in (needed, dialect.dst, dialect.ttl, dialect.addr)):
            return dialect
    return None


def rows_of(
    batch: pa.RecordBatch, dialect: Dialect, table: Table, report: ReadReport
) -> np.ndarray:
    """Rows of replies, (n,) ROW; what is broken is rejected, what is no reply left out."""
    return _Batch(batch, dialect, table, report).rows()


class _Batch:
    """One batch of a table on its way into rows."""

    def __init__(
        self, batch: pa.RecordBatch, dialect: Dialect, table: Table, report: ReadReport
    ) -> None:
        self._batch, self._dialect, self._table, self._report = batch, dialect, table, report
        self._n = batch.num_rows
        self._first = table.n_read
        table.n_read += self._n

    def rows(self) -> np.ndarray:
        dialect = self._dialect
        rows = np.zeros(self._n, ROW)
        ttl = self._numbers(dialect.ttl)
        rows["addr"], replied = addresses_of(self._column(dialect.addr))
        rows["dst"], to = addresses_of(self._column(dialect.dst))
        src = self._column(dialect.src)
        if src is not None:
            rows["src"], _ = addresses_of(src)  # a name says nothing
        elif "SourceIP" in self._table.settings:
            rows["src"] = _words(self._table.settings["SourceIP"])
        rows["kind"] = self._kinds(rows["addr"])
        # The answer to an echo request does not quote it.
        echoed = (rows["kind"] & ~np.uint8(LABELLED) == KIND_ECHO_REPLY) & ~rows["dst"].any(axis=1)
        rows["dst"][echoed] = rows["addr"][echoed]
        rows["rtt_ms"] = self._rtt_ms()
        left = self._numbers((dialect.reply_ttl,))
        rows["reply_ttl"] = np.where((left >= 0) & (left <= 255), left, 0)
        rows["at_s"] = self._times()
        is_ttl = (ttl >= 1) & (ttl <= 255) & (ttl == np.floor(ttl))
        rows["ttl"] = np.where(is_ttl, ttl, 0)
        is_header = self._is_header()
        kept = ~is_header & (replied != NONE)
        self._report_broken(kept & ~is_ttl, "TTL is not a number from 1 to 255", dialect.ttl)
        kept &= is_ttl
        self._report_broken(kept & (replied == UNSURE), "not an address", dialect.addr)
        kept &= replied == PARSED
        self._report_broken(kept & (to == UNSURE), "not an address", dialect.dst)
        kept &= to != UNSURE
        rows["flow"] = self._flows(rows, ~is_header & is_ttl)
        return rows[kept]

    def _column(self, names: tuple[str, ...]) -> Any:
        """The column with the first of the names that there is; None without one."""
        import pyarrow as pa

        for name in names:
            if name in self._batch.schema.names:
                column = self._batch.column(name)
                is_coded = pa.types.is_dictionary(column.type)
                return column.cast(column.type.value_type) if is_coded else column
        return None

    def _is_header(self) -> np.ndarray:
        """Rows that name the columns again, as where files were joined."""
        import pyarrow.compute as pc

        name = next(name for name in self._dialect.ttl if name in self._table.names)
        column = self._column((name,))
        if column.type != "binary":
            return np.zeros(self._n, bool)
        return np.asarray(pc.match_substring_regex(column, f"^\\s*{name}\\s*$", ignore_case=True))

    def _numbers(self, names: tuple[str, ...]) -> np.ndarray:
        """(n,) float64; NaN where there is no number."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self._column(names)
        if column is None:
            return np.full(self._n, np.nan)
        if pa.types.is_binary(column.type) or pa.types.is_string(column.type):
            null = pa.scalar(None, column.type)
            column = pc.if_else(pc.equal(pc.binary_length(column), 0), null, column)
            try:
                column = column.cast(pa.string()).cast(pa.float64())
            except pa.ArrowInvalid:  # some row has no number
                is_number = pc.match_substring_regex(column, _NUMBER)
                column = pc.if_else(is_number, column, null).cast(pa.string())
        elif pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us")).cast(pa.int64())
        elif not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            return np.full(self._n, np.nan)
        return np.asarray(column.cast(pa.float64(), safe=False).fill_null(np.nan), np.float64)

    def _rtt_ms(self) -> np.ndarray:
        import pyarrow as pa

        dialect = self._dialect
        column = self._column(dialect.rtt)
        per_ms = dialect.rtt_per_ms
        if self._table.settings.get("RTT_Granularity") == "us":
            per_ms = 1000.0
        is_old = "probe_ttl_l4" in self._table.names
        if is_old or (column is not None and pa.types.is_floating(column.type)):
            per_ms = 1.0
        rtt_ms = self._numbers(dialect.rtt) / per_ms
        is_bad = (rtt_ms < 0) | (rtt_ms > MAX_RTT_MS)
        if n_bad := int(is_bad.sum()):
            self._report.notes["round-trip times out of range"] += n_bad
        return np.where(is_bad, np.nan, rtt_ms)

    def _times(self) -> np.ndarray:
        """Seconds since 1970, 0 where unknown; numbers may be in ms, us or ns."""
        column = self._column(self._dialect.time)
        if column is None:
            return np.zeros(self._n)
        at_s = self._numbers(self._dialect.time)
        if self._dialect is PLAIN and np.isnan(at_s).any():
            texts = _texts(column)
            at_s = np.array([read_time(text or None) for text in texts])
        for least in (1e17, 1e14, 1e11):
            at_s = np.where(at_s >= least, at_s / (least / 1e8), at_s)
        if self._dialect.micros:
            at_s = at_s + np.nan_to_num(self._numbers((self._dialect.micros,))) / 1e6
        return np.nan_to_num(at_s)

    def _kinds(self, addrs: np.ndarray) -> np.ndarray:
        import pyarrow as pa
        import pyarrow.compute as pc

        kinds = np.full(self._n, KIND_UNKNOWN, np.uint8)
        icmp_type = self._numbers((self._dialect.icmp_type,))
        code = np.nan_to_num(self._numbers((self._dialect.icmp_code,)))
        v4 = is_v4(addrs)
        is_said = (icmp_type >= 0) & (icmp_type < 256) & (code >= 0) & (code < 256)
        said = np.where(is_said, (v4 * 256.0 + icmp_type) * 256 + code, -1).astype(np.int64)
        for value in np.unique(said[is_said]).tolist():
            kinds[said == value] = reply_kind(value >= 1 << 16, value >> 8 & 255, value & 255)
        if (said := self._column((self._dialect.kind,))) is not None:
            texts = pa.array(_texts(said), pa.string())
            kinds = np.asarray(pc.index_in(texts, pa.array(KINDS)).fill_null(KIND_UNKNOWN))
            kinds = kinds.astype(np.uint8)
        labels = self._column((self._dialect.labels,))
        if labels is None:
            return kinds
        if pa.types.is_boolean(labels.type):
            is_labelled = labels
        elif pa.types.is_list(labels.type) or pa.types.is_large_list(labels.type):
            is_labelled = pc.greater(pc.list_value_length(labels), 0)
        else:
            is_labelled = pc.match_substring_regex(labels, r"\(|:|^true$")
        return kinds | np.where(is_labelled.fill_null(False), LABELLED, 0).astype(np.uint8)

    def _flows(self, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """(n,) int64, the flow of each row."""
        if self._dialect is PLAIN and "trace" not in self._table.names:
            return self._runs(rows, counts)
        flow = np.zeros(self._n, np.int64)
        for name in self._dialect.flow:
            if name not in self._table.names:
                continue
            if self._dialect is PLAIN:
                flow = self._names_of_traces()
            else:
                value = np.nan_to_num(self._numbers((name,)), posinf=0, neginf=0)
                flow = (flow << 16) + (value.astype(np.int64) & 0xFFFF)
        return flow

    def _names_of_traces(self) -> np.ndarray:
        column = self._column(("trace",))
        known = self._table.traces
        texts = _texts(column)
        return np.array([known.setdefault(text, len(known)) for text in texts], np.int64)

    def _runs(self, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Rows that stand together: of one source and destination, TTLs not falling."""
        at = np.flatnonzero(counts)
        flow = np.zeros(self._n, np.int64)
        if not len(at):
            return flow
        here = rows[at]
        before = self._table.last_row
        ends = np.concatenate([here[:1] if before is None else before, here[:-1]])
        begins = (
            (here["src"] != ends["src"]).any(axis=1)
            | (here["dst"] != ends["dst"]).any(axis=1)
            | (here["ttl"] < ends["ttl"])
        )
        flow[at] = self._table.n_runs + np.cumsum(begins)
        self._table.n_runs = int(flow[at[-1]])
        self._table.last_row = here[-1:].copy()
        return flow

    def _report_broken(self, broken: np.ndarray, reason: str, names: tuple[str, ...]) -> None:
        at = np.flatnonzero(broken)
        column = self._column(names)
        for row in at[:MAX_SAMPLES].tolist():
            (text,) = _texts(column[row : row + 1])
            self._report.reject(f"row {self._first + row + 1}", reason, text)
        if len(at) > MAX_SAMPLES:
            self._report.reject("", reason, count=len(at) - MAX_SAMPLES)


def _texts(column: pa.Array) -> list[str]:
    """Values as text; nothing for null."""
    import pyarrow as pa

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.large_binary())  # what is not UTF-8 is no error
    return [
        value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
        for value in column.to_pylist()
    ]


def _words(text: str) -> tuple[int, int]:
    try:
        return parse_addr(text.strip())
    except ValueError:
        return 0, 0
