"""Options that several commands share; each can be given as ``HOPSCOPE_<NAME>`` too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from pipeline.config import AnalyzeConfig, IngestConfig
from pipeline.metrics import METRICS, names_for_all


def is_said(context: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line: not its default, nor from a variable."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def one_asn(text: str) -> int:
    """The AS of inputs that name none; not, as of analyze, which ASes to measure."""
    digits = text.strip().upper().removeprefix("AS")
    if not (digits.isascii() and digits.isdecimal() and int(digits) < 2**32):
        raise typer.BadParameter(
            f"one AS number, that of inputs that name none, not {text!r}; "
            "which ASes to measure: analyze --asn N,N"
        )
    return int(digits)


_EMPTY = "an empty path; give a file or folder (. is the current one)"


def given_path(text: str) -> Path:
    """A path as given; an empty one would mean the current folder, which nobody asked for."""
    if not text:
        raise typer.BadParameter(_EMPTY)
    return Path(text)


def refuse_empty_words(words: Sequence[str]) -> None:
    """The same for lists of paths, which take no parser: a variable would no longer be split."""
    if "" in words or "--ip2as=" in words:
        raise typer.BadParameter(_EMPTY)


Inputs = Annotated[
    list[Path],
    typer.Argument(
        metavar="INPUT",
        help="Files or folders of measurements.",
        show_default=False,
    ),
]
Store = Annotated[
    Path,
    typer.Option(
        parser=given_path,
        envvar="HOPSCOPE_STORE",
        show_envvar=False,
        metavar="DIR",
        help="Folder of snapshots.",
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        parser=given_path,
        envvar="HOPSCOPE_OUT",
        show_envvar=False,
        metavar="DIR",
        help="Folder for reports.",
    ),
]
SnapshotName = Annotated[
    str | None,
    typer.Option(
        envvar="HOPSCOPE_SNAPSHOT",
        show_envvar=False,
        metavar="NAME",
        help="Snapshot [date of the newest record; the newest].",
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        envvar="HOPSCOPE_FORMAT",
        show_envvar=False,
        metavar="NAME",
        help="Format [told by content].",
    ),
]
Ip2as = Annotated[
    list[Path] | None,
    typer.Option(
        envvar="HOPSCOPE_IP2AS",
        show_envvar=False,
        metavar="FILE",
        help="CAIDA pfx2as file, IPv4 or IPv6; repeatable.",
    ),
]
AsNames = Annotated[
    Path | None,
    typer.Option(
        parser=given_path,
        envvar="HOPSCOPE_AS_NAMES",
        show_envvar=False,
        metavar="FILE",
        help="Names of ASes: JSON or text.",
    ),
]
Aliases = Annotated[
    Path | None,
    typer.Option(
        parser=given_path,
        envvar="HOPSCOPE_ALIASES",
        show_envvar=False,
        metavar="FILE",
        help="ITDK nodes file: interfaces to routers.",
    ),
]
AllowSpecial = Annotated[
    list[str] | None,
    typer.Option(
        envvar="HOPSCOPE_ALLOW_SPECIAL",
        show_envvar=False,
        metavar="PREFIX",
        help="Special-purpose prefix to admit (labs); repeatable.",
    ),
]
Borders = Annotated[
    str,
    typer.Option(
        envvar="HOPSCOPE_BORDERS",
        show_envvar=False,
        metavar="elected|prefix",
        help="How the AS of an address is found.",
    ),
]
BridgeGaps = Annotated[
    bool,
    typer.Option(
        "--bridge-gaps",
        envvar="HOPSCOPE_BRIDGE_GAPS",
        show_envvar=False,
        help="Link across unanswered hops too.",
    ),
]
TargetsAreRouters = Annotated[
    bool,
    typer.Option(
        "--targets-are-routers",
        envvar="HOPSCOPE_TARGETS_ARE_ROUTERS",
        show_envvar=False,
        help="Destinations that answer are routers, not hosts.",
    ),
]
Asn = Annotated[
    int | None,
    typer.Option(
        parser=one_asn,
        envvar="HOPSCOPE_ASN",
        show_envvar=False,
        metavar="N",
        help="AS of inputs that name none (not: which to measure).",
    ),
]
Ingresses = Annotated[
    int | None,
    typer.Option(
        envvar="HOPSCOPE_INGRESSES",
        show_envvar=False,
        metavar="K",
        help="Ingresses to draw where a topology has none.",
        min=1,
    ),
]
Asns = Annotated[
    str,
    typer.Option(
        "--asn",
        envvar="HOPSCOPE_ASNS",
        show_envvar=False,
        metavar="N,N,...",
        help="ASes to measure [all].",
    ),
]
Metrics = Annotated[
    str,
    typer.Option(
        envvar="HOPSCOPE_METRICS",
        show_envvar=False,
        metavar="NAME,...",
        help="hops; diameter, radius, center, periphery, eccentricities, each with weighted_ too; "
        "effective_diameter; all: those in hops.",
    ),
]
MaxSearches = Annotated[
    int | None,
    typer.Option(
        envvar="HOPSCOPE_MAX_SEARCHES",
        show_envvar=False,
        metavar="N",
        help="Searches for widths of a component, then intervals [exact].",
        min=0,
    ),
]
DeviceChoice = Annotated[
    str,
    typer.Option(
        envvar="HOPSCOPE_DEVICE",
        show_envvar=False,
        metavar="auto|cpu|gpu",
        help="Where searches run.",
    ),
]
Pack = Annotated[
    str,
    typer.Option(
        envvar="HOPSCOPE_PACK",
        show_envvar=False,
        metavar="auto|K",
        help="Ingresses that a task carries.",
    ),
]
Schedule = Annotated[
    str,
    typer.Option(
        envvar="HOPSCOPE_SCHEDULE",
        show_envvar=False,
        metavar="free|striding|barrier",
        help="How tasks are given out.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        envvar="HOPSCOPE_WORKERS",
        show_envvar=False,
        metavar="N",
        help="Processes [a GPU or core each].",
        min=1,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        envvar="HOPSCOPE_SCHEDULER",
        show_envvar=False,
        metavar="ADDRESS",
        help="Dask scheduler to run on, tcp://HOST:PORT.",
    ),
]
Distances = Annotated[
    bool,
    typer.Option(
        "--distances",
        envvar="HOPSCOPE_DISTANCES",
        show_envvar=False,
        help="Write full hop matrices too.",
    ),
]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify",
        envvar="HOPSCOPE_VERIFY",
        show_envvar=False,
        help="Check each search by certificate.",
    ),
]
Pages = Annotated[
    bool,
    typer.Option(
        envvar="HOPSCOPE_PAGES",
        show_envvar=False,
        show_default=False,
        help="HTML pages, or tables alone [pages].",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def choice(value: str, known: tuple[str, ...], option: str) -> str:
    """One of the known words, or a usage error that lists them."""
    if value not in known:
        raise typer.BadParameter(f"{option} takes {', '.join(known)}, not {value!r}")
    return value


def numbers(text: str, option: str) -> tuple[int, ...]:
    """``N,N,...`` as numbers; ``AS`` in front of one is fine."""
    try:
        return tuple(
            int(part.strip().upper().removeprefix("AS")) for part in text.split(",") if part
        )
    except ValueError:
        raise typer.BadParameter(f"{option} takes numbers like 3356,1299, not {text!r}") from None


def metric_names(text: str) -> tuple[str, ...]:
    """``NAME,NAME,...``, at least one, each once; ``all`` stands for those in hops."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        raise typer.BadParameter("--metrics takes names like hops, at least one")
    if "all" in names:
        names = [*names_for_all(), *names]
    known = ("all", *METRICS)
    for name in names:
        choice(name, known, "--metrics")
    return tuple(name for name in METRICS if name in names)


