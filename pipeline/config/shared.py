"""Options of more than one stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pipeline.config import completing
from pipeline.config.values import asn_of_inputs, snapshot_name
from pipeline.model.choices import MAX_ASN, NAME_PATTERN
from pipeline.options import option
from pipeline.places import folder_of

MAX_WORKERS = 1024  # processes; systems refuse to start some thousands, after minutes of work
ONE_PER_GPU = "Number of processes [one per GPU or core; none for a short run]."
LogFormat = Literal["text", "json"]


@dataclass(frozen=True)
class LogConfig:
    """How progress, warnings and errors are written; results on stdout are another matter."""

    log_format: LogFormat = option(
        default="text", help="Progress, warnings and errors on stderr: text or lines of JSON."
    )


def store_option(**other: Any) -> Any:
    """A store: a folder, or the mirror of a URL."""
    given: dict[str, Any] = {"help": "Folder or URL of snapshots."}
    return option(metavar="DIR", parser=folder_of, **given | {"is_parameter": True} | other)


def out_option(**other: Any) -> Any:
    """Reports: a folder, or the mirror of a URL."""
    given: dict[str, Any] = {"help": "Folder or URL for reports."}
    return option(metavar="DIR", parser=folder_of, **given | other)


def snapshot_option(help: str) -> Any:
    return option(
        default=None,
        help=help,
        metavar="NAME",
        parser=snapshot_name,
        pattern=f"^{NAME_PATTERN}$",
        completes=completing.snapshots,
        is_parameter=True,
    )


def named_snapshot() -> Any:
    """A snapshot that a command is about."""
    return option(
        help="Name of a snapshot.",
        variable=None,
        metavar="SNAPSHOT",
        parser=snapshot_name,
        completes=completing.snapshots,
        is_argument=True,
    )


def workers_option(help: str, **other: Any) -> Any:
    return option(
        default=None,
        help=help,
        metavar="N",
        unit="processes",
        minimum=1,
        maximum=MAX_WORKERS,
        **other,
    )


def asn_option(
    help: str = "AS number for inputs without one (to choose ASes to measure, see analyze --asn).",
    parser: Callable[[Any], int] = asn_of_inputs,
) -> Any:
    return option(
        default=None,
        help=help,
        metavar="N",
        parser=parser,
        minimum=1,
        maximum=MAX_ASN,
    )


def ingresses_option(help: str = "Number of ingresses to draw if a topology has none.") -> Any:
    return option(
        default=None,
        help=help,
        metavar="K",
        unit="routers",
        minimum=1,
        needs="topology",
    )
