"""What a notice says: pure, from the outcome of a night."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flows.notices.chosen import choose
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
        As in events.parquet, most traces first.
    n_events : int
    report, changes : str
        Links; empty for none.
    earlier : sequence of sequences of mappings
        Events of the nights before it, the oldest night first.
    asns : frozenset of int or None
        ASes of which notices tell; None: of all.
    old_data : str
        What is wrong with the age of its newest trace; empty: nothing.
    as_page : callable
        AS number -> link of its page, empty for none.
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
    earlier: Sequence[Sequence[Mapping[str, Any]]] = ()
    asns: frozenset[int] | None = None
    old_data: str = ""
    as_page: Callable[[int], str] = lambda asn: ""


@dataclass(frozen=True)
class Notice:
    """A subject and a text in which no markup begins, and the same as JSON."""

    subject: str
    body: str
    facts: dict[str, Any]


def make_notice(outcome: NightOutcome, config: NotifyConfig) -> Notice | None:
    """What to report of a night; None: it is complete, recent, and nothing new happened."""
    chosen = choose(outcome.events, outcome.earlier, config, outcome.asns)
    if outcome.status == "complete" and not chosen.events and not outcome.old_data:
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
        "n_known_events": chosen.n_known,
        "events": [dict(event) for event in chosen.events],
        "old_data": outcome.old_data,
        "warnings": list(outcome.warnings[:MAX_WARNINGS]),
        "n_warnings": len(outcome.warnings),
        "report": outcome.report,
        "changes": outcome.changes,
    }
    sentences = _sentences(outcome, chosen.events)
    body = "\n".join([" ".join(sentences), *_links(outcome, chosen.events)])
    return Notice(_subject(outcome, len(chosen.events)), body, facts)


def _subject(outcome: NightOutcome, n_events: int) -> str:
    what = []
    if outcome.status == "failed":
        what.append("failed")
    if n_events:
        what.append(f"{number(n_events, 'event')} since {inert(outcome.old)}")
    if outcome.old_data:
        what.append("old data")
    if outcome.status == "partial":
        what.append("something was left out")
    night = f"night {inert(outcome.snapshot)}" if outcome.snapshot else inert(outcome.run)
    return f"hopscope, {night}: {'; '.join(what)}"


def _sentences(outcome: NightOutcome, events: Sequence[Mapping[str, Any]]) -> list[str]:
    """At most three: the largest event, the others, and what is wrong with the night itself."""
    said = [_said(event) for event in events]
    found = [_ended(said[0])] if said else []
    others = said[1:]
    if outcome.n_events > len(said) and said:
        others.append(f"{number(outcome.n_events - len(said), 'other event')} on the page")
    if others:
        found.append(_ended(f"Also: {'; '.join(others)}"))
    wrong = [inert(outcome.message)] if outcome.status != "complete" else []
    wrong += [inert(outcome.old_data)] if outcome.old_data else []
    if outcome.status != "complete" and outcome.warnings:
        more = len(outcome.warnings) - 1
        wrong.append(inert(outcome.warnings[0]) + (f" (and {more} more)" if more else ""))
    if wrong:
        found.append(_ended("; ".join(wrong)))
    return found


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def _said(event: Mapping[str, Any]) -> str:
    return f"{inert(event['text'])} ({number(event['n_traces'], 'trace')})"


def _links(outcome: NightOutcome, events: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [f"Changes: {outcome.changes}"] if outcome.changes else []
    lines += [f"Report: {outcome.report}"] if outcome.report else []
    asns = dict.fromkeys(
        asn for event in events for asn in (event.get("asn"), event.get("other_asn")) if asn
    )
    pages = ((asn, outcome.as_page(asn)) for asn in asns)
    return lines + [f"AS{asn}: {page}" for asn, page in pages if page]
