"""What a notice says: pure, from the outcome of a night."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flows.pages.inert import inert
from pipeline.config import NotifyConfig
from pipeline.model.choices import RunStatus
from pipeline.model.words import MAX_WARNINGS, number

SCHEMA, SCHEMA_VERSION = "hopscope-notice", 1


@dataclass(frozen=True)
class NightOutcome:
    """What became of a night.

    Attributes
    ----------
    status : str
    run : str
        Name of the flow run.
    message : str
        Of the state that it ended with.
    warnings : sequence of str
    snapshot, old : str
        The night, and the one that it was compared with; empty for none.
    events : sequence of mappings
        The first ones, as in events.parquet.
    n_events : int
    report, changes : str
        Links; empty for none.
    """

    status: RunStatus
    run: str
    message: str
    warnings: Sequence[str] = ()
    snapshot: str = ""
    old: str = ""
    events: Sequence[Mapping[str, Any]] = ()
    n_events: int = 0
    report: str = ""
    changes: str = ""


@dataclass(frozen=True)
class Notice:
    """A subject and a text in which no markup begins, and the same as JSON."""

    subject: str
    body: str
    facts: dict[str, Any]


def make_notice(outcome: NightOutcome, config: NotifyConfig) -> Notice | None:
    """What to report of a night; None: it is complete, and nothing happened."""
    events = [
        event
        for event in outcome.events[: config.notify_first]
        if event["n_traces"] >= config.notify_traces
    ]
    if outcome.status == "complete" and not events:
        return None
    facts = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "status": outcome.status,
        "run": outcome.run,
        "message": outcome.message,
        "snapshot": outcome.snapshot,
        "old": outcome.old,
        "n_events": outcome.n_events,
        "events": [dict(event) for event in events],
        "warnings": list(outcome.warnings[:MAX_WARNINGS]),
        "n_warnings": len(outcome.warnings),
        "report": outcome.report,
        "changes": outcome.changes,
    }
    return Notice(_subject(outcome, len(events)), "\n".join(_lines(outcome, events)), facts)


def _subject(outcome: NightOutcome, n_events: int) -> str:
    what = []
    if outcome.status == "failed":
        what.append("failed")
    if n_events:
        what.append(f"{number(n_events, 'event')} since {inert(outcome.old)}")
    if outcome.status == "partial":
        what.append("something was left out")
    night = inert(outcome.snapshot or outcome.run)
    return f"hopscope, night {night}: {'; '.join(what)}"


def _lines(outcome: NightOutcome, events: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [inert(outcome.message)] if outcome.status != "complete" else []
    lines += [
        f"{event['event'] + 1}. {inert(event['text'])} ({number(event['n_traces'], 'trace')})"
        for event in events
    ]
    if events and outcome.n_events > len(events):
        lines.append(f"{number(outcome.n_events, 'event')} in all")
    if outcome.status != "complete":
        lines += [f"Left out: {inert(line)}" for line in outcome.warnings[:MAX_WARNINGS]]
        if len(outcome.warnings) > MAX_WARNINGS:
            lines.append(f"and {number(len(outcome.warnings) - MAX_WARNINGS, 'more warning')}")
    lines += [f"Changes: {outcome.changes}"] if outcome.changes else []
    lines += [f"Report: {outcome.report}"] if outcome.report else []
    return lines
