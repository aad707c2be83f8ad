"""Options of ``search``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.algorithms import ALGORITHMS, names_that_take
from pipeline.config.shared import snapshot_option, store_option
from pipeline.model.choices import DeviceChoice
from pipeline.options import option


@dataclass(frozen=True)
class SearchConfig:
    """One search, and the graph that it is run on."""

    algorithm: str = option(
        help=f"{', '.join(ALGORITHMS)}.",
        variable=None,
        metavar="ALGORITHM",
        choices=lambda: tuple(ALGORITHMS),
        is_argument=True,
    )
    graph: str = option(
        help="A file, an AS of a snapshot (AS3356), or the name of a snapshot of one AS.",
        variable=None,
        metavar="GRAPH",
        is_argument=True,
    )
    source: str | None = option(
        default=None,
        help=f"Start node: its address or number ({names_that_take('source')}).",
        variable=None,
        metavar="NODE",
    )
    target: str | None = option(
        default=None,
        help="End node of a path: its address or number.",
        variable=None,
        metavar="NODE",
    )
    store: Path | None = store_option(default=None, is_parameter=False)
    snapshot: str | None = snapshot_option("Snapshot of the AS [the newest].")
    device: DeviceChoice = option(default="auto", help="Where the search runs.")
    compare: bool = option(
        default=False,
        help="Also time the sequential, the CPU and the GPU version.",
        variable=None,
    )
    check: bool = option(
        default=True,
        help="Check the result with a certificate.",
        variable=None,
        show_default=False,
    )
    out: Path | None = option(
        default=None,
        help="Parquet file to write: a row per node or edge.",
        variable=None,
        metavar="FILE",
    )
    said: tuple[str, ...] = ()  # options that the user gave, other than by a variable
