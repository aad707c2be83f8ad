"""Options of the servers of pages on this machine: ``explore`` and ``serve``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.config.shared import out_option, store_option
from pipeline.options import option


def _port_option(help: str, variable: str, **other: Any) -> Any:
    """A port on 127.0.0.1; 0 is any free one."""
    given: dict[str, Any] = {"metavar": "PORT", "minimum": 0, "maximum": 65535}
    return option(help=help, variable=variable, **given | other)


@dataclass(frozen=True)
class ExploreConfig:
    """Where the explorer is served, and what it can choose graphs from."""

    store: Path | None = store_option(
        default=None, help="Folder of snapshots to choose ASes from.", is_parameter=False
    )
    port: int = _port_option(
        default=0,
        help="Port on 127.0.0.1 [any free one].",
        variable="HOPSCOPE_EXPLORE_PORT",
        show_default=False,
    )
    open: bool = option(
        default=True, help="Open the page in a browser.", variable=None, show_default=False
    )


@dataclass(frozen=True)
class ServeConfig:
    """Where reports and Prefect are served, and what the nightly run is given."""

    store: Path = store_option(default=Path("store"), is_parameter=False)
    out: Path = out_option(default=Path("out"), help="Folder or URL of reports.")
    port: int = _port_option(
        default=8080, help="Port of the reports.", variable="HOPSCOPE_SERVE_PORT"
    )
    prefect_port: int = _port_option(
        default=4200, help="Port of Prefect.", variable="HOPSCOPE_SERVE_PREFECT_PORT"
    )
    cron: str | None = option(
        default=None,
        help="When nightly runs start [unchanged, 15 2 * * * at first].",
        variable="HOPSCOPE_SERVE_CRON",
        metavar="CRON",
    )
    timezone: str | None = option(
        default=None,
        help="Time zone of --cron [unchanged, UTC at first].",
        variable="HOPSCOPE_SERVE_TIMEZONE",
        metavar="ZONE",
    )
    watch: tuple[str, ...] = option(
        default=(),
        help="Folder or URL in which new data start a nightly run, too.",
        variable="HOPSCOPE_SERVE_WATCH",
        metavar="DIR",
    )
    watch_settle: int = option(
        default=300,
        help="Seconds without a change in --watch before a run starts.",
        variable="HOPSCOPE_SERVE_WATCH_SETTLE",
        metavar="S",
        unit="s",
        minimum=1,
    )
    with_parent: bool = option(
        default=False, help="Stop when the parent process ends.", variable=None
    )
