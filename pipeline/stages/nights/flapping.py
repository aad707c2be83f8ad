"""How often what tonight's events are about came and went on the nights before."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.compare.changes import Changes
from pipeline.compare.events import Events
from pipeline.compare.flapping import N_NIGHTS, Turn, count_turns
from pipeline.model.addresses import format_addr
from pipeline.model.topology import NO_ASN
from pipeline.report.compared import compared_in


def turns_up_to(out: Path, old: str, changes: Changes, events: Events) -> list[int]:
    """``count_turns`` of the events of a night, by the comparisons from its older night back."""
    if not len(events):
        return []
    first = events.first
    addrs = map(format_addr, changes.addr_high[first].tolist(), changes.addr_low[first].tolist())
    columns = (events.kind, changes.reason[first], events.asn, events.other_asn)
    rows = zip(*(each.tolist() for each in columns), addrs, strict=True)
    tonight = [
        Turn(kind, _known(asn), _known(other), _name_of(kind, reason, addr))
        for kind, reason, asn, other, addr in rows
    ]
    earlier: list[list[Turn]] = []
    night, passed = old, {""}
    while night not in passed and len(earlier) < N_NIGHTS - 1:
        passed.add(night)
        turns = _turns_of(out / night)
        if turns is None:
            break
        earlier.append(turns)
        night = compared_in(out / night).old
    return count_turns(tonight, earlier)


def _known(asn: int) -> int | None:
    return None if asn == NO_ASN else asn


def _name_of(kind: str, reason: str, addr: str) -> str:
    """The exchange point, city or vantage point that an event is about."""
    if kind.startswith("vantage point"):
        return addr
    return reason if kind.startswith(("exchange ", "city ")) else ""


def _turns_of(folder: Path) -> list[Turn] | None:
    """Events of an earlier comparison; None where there is none that can be read."""
    try:
        with pq.ParquetFile(folder / "events.parquet") as file:
            known = [name for name in ("turn", "kind") if name in file.schema_arrow.names]
            table = file.read(["event", "asn", "other_asn", known[0]])
        rows = pq.read_table(
            folder / "changes.parquet",
            columns=["event", "reason", "addr", "n_traces"],
            filters=[("what", "in", ["exchange", "city", "vantage point"])],
        )
    except (OSError, IndexError, KeyError, ValueError, pa.ArrowException):
        return None
    largest = sorted(rows.to_pylist(), key=lambda row: -row["n_traces"])
    named = {row["event"]: (row["reason"], row["addr"]) for row in reversed(largest)}
    columns = (table[name].to_pylist() for name in ("event", known[0], "asn", "other_asn"))
    return [
        Turn(kind, asn, other, _name_of(kind, *named.get(event, ("", ""))))
        for event, kind, asn, other in zip(*columns, strict=True)
    ]
