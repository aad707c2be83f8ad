"""The options of each stage; every default has its unit and its reason.

Fields made by ``option`` can be set by users (``pipeline.options``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.generate import MODELS, models_named, models_that_take
from pipeline.metrics import METRICS, names_for_all, names_for_help
from pipeline.model.choices import (
    MAX_ASN,
    NAME_PATTERN,
    NAME_RULE,
    Borders,
    DeviceChoice,
    Routers,
    Schedule,
    is_name,
)
from pipeline.model.synthetic import Parameters
from pipeline.options import WrongPartError, option

MAX_PACK = 2**31 - 1  # ingresses that a task can name


def as_number(value: Any) -> int:
    """An AS number; ``AS`` in front of it is fine."""
    number = value
    if isinstance(value, str):
        digits = value.strip().upper().removeprefix("AS")
        number = int(digits) if digits.isascii() and digits.isdecimal() else None
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MAX_ASN:
        raise ValueError("one AS number")
    return number


def asn_of_inputs(value: Any) -> int:
    """As ``as_number``; several numbers are meant for ``analyze --asn``."""
    try:
        return as_number(value)
    except ValueError as error:
        raise ValueError(
            f"{error}, for inputs that name none (to select what to measure: analyze --asn N,N)"
        ) from None


def as_numbers(value: Any) -> tuple[int, ...]:
    """AS numbers, ``N,N,...`` or a list of them."""
    # A text without a number is an error: it may be an unset variable, and must not mean all ASes.
    given = [part for part in value.split(",") if part] or [""] if isinstance(value, str) else value
    try:
        return tuple(as_number(each) for each in given)
    except (TypeError, ValueError):
        raise ValueError("AS numbers like 3356,1299") from None


def metric_names(value: Any) -> tuple[str, ...]:
    """Metrics, ``NAME,NAME,...`` or a list, each once; ``all`` means those in hops."""
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise ValueError("names like hops")
    names = [name.strip() for name in given if name.strip()]
    if not names:
        raise ValueError("names like hops, at least one")
    accepted = ("all", *METRICS)
    for name in names:
        if name not in accepted:
            raise WrongPartError(", ".join(accepted), name)
    if "all" in names:
        names = [*names_for_all(), *names]
    return tuple(name for name in METRICS if name in names)


def snapshot_name(value: Any) -> str:
    """A valid name of a snapshot."""
    if not is_name(value):
        raise ValueError(NAME_RULE)
    return value


def _formats() -> tuple[str, ...]:
    from pipeline.ingest import format_choices

    return format_choices()


# Options of more than one stage.


def _store(**other: Any) -> Any:
    return option(help="Folder of snapshots.", metavar="DIR", is_parameter=True, **other)


def _snapshot(help: str) -> Any:
    return option(
        default=None,
        help=help,
        metavar="NAME",
        parser=snapshot_name,
        pattern=f"^{NAME_PATTERN}$",
        is_parameter=True,
    )


def _workers(help: str, **other: Any) -> Any:
    return option(
        default=None,
        help=help,
        metavar="N",
        unit="processes",
        minimum=1,
        **other,
    )


def _asn(
    help: str = "AS number for inputs without one (to choose ASes to measure, see analyze --asn).",
    parser: Callable[[Any], int] = asn_of_inputs,
) -> Any:
    return option(
        default=None,
        help=help,
        metavar="N",
        parser=parser,
        minimum=0,
        maximum=MAX_ASN,
    )


def _ingresses(help: str = "Number of ingresses to draw if a topology has none.") -> Any:
    return option(
        default=None,
        help=help,
        metavar="K",
        unit="routers",
        minimum=1,
        needs="topology",
    )


_ONE_PER_GPU = "Number of processes [one per GPU, or one per core]."


@dataclass(frozen=True)
class IngestConfig:
    """Files to a snapshot."""

    inputs: tuple[Path, ...] = option(
        help="Files or folders of measurements.",
        metavar="INPUT",
        is_argument=True,
        is_parameter=True,
    )
    store: Path = _store()
    snapshot: str | None = _snapshot("Name of the snapshot [date of the newest record].")  # in UTC
    format: str | None = option(
        default=None,  # recognised by content
        help="Format, or a kind: traces, topology [recognised by content].",
        metavar="NAME",
        choices=_formats,
    )
    ip2as: tuple[Path, ...] = option(
        default=(),
        help="CAIDA pfx2as file, IPv4 or IPv6; repeatable.",
        metavar="FILE",
        is_parameter=True,
        needs="traces",
    )
    as_names: Path | None = option(
        default=None, help="Names of ASes: JSON or text.", metavar="FILE"
    )
    aliases: Path | None = option(
        default=None,
        help="Alias sets of routers: ITDK, MIDAR, iffinder, or lists.",
        metavar="FILE",
        needs="traces",
    )
    as_rel: Path | None = option(
        default=None,
        help="CAIDA as-rel file: who is whose customer.",
        metavar="FILE",
        needs="traces",
    )
    as2org: Path | None = option(
        default=None,
        help="CAIDA as2org file: ASes of one organisation.",
        metavar="FILE",
        needs="traces",
    )
    ixp: tuple[Path, ...] = option(
        default=(),
        help="LANs and members of exchange points; repeatable.",
        metavar="FILE",
        needs="traces",
    )
    delegated: tuple[Path, ...] = option(
        default=(),
        help="Extended delegation file of a registry; repeatable.",
        metavar="FILE",
        needs="traces",
    )
    allow_special: tuple[str, ...] = option(
        default=(),
        help="Special-purpose prefix to accept, for lab networks; repeatable.",
        metavar="PREFIX",
        needs="traces",
    )
    borders: Borders = option(
        default="elected", help="How the AS of an address is found.", needs="traces"
    )
    routers: Routers = option(
        default="inferred",
        help="Whether addresses are merged without an alias file.",
        needs="traces",
    )
    bridge_gaps: bool = option(
        default=False, help="Also draw links across unanswered hops.", needs="traces"
    )
    targets_are_routers: bool = option(
        default=False,
        help="Treat destinations that answer as routers, not hosts.",
        needs="traces",
    )
    asn: int | None = _asn()
    ingresses: int | None = _ingresses()
    workers: int | None = _workers("Number of processes [one per core].", shared_help=_ONE_PER_GPU)

    @property
    def tables(self) -> tuple[Path, ...]:
        """Every table besides the inputs."""
        single = (self.as_names, self.aliases, self.as_rel, self.as2org)
        return (
            *(*self.ip2as, *self.ixp, *self.delegated),
            *(path for path in single if path is not None),
        )


@dataclass(frozen=True)
class AnalyzeConfig:
    """A snapshot to reports."""

    store: Path = _store()
    out: Path = option(help="Folder for reports.", metavar="DIR", is_parameter=True)
    snapshot: str | None = _snapshot("Snapshot to measure [the newest].")
    asns: tuple[int, ...] = option(
        default=(),  # every AS
        help="ASes to measure [all].",
        word="asn",
        metavar="N,N,...",
        parser=as_numbers,
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
    schedule: Schedule = option(default="free", help="How tasks are given to workers.")
    workers: int | None = _workers(_ONE_PER_GPU)
    scheduler: str | None = option(
        default=None,
        help="Address of a running Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT.",
        metavar="ADDRESS",
        is_parameter=True,
    )
    distances: bool = option(default=False, help="Also write full hop matrices.")
    verify: bool = option(default=False, help="Check each search with a certificate.")
    pages: bool = option(
        default=True,  # HTML; False: tables and report.json only
        help="Write HTML pages, or tables only.",
        show_default=False,
    )
    version: str | None = None  # of the snapshot that was ingested; None: the current one
    dashboard: str = "127.0.0.1:8787"  # where our own cluster's dashboard binds


_OF_ONE_AS = ", ".join(name for name, model in MODELS.items() if "n_ases" not in model.options)
_WITHOUT_INGRESSES = ", ".join(name for name, model in MODELS.items() if not model.makes_graphs)


@dataclass(frozen=True)
class GenerateConfig:
    """What to make and where to put it; exactly one of ``out`` and ``store``.

    Numbers are those of ``Parameters``; ``internet`` puts many ASes of the model side by side.
    """

    model: str = option(
        help=f"{models_named()}.",
        variable=None,
        is_argument=True,
    )
    routers: int = option(
        help="Total number of routers.", variable=None, metavar="N", unit="routers", minimum=1
    )
    ases: int = option(
        default=Parameters.n_ases,
        help=f"Number of ASes ({models_that_take('n_ases')}).",
        variable=None,
        metavar="N",
        unit="ASes",
        minimum=1,
    )
    links: int = option(
        default=Parameters.m,
        help="Number of links of each new router.",
        variable=None,
        metavar="M",
        unit="links",
        minimum=1,
    )
    seed: int = option(
        default=Parameters.seed,
        help="Random seed.",
        variable=None,
        metavar="N",
        minimum=0,
    )
    internet: bool = option(
        default=False, help="Many ASes of very different sizes (ba).", variable=None
    )
    min_routers: int = option(
        default=Parameters.smallest,
        help=f"Size of the smallest AS ({models_that_take('smallest')}).",
        variable=None,
        metavar="N",
        unit="routers",
        minimum=1,
    )
    max_routers: int | None = option(
        default=None,
        help=f"Size of the largest AS ({models_that_take('largest')}) [13.6 % of all].",
        variable=None,
        metavar="N",
        unit="routers",
        minimum=1,
    )
    max_ingresses: int = option(
        default=Parameters.max_ingresses,
        help=f"Maximum number of ingresses per AS ({models_that_take('max_ingresses')}).",
        variable=None,
        metavar="N",
        unit="ingresses",
        minimum=1,
    )
    rows: int | None = option(
        default=None,
        help="Number of rows of a grid [as square as possible].",
        variable=None,
        metavar="N",
        unit="rows",
        minimum=1,
    )
    cut: float = option(
        default=Parameters.cut,
        help="Share of a grid's links to cut.",
        variable=None,
        metavar="SHARE",
        unit="share of links",
        minimum=0,
        maximum=1,
    )
    out: Path | None = option(
        default=None, help="BRITE file to write.", variable=None, metavar="FILE"
    )
    store: Path | None = option(default=None, help="Store to write a snapshot to.", metavar="DIR")
    snapshot: str | None = _snapshot("Name of the snapshot in --store [today's date].")
    asn: int | None = _asn(f"AS of all routers ({_OF_ONE_AS}).", as_number)
    ingresses: int | None = _ingresses(f"Number of ingresses to draw ({_WITHOUT_INGRESSES}).")
    said: tuple[str, ...] = ()  # options that the user gave: none may be one of another model


@dataclass(frozen=True)
class DoctorConfig:
    """What to check besides this machine."""

    store: Path | None = option(
        default=None, help="Store to check; every byte is read.", metavar="DIR"
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
