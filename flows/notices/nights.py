"""What notices read of reports: events of a night and of those before it, and ASes by name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.config import NotifyConfig
from pipeline.report.folder import newest_s_of, report_of
from pipeline.report.names import ASES
from pipeline.store.pointers.nights import age_of, is_night

_NAMES = ("name", "organisation")  # columns of ases.parquet in which an organisation may be named


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


def wanted_asns(config: NotifyConfig, *folders: Path) -> frozenset[int] | None:
    """ASes of which a config wants to know, by the names in some reports; None: of all."""
    if not config.notify_asn and not config.notify_org:
        return None
    found = set(config.notify_asn)
    texts = [text.casefold() for text in config.notify_org]
    for folder in folders if texts else ():
        with contextlib.suppress(OSError, pa.ArrowException), pq.ParquetFile(folder / ASES) as file:
            columns = [name for name in _NAMES if name in file.schema_arrow.names]
            for row in file.read(["asn", *columns]).to_pylist():
                said = " ".join(str(row[name] or "") for name in columns).casefold()
                if any(text in said for text in texts):
                    found.add(row["asn"])
    return frozenset(found)


def as_page_of(folder: Path, link: str) -> Callable[[int], str]:
    """For the link of a report: AS number -> the link of its page there, empty if it has none."""

    def page(asn: int) -> str:
        name = f"as/{asn}.html"
        return link.removesuffix("index.html") + name if (folder / name).is_file() else ""

    return page
