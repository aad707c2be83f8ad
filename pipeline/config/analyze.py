"""Options of ``analyze``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.config import completing
from pipeline.config.shared import (
    MAX_WORKERS,
    ONE_PER_GPU,
    out_option,
    snapshot_option,
    store_option,
    workers_option,
)
from pipeline.config.values import as_numbers, metric_names
from pipeline.metrics import METRICS, names_for_help
from pipeline.model.choices import MAX_ASN, DeviceChoice, Schedule
from pipeline.options import option

MAX_PACK = 2**31 - 1  # ingresses that a task can name


@dataclass(frozen=True)
class AnalyzeConfig:
    """A snapshot to reports."""

    store: Path = store_option()
    out: Path = out_option(is_parameter=True)
    snapshot: str | None = snapshot_option("Snapshot to measure [the newest].")
    asns: tuple[int, ...] = option(
        default=(),  # every AS
        help="ASes to measure [all].",
        word="asn",
        metavar="N,N,...",
        parser=as_numbers,
        completes=completing.ases,
        minimum=0,
        maximum=MAX_ASN,
        commas=True,
    )
    metrics: tuple[str, ...] = option(
        default=("hops",),
        help=f"{names_for_help()}.",
        metavar="NAME,...",
        choices=("all", *METRICS),
        parser=metric_names,
        commas=True,
        is_parameter=True,
    )
    max_searches: int | None = option(
        default=None,  # until widths are exact
        help="Maximum number of searches per component [until exact].",
        metavar="N",
        unit="searches",
        minimum=0,
        needs="widths",
    )
    device: DeviceChoice = option(default="auto", help="Where searches run.")
    pack: int | None = option(
        default=None,
        help="Ingresses per task.",
        metavar="auto|K",
        unit="ingresses",
        minimum=1,
        maximum=MAX_PACK,
        unset="auto",
    )
    partition: int | None = option(
        default=None,
        help="Workers that search one AS together, one part each [only if no GPU can hold it].",
        metavar="N",
        unit="workers",
        minimum=1,
        maximum=MAX_WORKERS,
    )
    schedule: Schedule = option(default="free", help="How tasks are assigned to workers.")
    workers: int | None = workers_option(ONE_PER_GPU)
    scheduler: str | None = option(
        default=None,
        help="Address of a running Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT.",
        metavar="ADDRESS",
        is_parameter=True,
    )
    tls_ca: Path | None = option(
        default=None,
        help="Authority of the cluster's certificates (PEM); only tls:// is accepted.",
        metavar="FILE",
    )
    tls_cert: Path | None = option(
        default=None, help="Certificate to show to the cluster (PEM).", metavar="FILE"
    )
    tls_key: Path | None = option(
        default=None, help="Key of --tls-cert [in the same file].", metavar="FILE"
    )
    full: bool = option(default=False, help="Measure again what earlier runs measured.")
    distances: bool = option(default=False, help="Also write full hop matrices.", needs="hops")
    verify: bool = option(default=False, help="Check each search with a certificate.")
    pages: bool = option(
        default=True,  # HTML; False: tables and report.json only
        help="Write HTML pages, or tables only.",
        show_default=False,
    )
    keep_nights: int | None = option(
        default=None,
        help="Keep the last N nights, snapshots named by a date; remove older ones [keep all].",
        metavar="N",
        unit="nights",
        minimum=2,  # a night is compared with the one before
    )
    max_data_age: int | None = option(
        default=None,
        help="Warn of traces that are older than H hours, or unchanged [48 for nightly flows].",
        metavar="H",
        unit="hours",
        minimum=1,
    )
    version: str | None = None  # of the snapshot that was ingested; None: the current one
    dashboard: str = "127.0.0.1:8787"  # where our own cluster's dashboard binds
