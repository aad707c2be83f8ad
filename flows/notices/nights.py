"""What notices read of reports: events of a night and of those before it, and ASes by name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.config import NotifyConfig
from pipeline.ingest.tables import ORGANISATIONS
from pipeline.model.tables.organisations import UNKNOWN
from pipeline.report.folder import newest_s_of, report_of
from pipeline.report.names import ASES
from pipeline.store.pointers.nights import age_of, is_night


def events_of(folder: Path) -> list[dict[str, Any]]:
    """Rows of the events of a comparison, most traces first; none where they cannot be read."""
    with contextlib.suppress(OSError, pa.ArrowException):
        return pq.read_table(folder / "events.parquet").to_pylist()
    return []


def events_before(out: Path, night: str, n_nights: int) -> list[list[dict[str, Any]]]:
    """Events of the last nights before one, the oldest first; none for other names."""
    if not is_night(night) or not n_nights or not out.is_dir():
        return []
    ages = {
        path.name: age_of(path.name, newest_s_of(report_of(path) or {}))
        for path in out.iterdir()
        if is_night(path.name)
    }
    until = ages.get(night, age_of(night))
    before = sorted((name for name in ages if ages[name] < until), key=ages.__getitem__)
    return [events_of(out / name) for name in before[-n_nights:]]


def wanted_asns(
    config: NotifyConfig, *folders: Path, as2org: Path | None = None
) -> frozenset[int] | None:
    """ASes of which a config wants to know, by the names in some reports; None: of all.

    ``as2org``: other ASes of the same organisations are wanted, too.
    """
    if not config.notify_asn and not config.notify_org:
        return None
    named: set[int] = set()
    texts = [text.casefold() for text in config.notify_org]
    for folder in folders if texts else ():
        with contextlib.suppress(OSError, pa.ArrowException), pq.ParquetFile(folder / ASES) as file:
            table = file.read(["asn", "name"])
            for asn, name in zip(*(column.to_pylist() for column in table.columns), strict=True):
                if any(text in (name or "").casefold() for text in texts):
                    named.add(asn)
    return frozenset(config.notify_asn) | named | _siblings(named, as2org)


def _siblings(asns: set[int], as2org: Path | None) -> set[int]:
    """ASes of the organisations of some; none without a file that says it."""
    if as2org is None or not asns:
        return set()
    known, _ = ORGANISATIONS.read_files([as2org])
    theirs = np.unique(known.of(np.array(sorted(asns), np.int64)))
    return set(known.asn[np.isin(known.organisation, theirs[theirs != UNKNOWN])].tolist())


def as_page_of(folder: Path, link: str) -> Callable[[int], str]:
    """For the link of a report: AS number -> the link of its page there, empty if it has none."""

    def page(asn: int) -> str:
        name = f"as/{asn}.html"
        return link.removesuffix("index.html") + name if (folder / name).is_file() else ""

    return page