def pack_size(text: str) -> int | None:
    """``auto`` (None) or a number of ingresses."""
    if text == "auto":
        return None
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) < 2**31:
        raise typer.BadParameter(f"--pack takes auto or a number from 1, not {text!r}")
    return int(text)


def ingest_config(given: Mapping[str, Any]) -> IngestConfig:
    """Config of the stage from options by name; raises typer.BadParameter for a wrong one."""
    return IngestConfig(
        inputs=tuple(given["inputs"]),
        store=given["store"],
        snapshot=given["snapshot"],
        format=given["format"],
        ip2as=tuple(given["ip2as"] or ()),
        as_names=given["as_names"],
        aliases=given["aliases"],
        allow_special=tuple(given["allow_special"] or ()),
        borders=cast(Any, choice(given["borders"], ("elected", "prefix"), "--borders")),
        bridge_gaps=given["bridge_gaps"],
        targets_are_routers=given["targets_are_routers"],
        asn=given["asn"],
        ingresses=given["ingresses"],
        workers=given["workers"],
    )


def analyze_config(given: Mapping[str, Any]) -> AnalyzeConfig:
    """Config of the stage from options by name; raises typer.BadParameter for a wrong one."""
    schedules = ("free", "striding", "barrier")
    return AnalyzeConfig(
        store=given["store"],
        out=given["out"],
        snapshot=given["snapshot"],
        asns=numbers(given.get("asns", ""), "--asn"),
        metrics=metric_names(given["metrics"]),
        max_searches=given["max_searches"],
        device=cast(Any, choice(given["device"], ("auto", "cpu", "gpu"), "--device")),
        pack=pack_size(given["pack"]),
        schedule=cast(Any, choice(given["schedule"], schedules, "--schedule")),
        workers=given["workers"],
        scheduler=given["scheduler"],
        distances=given["distances"],
        verify=given["verify"],
        pages=given["pages"],
    )
