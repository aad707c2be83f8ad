"""How often what tonight's events are about came and went on the nights before."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.compare.changes import NO_ROW, Changes
from pipeline.compare.events import BEGUN_BY, Events
from pipeline.compare.flapping import N_NIGHTS, TAKES_BACK, Turn, count_turns
from pipeline.model.addresses import format_addr
from pipeline.model.topology import NO_ASN
from pipeline.report.compared import compared_in

_WITH_NAMES = ("exchange", "city", "vantage point", "link", "router")
_BY_ONE = ("routers lost", "routers gained")  # whose change names one of several routers
# What has names of its own besides the ASes that it is in, and by which changes it comes or goes.
_NAMED = {
    kind: begun_by
    for kind, begun_by in BEGUN_BY.items()
    if kind in TAKES_BACK and kind not in _BY_ONE and begun_by[0] in _WITH_NAMES
}
_WHATS = {what for what, _ in _NAMED.values()}
_KINDS = {kind for _, kinds in _NAMED.values() for kind in kinds}


def turns_up_to(out: Path, old: str, changes: Changes, events: Events) -> list[int]:
    """``count_turns`` of the events of a night, by the comparisons from its older night back."""
    if not len(events):
        return []
    rows = np.flatnonzero(changes.event != NO_ROW)  # most changes are of none
    rows = rows[np.isin(changes.what[rows], [*_WHATS]) & np.isin(changes.kind[rows], [*_KINDS])]
    columns = (changes.event, changes.what, changes.kind, changes.reason)
    addrs = (
        map(format_addr, high[rows].tolist(), low[rows].tolist())
        for high, low in (
            (changes.addr_high, changes.addr_low),
            (changes.other_high, changes.other_low),
        )
    )
    kinds = events.kind.tolist()
    names = _names(kinds, zip(*(each[rows].tolist() for each in columns), *addrs, strict=True))
    ases = zip(events.asn.tolist(), events.other_asn.tolist(), strict=True)
    tonight = [
        Turn(kind, _known(asn), _known(other), frozenset(names.get(event, ())))
        for event, (kind, (asn, other)) in enumerate(zip(kinds, ases, strict=True))
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


def _names(kinds: list[str], rows: Iterable[tuple]) -> dict[int, set[str]]:
    """Names of what came or went, by event.

    Parameters
    ----------
    kinds : list of str
        Of events.
    rows : iterable of tuples
        Event, what, kind, reason and both addresses of changes. Those that an event explains, and
        does not begin with, name nothing.
    """
    found: dict[int, set[str]] = {}
    for event, what, kind, reason, addr, other in rows:
        begun_by, of_kinds = _NAMED.get(kinds[event], ("", ()))
        if what != begun_by or kind not in of_kinds:
            continue
        if what == "link":
            name = " ".join(sorted((addr, other)))
        else:
            name = reason if what in ("exchange", "city") else addr
        found.setdefault(event, set()).add(name)
    return found


def _turns_of(folder: Path) -> list[Turn] | None:
    """Events of an earlier comparison; None where there is none that can be read."""
    try:
        with pq.ParquetFile(folder / "events.parquet") as file:
            known = [name for name in ("turn", "kind") if name in file.schema_arrow.names]
            table = file.read(["event", "asn", "other_asn", known[0]])
        rows = pq.read_table(
            folder / "changes.parquet",
            columns=["event", "what", "kind", "reason", "addr", "other_addr"],
            filters=pc.field("event").is_valid()
            & pc.field("what").isin([*_WHATS])
            & pc.field("kind").isin([*_KINDS]),
        )
        columns = (table[name].to_pylist() for name in ("event", known[0], "asn", "other_asn"))
        events = list(zip(*columns, strict=True))
        listed = zip(*(rows[name].to_pylist() for name in rows.column_names), strict=True)
        words = ((*row[:4], row[4] or "", row[5] or "") for row in listed)
        names = _names([kind for _, kind, *_ in events], words)
    except (OSError, IndexError, KeyError, ValueError, pa.ArrowException):
        return None
    return [
        Turn(kind, asn, other, frozenset(names.get(event, ())))
        for event, kind, asn, other in events
    ]
