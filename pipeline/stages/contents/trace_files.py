"""Kept traces for other programs: scamper's JSON, one record per line, and CSV, one row per hop."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.csv as pacsv

from pipeline.files import written_whole
from pipeline.stages.places import check_file

_ROWS_AT_ONCE = 10_000
# Type and code of ICMP by IP version, as scamper prints them; none for other answers.
_ICMP = {
    "time exceeded": {4: (11, 0), 6: (3, 0)},
    "unreachable": {4: (3, 3), 6: (1, 4)},
    "echo reply": {4: (0, 0), 6: (129, 0)},
}


def write_traces(table: pa.Table, format: str, out: Path | None) -> None:
    """Write a table of ``find_traces`` to a file, or to standard output.

    Parameters
    ----------
    table : pyarrow.Table
    format : str
        ``scamper`` or ``csv``.

    Raises
    ------
    UsageError
        If the file cannot be written; what was there before is then unchanged.
    """
    if out is not None:
        check_file(out, f"traces{'.csv' if format == 'csv' else '.jsonl'}")
    with contextlib.ExitStack() as stack:
        file: BinaryIO = sys.stdout.buffer
        if out is not None:
            file = stack.enter_context(written_whole(out))
        if format == "csv":
            _write_csv(table, file)
            return
        for record in scamper_records(table):
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


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
