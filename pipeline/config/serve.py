"""Options of ``serve``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.options import option


@dataclass(frozen=True)
class ServeConfig:
    """Where reports and Prefect are served, and what the nightly run is given."""

    store: Path = option(default=Path("store"), help="Folder of snapshots.", metavar="DIR")
    out: Path = option(default=Path("out"), help="Folder of reports.", metavar="DIR")
    port: int = option(
        default=8080,
        help="Port of the reports.",
        variable="HOPSCOPE_SERVE_PORT",
        metavar="PORT",
        minimum=0,
        maximum=65535,
    )
    prefect_port: int = option(
        default=4200,
        help="Port of Prefect.",
        variable="HOPSCOPE_SERVE_PREFECT_PORT",
        metavar="PORT",
        minimum=0,
        maximum=65535,
    )
    with_parent: bool = option(
        default=False, help="Stop when the parent process ends.", variable=None
    )
