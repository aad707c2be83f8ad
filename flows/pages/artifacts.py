"""The name of a flow run, and artifacts on its page: ASes, report, events, dashboard, warnings.

Third-party text (file names, AS names, reasons) is shown as text, never as markup:
``flows.pages.inert``.
"""

from __future__ import annotations

import logging
import os
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from prefect.artifacts import (
    create_link_artifact,
    create_markdown_artifact,
    create_table_artifact,
)
from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext

from flows.pages.inert import inert
from flows.pages.server import REPORTS_FOLDER, REPORTS_URL
from pipeline.model.words import amount, number
from pipeline.places import url_of

MAX_WARNINGS = 100  # lines; report.json has all of them

_HOPS = ("mean", "max")  # columns of hops from an ingress, where the table has them

logger = logging.getLogger(__name__)


def show_ases(columns: Sequence[str], rows: Sequence[Sequence[object]], n_ases: int) -> None:
    """Table of the largest ASes, with the texts that the terminal shows."""
    table = [{name: _cell(value) for name, value in zip(columns, row, strict=True)} for row in rows]
    hops = [name for name in columns if name in _HOPS]
    shown = f"; {' and '.join(hops)}: hops from an ingress" if hops else ""
    description = f"The {len(rows)} largest of {number(n_ases, 'AS')}{shown}."
    _try(lambda: create_table_artifact(table, key="ases", description=description))


def report_link(index: Path, out: Path) -> str:
    """URL of a page of reports: where they are published or served, else of the file."""
    if there := url_of(index):
        return there
    url, folder = os.environ.get(REPORTS_URL), os.environ.get(REPORTS_FOLDER)
    page, out = index.resolve(), out.resolve()
    if url and folder and Path(folder).resolve() == out and page.is_relative_to(out):
        return f"{url.rstrip('/')}/{urllib.parse.quote(page.relative_to(out).as_posix())}"
    return page.as_uri()


def show_name(night: str) -> None:
    """Call the run after its night."""
    context = FlowRunContext.get()
    run = context.flow_run if context else None
    if run is None or run.name == night:
        return
    run.name = night

    def rename() -> None:
        with get_client(sync_client=True) as client:
            client.update_flow_run(run.id, name=night)

    _try(rename)


def show_report(link: str, snapshot: str) -> None:
    """Link to the report."""
    text = f"Report of {inert(snapshot)}"
    _try(lambda: create_link_artifact(link, link_text=text, key="report", description=text))


def show_events(
    events: Sequence[Mapping[str, object]], n_events: int, old: str, new: str, link: str
) -> None:
    """Table of the events worth reading first, and a link to the page with all of them."""
    rows = [
        {
            "rank": rank,
            "event": _cell(event["text"]),
            "traces": event["n_traces"],
            "changes": event["n_changes"],
        }
        for rank, event in enumerate(events, start=1)
    ]
    since = f"from {inert(old)} to {inert(new)}"
    first = f"the first {len(rows)} of " if len(rows) < n_events else ""
    text = f"Events {since}: {first}{n_events:,}, most traversed first."
    _try(lambda: create_table_artifact(rows, key="events", description=text))
    shown = f"Changes {since}"
    _try(lambda: create_link_artifact(link, link_text=shown, key="changes", description=shown))


def show_nights(nights: Mapping[str, str]) -> None:
    """Table of the nights of a backfill, and what became of each."""
    rows = [{"night": night, "became": inert(what)} for night, what in nights.items()]
    _try(lambda: create_table_artifact(rows, key="nights", description="Nights, oldest first."))


def show_dashboard(link: str) -> None:
    """Link to the Dask dashboard of the run."""
    words = f"[{link}]({link}) while the searches run; its rows name the AS."
    text = f"# Dask dashboard\n\n{words}\n"
    _try(lambda: create_markdown_artifact(text, key="dask-dashboard", description="Dask dashboard"))


def show_warnings(warnings: Sequence[str], *, complete: bool) -> None:
    """What was left out (rejected files, failed ASes), or notes if nothing was."""
    if not warnings:
        return
    lines = [inert(line) for line in warnings[:MAX_WARNINGS]]
    if len(warnings) > MAX_WARNINGS:
        lines.append(f"and {len(warnings) - MAX_WARNINGS} more: see report.json")
    key, title = ("notes", "Notes") if complete else ("warnings", "Something was left out")
    fenced = "\n".join(lines)
    text = f"# {title}\n\n```\n{fenced}\n```\n"
    _try(lambda: create_markdown_artifact(text, key=key, description=title))


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, float):
        return amount(value, 2)  # a number would lose its zeros: 2.00
    return inert(value) if isinstance(value, str) else value


def _try(create: Callable[[], object]) -> None:
    """Write an artifact; a failure is only logged, since artifacts are for display only."""
    try:
        create()
    except Exception as error:
        logger.warning("an artifact could not be written: %s", error)
