"""Options that several commands share; each can be given as ``HOPSCOPE_<NAME>`` too."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Inputs = Annotated[
    list[Path],
    typer.Argument(help="Files or folders of measurements.", show_default=False),
]
Store = Annotated[Path, typer.Option(envvar="HOPSCOPE_STORE", help="Folder of snapshots.")]
Out = Annotated[Path, typer.Option(envvar="HOPSCOPE_OUT", help="Folder for reports.")]
SnapshotName = Annotated[
    str | None,
    typer.Option(
        envvar="HOPSCOPE_SNAPSHOT",
        help="Name of the snapshot [date of the newest record; analyze: the newest].",
    ),
]
FormatName = Annotated[
    str | None, typer.Option("--format", envvar="HOPSCOPE_FORMAT", help="Format [told by content].")
]
Ip2as = Annotated[
    list[Path] | None,
    typer.Option(envvar="HOPSCOPE_IP2AS", help="CAIDA pfx2as file, IPv4 or IPv6; repeatable."),
]
AsNames = Annotated[
    Path | None, typer.Option(envvar="HOPSCOPE_AS_NAMES", help="Names of ASes: JSON or text.")
]
Aliases = Annotated[
    Path | None,
    typer.Option(envvar="HOPSCOPE_ALIASES", help="ITDK nodes file: interfaces to routers."),
]
AllowSpecial = Annotated[
    list[str] | None,
    typer.Option(
        envvar="HOPSCOPE_ALLOW_SPECIAL",
        help="Special-purpose prefix that counts as public (labs); repeatable.",
    ),
]
Borders = Annotated[
    str, typer.Option(envvar="HOPSCOPE_BORDERS", help="Owner of an address: elected or prefix.")
]
BridgeGaps = Annotated[
    bool,
    typer.Option(
        "--bridge-gaps", envvar="HOPSCOPE_BRIDGE_GAPS", help="Link across unanswered hops too."
    ),
]
Asn = Annotated[
    int | None, typer.Option(envvar="HOPSCOPE_ASN", help="AS of inputs that name none.", min=0)
]
Ingresses = Annotated[
    int | None,
    typer.Option(
        envvar="HOPSCOPE_INGRESSES", help="Routers to draw where a topology has no ingress.", min=1
    ),
]
Asns = Annotated[str, typer.Option("--asn", envvar="HOPSCOPE_ASNS", help="ASes, N,N,... [all].")]
Metrics = Annotated[str, typer.Option(envvar="HOPSCOPE_METRICS", help="hops (more to come).")]
DeviceChoice = Annotated[str, typer.Option(envvar="HOPSCOPE_DEVICE", help="auto, cpu or gpu.")]
Pack = Annotated[
    str, typer.Option(envvar="HOPSCOPE_PACK", help="Ingresses a task carries: auto or a number.")
]
Schedule = Annotated[
    str, typer.Option(envvar="HOPSCOPE_SCHEDULE", help="free, striding or barrier.")
]
Workers = Annotated[
    int | None,
    typer.Option(envvar="HOPSCOPE_WORKERS", help="Processes [a GPU or core each].", min=1),
]
Scheduler = Annotated[
    str | None,
    typer.Option(envvar="HOPSCOPE_SCHEDULER", help="Address of a Dask scheduler to run on."),
]
Distances = Annotated[
    bool,
    typer.Option("--distances", envvar="HOPSCOPE_DISTANCES", help="Write full hop matrices too."),
]
Verify = Annotated[
    bool,
    typer.Option("--verify", envvar="HOPSCOPE_VERIFY", help="Check each search by certificate."),
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


def pack_size(text: str) -> int | None:
    """``auto`` (None) or a number of ingresses."""
    if text == "auto":
        return None
    if not text.isdigit() or int(text) < 1:
        raise typer.BadParameter(f"--pack takes auto or a number from 1, not {text!r}")
    return int(text)
