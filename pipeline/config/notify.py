"""Options of nightly runs: who gets notices of what happened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.config.values import BLOCK_PATTERN, block_names
from pipeline.model.choices import FIRST_EVENTS
from pipeline.options import option


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
