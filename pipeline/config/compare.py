"""Options of ``compare``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.config import completing
from pipeline.config.shared import out_option, store_option
from pipeline.config.values import snapshot_name
from pipeline.model.choices import NAME_PATTERN
from pipeline.options import option


@dataclass(frozen=True)
class CompareConfig:
    """Two snapshots to what changed."""

    old: str = option(
        help="Snapshot of the older night.",
        metavar="OLD",
        parser=snapshot_name,
        pattern=f"^{NAME_PATTERN}$",
        completes=completing.snapshots,
        variable=None,
        is_argument=True,
        is_parameter=True,
    )
    new: str = option(
        help="Snapshot of the newer night.",
        metavar="NEW",
        parser=snapshot_name,
        pattern=f"^{NAME_PATTERN}$",
        completes=completing.snapshots,
        variable=None,
        is_argument=True,
        is_parameter=True,
    )
    store: Path = store_option()
    out: Path = out_option(is_parameter=True)
