"""Options of nightly runs: who gets notices of what happened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.config.values import BLOCK_PATTERN, as_numbers, block_names, hours, time_zone
from pipeline.model.choices import FIRST_EVENTS
from pipeline.options import option


def event_kinds() -> tuple[str, ...]:
    """What an event of two nights can be."""
    from pipeline.compare.events import EVENT_KINDS  # imports that only these options need

    return EVENT_KINDS


@dataclass(frozen=True)
class NotifyConfig:
    """Notices of a night with events, or one that failed or left something out."""

    notify: tuple[str, ...] = option(
        default=(),
        help="Notification block of Prefect for events and failures.",
        metavar="TYPE/NAME",
        parser=block_names,
        pattern=f"^{BLOCK_PATTERN}$",
    )
    notify_command: Path | None = option(
        default=None,
        help="Program to run with each notice, a JSON file.",
        metavar="FILE",
    )
    notify_first: int = option(
        default=3,
        help="Maximum number of events to report, highest rank first.",
        metavar="N",
        unit="events",
        minimum=0,
        maximum=FIRST_EVENTS,
    )
    notify_traces: int = option(
        default=1,
        help="Minimum number of traces affected by a reported event.",
        metavar="N",
        unit="traces",
        minimum=0,
    )
    notify_asn: tuple[int, ...] = option(
        default=(),
        help="Report only events of these ASes [all].",
        metavar="N,N",
        parser=as_numbers,
        commas=True,
        show_default=False,
    )
    notify_org: tuple[str, ...] = option(
        default=(),
        help="Report only events of ASes with such a name, and of their organisations (--as2org).",
        metavar="TEXT,TEXT",
        commas=True,
        show_default=False,
    )
    notify_kind: tuple[str, ...] = option(
        default=(),
        help="Report only these kinds of events [all], such as 'AS lost,links removed'.",
        metavar="KIND,KIND",
        choices=event_kinds,
        commas=True,
        show_default=False,
    )
    notify_again: int = option(
        default=7,
        help="Nights without another notice of one kind at the same ASes, unless twice as large.",
        metavar="N",
        unit="nights",
        minimum=0,
    )
    notify_quiet: str | None = option(
        default=None,
        help="Hours in which notices wait, such as 22:00-07:00 (deployed runs only).",
        metavar="FROM-TO",
        parser=hours,
    )
    notify_timezone: str = option(
        default="UTC",
        help="Time zone of --notify-quiet.",
        metavar="ZONE",
        parser=time_zone,
    )
    notify_wake: int | None = option(
        default=None,
        help="Minimum number of traces of an event that does not wait for the end of quiet hours.",
        metavar="N",
        unit="traces",
        minimum=1,
    )


@dataclass(frozen=True)
class NotifyActions:
    """What ``hopscope notify`` does."""

    test: bool = option(
        default=False, help="Send a test message now.", variable=None, show_default=False
    )
    automations: bool = option(
        default=False,
        help="Let Prefect's server report runs that crash or are missing, and old data.",
        variable=None,
        show_default=False,
    )
