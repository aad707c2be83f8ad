"""Kept traces for other programs: scamper's JSON and warts, and CSV, one row per hop."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from pipeline.config.contents import TraceFormat
from pipeline.errors import UsageError
from pipeline.files import written_whole
from pipeline.model.addresses import parse_addr
from pipeline.model.measured.traces import CLASSIC_TRACE, LABELLED, PART_FURTHER, TraceBatch
from pipeline.stages.contents.traces import REPLIES
from pipeline.stages.places import check_file
from pipeline.writers import is_warts

_ROWS_AT_ONCE = 10_000
# Kinds by position: KIND_UNKNOWN has no text.
_REPLIES = pa.array([None, *REPLIES.values()], pa.string())
_SUFFIXES = {"scamper": ".jsonl", "warts": ".warts", "csv": ".csv"}
# Type and code of ICMP by IP version, as scamper prints them; none for other answers.
_ICMP = {
    "time exceeded": {4: (11, 0), 6: (3, 0)},
    "unreachable": {4: (3, 3), 6: (1, 4)},
    "echo reply": {4: (0, 0), 6: (129, 0)},
}


def format_of(out: Path) -> TraceFormat:
    """The format that the name of a file ends with; scamper's JSON where it says nothing else."""
    if is_warts(out):
        return "warts"
    return "csv" if out.suffix == ".csv" else "scamper"


def write_traces(table: pa.Table, format: TraceFormat, out: Path | None) -> None:
    """Write a table of ``find_traces`` to a file, or to standard output.

    Parameters
    ----------
    table : pyarrow.Table
    format : str
        ``scamper``, ``warts`` or ``csv``.

    Raises
    ------
    UsageError
        If the file cannot be written; what was there before is then unchanged. Or warts, which is
        no text, has no file to go to.
    """
    if out is not None:
        check_file(out, f"traces{_SUFFIXES[format]}")
    if format == "warts":
        if out is None:
            raise UsageError("--format warts is not text: give --out FILE")
        from pipeline.writers import warts  # compiled code, which other formats do not need

        parts = (table.slice(at, _ROWS_AT_ONCE) for at in range(0, table.num_rows, _ROWS_AT_ONCE))
        warts.write_file(map(batch_of, parts), out)
        return
    with contextlib.ExitStack() as stack:
        file: BinaryIO = sys.stdout.buffer
        if out is not None:
            file = stack.enter_context(written_whole(out))
        if format == "csv":
            _write_csv(table, file)
            return
        for record in scamper_records(table):
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def batch_of(table: pa.Table) -> TraceBatch:
    """Rows of ``find_traces`` as columns."""
    table = table.combine_chunks()
    hops = {name: _flat(table[name]) for name in ("ttl", "addr", "rtt_ms", "labelled", "reply")}
    n_hops = table["ttl"].combine_chunks().value_lengths().to_numpy()
    kind = pc.fill_null(pc.index_in(hops["reply"], _REPLIES), 0).to_numpy()
    labelled = hops["labelled"].to_numpy(zero_copy_only=False)
    further, classic = (table[name].to_numpy() for name in ("further", "classic"))
    return TraceBatch(
        src_addr=_addrs(table["vantage"].combine_chunks()),
        dst_addr=_addrs(table["target"].combine_chunks()),
        start_s=pc.fill_null(table["started"].cast(pa.int64()), 0).to_numpy().astype(np.float64),
        reply_ptr=np.concatenate([[0], np.cumsum(n_hops)]),
        ttl=hops["ttl"].to_numpy(),
        addr=_addrs(hops["addr"]),
        rtt_ms=hops["rtt_ms"].to_numpy(zero_copy_only=False),
        kind=(kind + LABELLED * labelled).astype(np.uint8),
        part=(PART_FURTHER * further + CLASSIC_TRACE * classic).astype(np.uint8),
    )


def _flat(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks().flatten()


def _addrs(texts: pa.Array) -> np.ndarray:
    """An address column of texts; zeros where there is none."""
    encoded = texts.dictionary_encode()
    words = [parse_addr(text) for text in encoded.dictionary.to_pylist()]
    rows = np.array([*words, (0, 0)], np.uint64)
    return rows[pc.fill_null(encoded.indices, len(words)).to_numpy()]


def scamper_records(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Each trace as sc_warts2json prints one: what a snapshot does not keep is left out.

    ``method`` is not known; ICMP codes are the usual ones of the kind of reply; label stacks are
    empty, since only whether there was one is kept.
    """
    for start in range(0, table.num_rows, _ROWS_AT_ONCE):
        for row in table.slice(start, _ROWS_AT_ONCE).to_pylist():
            yield _record(row)


def _record(row: dict[str, Any]) -> dict[str, Any]:
    columns = ("ttl", "addr", "rtt_ms", "labelled", "reply")
    hops = [_hop(*hop) for hop in zip(*(row[name] for name in columns), strict=True)]
    record: dict[str, Any] = {"type": "trace", "version": "0.1"}
    if row["vantage"] is not None:
        record["src"] = row["vantage"]
    record |= {
        "dst": row["target"],
        "stop_reason": "COMPLETED" if row["reached"] else "GAPLIMIT",
    }
    if row["started"] is not None:
        record["start"] = {"sec": int(row["started"].timestamp()), "usec": 0}
    return record | {
        "hop_count": max(row["ttl"], default=0),
        "firsthop": 1,
        "hops": hops,
    }


def _hop(
    ttl: int, addr: str, rtt_ms: float | None, labelled: bool, reply: str | None
) -> dict[str, Any]:
    hop: dict[str, Any] = {"addr": addr, "probe_ttl": ttl}
    if rtt_ms is not None:
        hop["rtt"] = round(rtt_ms, 3)
    if icmp := _ICMP.get(reply or ""):
        hop["icmp_type"], hop["icmp_code"] = icmp[6 if ":" in addr else 4]
    if labelled:
        hop["icmpext"] = [
            {"ie_cn": 1, "ie_ct": 1, "ie_dl": 4, "mpls_labels": [{"mpls_ttl": 1, "mpls_s": 1}]}
        ]
    return hop


def _write_csv(table: pa.Table, file: BinaryIO) -> None:
    """One row per hop that answered; ``trace`` counts from 0."""
    lengths = table["ttl"].combine_chunks().value_lengths()
    trace = np.repeat(np.arange(table.num_rows), lengths.to_numpy())
    flat = {"trace": pa.array(trace)}
    for name in ("vantage", "target", "started", "input", "reached", "further", "classic"):
        flat[name] = table[name].take(pa.array(trace))
    for name in ("ttl", "addr", "asn", "rtt_ms", "labelled", "reply"):
        column = table[name].combine_chunks()
        flat[name] = column.flatten() if not isinstance(column, pa.ChunkedArray) else column
    pacsv.write_csv(pa.table(flat), file)
