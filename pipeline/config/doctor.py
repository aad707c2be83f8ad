"""Options of ``doctor``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.config.shared import out_option, store_option
from pipeline.options import option


@dataclass(frozen=True)
class DoctorConfig:
    """What to check besides this machine."""

    store: Path | None = store_option(
        default=None, help="Store to check; every byte is read.", is_parameter=False
    )
    # Of a URL too, which is in the variable for other commands: no check, but no error either.
    out: Path | None = out_option(default=None, help="Folder of reports to check.")
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
