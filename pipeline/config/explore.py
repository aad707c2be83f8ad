"""Options of ``explore``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.config.shared import store_option
from pipeline.options import option


@dataclass(frozen=True)
class ExploreConfig:
    """Where the explorer is served, and what it can choose graphs from."""

    store: Path | None = store_option(
        default=None, help="Folder of snapshots to choose ASes from.", is_parameter=False
    )
    port: int = option(
        default=0,
        help="Port on 127.0.0.1 [any free one].",
        variable="HOPSCOPE_EXPLORE_PORT",
        metavar="PORT",
        minimum=0,
        maximum=65535,
        show_default=False,
    )
    open: bool = option(
        default=True, help="Open the page in a browser.", variable=None, show_default=False
    )
