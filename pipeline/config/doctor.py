"""Options of ``doctor``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.config.shared import store_option
from pipeline.options import option


@dataclass(frozen=True)
class DoctorConfig:
    """What to check besides this machine."""

    store: Path | None = store_option(
        default=None, help="Store to check; every byte is read.", is_parameter=False
    )
    out: Path | None = option(
        default=None,
        help="Folder of reports to check.",
        metavar="DIR",
    )
    calibrate: bool = option(
        default=False,
        help="Measure what searches and tasks cost; analyze uses it.",
        variable=None,
    )
    clean: bool = option(
        default=False,
        help="Remove what killed runs left in --store and --out.",
        variable=None,
    )
