"""What each stage can be told; every default has its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Borders = Literal["elected", "prefix"]
DeviceChoice = Literal["auto", "cpu", "gpu"]
Schedule = Literal["free", "striding", "barrier"]


@dataclass(frozen=True)
class IngestConfig:
    """Files to a snapshot."""

    inputs: tuple[Path, ...]
    store: Path
    snapshot: str | None = None  # None: the UTC date of the newest record
    format: str | None = None  # None: told by content
    ip2as: tuple[Path, ...] = ()
    as_names: Path | None = None
    aliases: Path | None = None
    allow_special: tuple[str, ...] = ()  # special-purpose prefixes that count as public here
    borders: Borders = "elected"
    bridge_gaps: bool = False
    targets_are_routers: bool = False  # the measurement was aimed at routers, not at hosts
    asn: int | None = None  # AS of inputs that name none
    ingresses: int | None = None  # routers to draw as ingresses of a topology without any
    workers: int | None = None  # reading processes; None: one a core


@dataclass(frozen=True)
class AnalyzeConfig:
    """A snapshot to reports."""

    store: Path
    out: Path
    snapshot: str | None = None  # None: the newest
    version: str | None = None  # of that snapshot, as it was ingested; None: the one of today
    asns: tuple[int, ...] = ()  # empty: every AS
    metrics: tuple[str, ...] = ("hops",)
    max_searches: int | None = None  # a component for its widths; None: until they are exact
    device: DeviceChoice = "auto"
    pack: int | None = None  # ingresses a task carries; None: auto
    schedule: Schedule = "free"
    workers: int | None = None  # None: one a GPU, else one a core
    scheduler: str | None = None  # address of a Dask cluster that exists
    distances: bool = False  # write the full hop matrix of each AS
    verify: bool = False  # check every search by its certificate
    pages: bool = True  # HTML; False: tables and report.json only
    dashboard: str = "127.0.0.1:8787"  # where our own cluster's dashboard binds
