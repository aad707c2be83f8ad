"""Kept traces as a person reads them: a table of hops for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pipeline.model.words import number, traces_kept_text
from pipeline.terminal.lines import print_line

if TYPE_CHECKING:
    import pyarrow as pa

N_SHOWN = 10  # traces that are printed; --json and --format have all


def print_traces(facts: Mapping[str, Any], found: pa.Table) -> None:
    """The first traces hop by hop, and how many there are.

    Parameters
    ----------
    facts : mapping
        Of ``pipeline.stages.contents.traces``.
    found : pyarrow.Table
    """
    print_line(
        f"{number(found.num_rows, 'kept trace')} of snapshot {facts['snapshot']}: "
        f"{facts['wanted']} ({traces_kept_text(facts['n_traces_kept'], facts['n_traces'] or 0)})"
    )
    for row in found.slice(0, N_SHOWN).to_pylist():
        print_line("")
        _print_trace(row)
    if found.num_rows > N_SHOWN:
        print_line("")
        print_line(f"{found.num_rows - N_SHOWN:,} more: --json, --format or --out gives all")


def _print_trace(row: Mapping[str, Any]) -> None:
    started = row["started"]
    when = f", {started:%Y-%m-%d %H:%M:%S} UTC" if started else ""
    ended = "reached" if row["reached"] else "not reached"
    further = ", a further path" if row["further"] else ""
    vantage = row["vantage"] or "an unknown vantage point"
    print_line(f"{vantage} -> {row['target']}: {ended}{when}{further}")
    width = max(map(len, row["addr"]), default=0)
    before = 0 if not row["further"] else row["ttl"][0] - 1 if row["ttl"] else 0
    hops = zip(*(row[n] for n in ("ttl", "addr", "asn", "rtt_ms", "labelled")), strict=True)
    for ttl, addr, asn, rtt_ms, labelled in hops:
        for silent in range(before + 1, ttl):
            print_line(f"{silent:>4}  *")
        before = ttl
        is_host = asn is None and addr == row["target"]
        where = f"AS{asn}" if asn is not None else "target" if is_host else "no AS"
        rtt = "-" if rtt_ms is None else f"{rtt_ms:,.2f} ms"
        marks = "  MPLS" if labelled else ""
        print_line(f"{ttl:>4}  {addr:<{width}}  {where:<12}  {rtt:>12}{marks}")
