"""Whether measurements still arrive: a collector that died leaves the files of its last night."""

from __future__ import annotations

import contextlib
import datetime
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from pipeline.config import AnalyzeConfig
from pipeline.model.measured.reading import newest_on_calendar
from pipeline.model.words import number, rough_duration
from pipeline.places import url_of
from pipeline.report.folder import report_of
from pipeline.report.names import REPORT
from pipeline.report.published import published
from pipeline.store import Snapshot


def data_warnings(config: AnalyzeConfig, snapshot: Snapshot) -> list[str]:
    """Lines if the newest record of traces is old, and if files of traces are as in other reports.

    Reports of this version of the snapshot do not count: it was analyzed before. Of a report of the
    same paths single files count, too: one of some collectors may have died.

    None unless ``max_data_age`` asks for them: who analyzes an archive knows that it is one.
    """
    inputs = _traces_of(snapshot.manifest)
    if config.max_data_age is None or not inputs:
        return []
    lines = []
    if old := old_data(time_of_newest(snapshot.manifest), config.max_data_age):
        lines.append(old)
    now = time.time()
    others = [
        (ended, n_same)
        for report in _reports(config.out)
        if report.get("snapshot_version") != snapshot.version and (ended := _ended(report)) <= now
        if (n_same := _n_same(snapshot.manifest, report))
    ]
    if others:
        ended, n_same = max(others)
        n, is_all = len(inputs), n_same == len(inputs)
        files = f"the {number(n, 'file')}" if is_all else f"{n_same:,} of {number(n, 'file')}"
        lines.append(
            f"{'no' if is_all else 'not all are'} new measurements: {files} of traces "
            f"{'is' if n_same == 1 else 'are'} the same as for the report that was written "
            f"{rough_duration(now - ended)} ago"
        )
    return lines


def _n_same(facts: Mapping[str, Any], others: Mapping[str, Any]) -> int:
    """How many files of traces have the content of others: all, or some of the same paths."""
    own, known = _digests(facts), _digests(others)
    if sorted(own.values()) == sorted(known.values()):
        return len(own)
    return sum(own[path] == known[path] for path in own) if own.keys() == known.keys() else 0


def old_data(newest_s: float, max_age_h: int) -> str:
    """What to say if a record is older than some hours; empty: it is not, or has no time."""
    age_s = time.time() - newest_s
    if not newest_s or age_s <= 3600 * max_age_h:
        return ""
    at = datetime.datetime.fromtimestamp(newest_s, datetime.UTC)
    return (
        f"the newest trace is {rough_duration(age_s)} old ({at:%Y-%m-%d %H:%M} UTC), more than "
        f"{number(max_age_h, 'hour')}: do measurements still arrive?"
    )


def time_of_newest(facts: Mapping[str, Any]) -> float:
    """Time of the newest record of a manifest or a report, s since 1970 UTC; 0: unknown."""
    return newest_on_calendar(_traces_of(facts))


def newest_of_reports(out: Path) -> float:
    """Time of the newest record in any report, as ``time_of_newest``; at a URL, as published.

    Raises
    ------
    StoreError
        If the reports are at a URL that cannot be read.
    """
    return max(map(time_of_newest, _reports(out)), default=0.0)


def _reports(out: Path) -> Iterator[Mapping[str, Any]]:
    if url_of(out) is not None:
        for text in published(out, REPORT) or ():
            with contextlib.suppress(ValueError):
                if isinstance(report := orjson.loads(text), dict):
                    yield report
        return
    for folder in sorted(out.iterdir()) if out.is_dir() else ():
        if (report := report_of(folder)) is not None:
            yield report


def _traces_of(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    inputs = facts.get("inputs")
    rows: Iterable[Any] = inputs if isinstance(inputs, list) else ()
    return [row for row in rows if isinstance(row, dict) and row.get("holds") == "traces"]


def _digests(facts: Mapping[str, Any]) -> dict[str, str]:
    """Of files of traces, by path."""
    return {str(row.get("path")): str(row.get("sha256")) for row in _traces_of(facts)}


def _ended(report: Mapping[str, Any]) -> float:
    with contextlib.suppress(KeyError, TypeError, ValueError):
        return float(report["times"]["ended"])
    return 0.0
