"""Options of the commands on what is in a store: shown, looked up, exported, removed, renamed."""

from __future__ import annotations

import contextlib
import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pipeline.config import completing
from pipeline.config.shared import named_snapshot, out_option, snapshot_option, store_option
from pipeline.config.values import as_number, snapshot_name
from pipeline.model.choices import MAX_ASN
from pipeline.options import option
from pipeline.places import folder_of

ExportFormat: TypeAlias = Literal[
    "graphml", "parquet", "edges", "csv", "gexf", "dot", "mtx", "brite", "itdk"
]
ConvertFormat: TypeAlias = Literal[ExportFormat, "warts"]
TraceFormat: TypeAlias = Literal["scamper", "warts", "csv"]
ExportLevel: TypeAlias = Literal["router", "border", "as"]


def _address_range(value: Any) -> str:
    """An address or a prefix; bits beyond its length do not matter."""
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        raise ValueError("an IP address or a prefix like 192.0.2.0/24") from None
    return value


def _two_addresses(value: Any) -> str:
    """Two addresses, ``A,B``."""
    with contextlib.suppress(ValueError):
        near, far = (ipaddress.ip_address(part.strip()) for part in value.split(","))
        return f"{near},{far}"
    raise ValueError("two IP addresses like 192.0.2.1,192.0.2.2")


def _address(value: Any) -> str:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        raise ValueError("an IP address") from None
    return value


@dataclass(frozen=True)
class JudgeConfig:
    """What a method says of a network, what is true of it, and by which traces."""

    store: Path = option(
        help="Snapshots, or another method's file: CSV of address,asn,router, bdrmapIT, ITDK.",
        variable=None,
        metavar="STORE",
        parser=folder_of,
        is_argument=True,
    )
    truth: Path = option(
        help="What is true: ground_truth.json, CSV of address,asn,router, or their folder.",
        variable=None,
        metavar="TRUTH",
        is_argument=True,
    )
    snapshot: str | None = snapshot_option("Snapshot to judge [the newest].")
    traces: tuple[Path, ...] = option(
        default=(),
        help="Traces that say what can be found [those beside TRUTH, else those kept]; repeatable.",
        variable=None,
        metavar="FILE",
    )
    errors: Path | None = option(
        default=None,
        help="CSV file to write: what is wrong, one row each.",
        variable=None,
        metavar="FILE",
    )


@dataclass(frozen=True)
class ListConfig:
    """The snapshots of a store."""

    store: Path = store_option()
    out: Path | None = out_option(
        default=None, help="Folder of reports, to mark those of another version of a snapshot."
    )


@dataclass(frozen=True)
class StatusConfig:
    """The store of runs in progress, and how old the newest report and record may be."""

    store: Path = store_option()
    out: Path | None = out_option(
        default=None, help="Folder of reports that --max-age and --max-data-age check."
    )
    max_age: int | None = option(
        default=None,
        help="Exit with 1 if the last report without a failed AS is older, in hours.",
        variable=None,
        metavar="H",
        minimum=1,
    )
    max_data_age: int | None = option(
        default=None,
        help="Exit with 1 if the newest trace in any report is older, in hours.",
        variable=None,
        metavar="H",
        minimum=1,
    )


@dataclass(frozen=True)
class ShowConfig:
    """A snapshot, or one AS of it."""

    snapshot: str = named_snapshot()
    store: Path = store_option()
    asn: int | None = option(
        default=None,
        help="AS to show [the whole snapshot].",
        variable=None,
        metavar="ASN",
        parser=as_number,
        completes=completing.ases,
        minimum=0,
        maximum=MAX_ASN,
        is_argument=True,
    )
    out: Path | None = out_option(default=None, help="Folder of reports: shows what was measured.")


@dataclass(frozen=True)
class LookupConfig:
    """An address, and the snapshot that it is looked up in."""

    address: str = option(
        help="IP address or prefix.",
        variable=None,
        metavar="ADDRESS",
        parser=_address_range,
        is_argument=True,
    )
    store: Path = store_option()
    snapshot: str | None = snapshot_option("Snapshot to search [the newest].")


@dataclass(frozen=True)
class WhyConfig:
    """An address, and the snapshot that keeps why it is where it is."""

    address: str = option(
        help="IP address.",
        variable=None,
        metavar="ADDRESS",
        parser=_address,
        is_argument=True,
    )
    store: Path = store_option()
    snapshot: str | None = snapshot_option("Snapshot to search [the newest].")


@dataclass(frozen=True)
class TracesConfig:
    """A snapshot, what its kept traces are to show, and where they go."""

    snapshot: str = named_snapshot()
    store: Path = store_option()
    address: str | None = option(
        default=None,
        help="Traces that show its router.",
        variable=None,
        metavar="ADDRESS",
        parser=_address_range,
    )
    link: str | None = option(
        default=None,
        help="Traces that go from the router of A right to that of B.",
        variable=None,
        metavar="A,B",
        parser=_two_addresses,
    )
    ingress: str | None = option(
        default=None,
        help="Traces that enter its AS at its router.",
        variable=None,
        metavar="ADDRESS",
        parser=_address_range,
    )
    target: str | None = option(
        default=None,
        help="Traces aimed at it, or into a prefix.",
        variable=None,
        metavar="ADDRESS",
        parser=_address_range,
    )
    vantage_point: str | None = option(
        default=None,
        help="Traces from it.",
        variable=None,
        metavar="ADDRESS",
        parser=_address_range,
    )
    asn: int | None = option(
        default=None,
        help="Traces that cross it.",
        variable=None,
        metavar="N",
        parser=as_number,
        minimum=0,
        maximum=MAX_ASN,
    )
    format: TraceFormat | None = option(
        default=None, help="Write them for other programs [a table].", variable=None
    )
    out: Path | None = option(
        default=None, help="File to write [standard output].", variable=None, metavar="FILE"
    )


@dataclass(frozen=True)
class ExportConfig:
    """A snapshot or the graph of one AS, for other programs."""

    snapshot: str = named_snapshot()
    store: Path = store_option()
    asn: int | None = option(
        default=None,
        help="AS to export [all].",
        variable=None,
        metavar="N",
        parser=as_number,
        minimum=0,
        maximum=MAX_ASN,
    )
    format: ExportFormat | None = option(
        default=None, help="Format [by the ending of FILE, else graphml].", variable=None
    )
    out: Path | None = option(
        default=None, help="File to write [standard output].", variable=None, metavar="FILE"
    )
    level: ExportLevel = option(
        default="router", help="Nodes: routers, border routers alone, ASes.", variable=None
    )


@dataclass(frozen=True)
class ConvertConfig:
    """A file in another format of its kind."""

    source: Path = option(
        help="Topology, traces or prefix table to read.",
        variable=None,
        metavar="IN",
        is_argument=True,
    )
    out: Path = option(help="File to write.", variable=None, metavar="OUT", is_argument=True)
    format: ConvertFormat | None = option(
        default=None, help="Format of OUT [by its ending].", variable=None
    )
    input_format: str | None = option(
        default=None,
        help="Format of IN [recognised by content].",
        variable=None,
        metavar="NAME",
    )


@dataclass(frozen=True)
class RemoveConfig:
    """Snapshots that go."""

    snapshots: tuple[str, ...] = option(
        help="Names of snapshots.",
        variable=None,
        metavar="SNAPSHOT",
        is_argument=True,
    )
    store: Path = store_option()


@dataclass(frozen=True)
class RenameConfig:
    """A snapshot, and its new name."""

    snapshot: str = named_snapshot()
    name: str = option(
        help="Its new name.",
        variable=None,
        metavar="NAME",
        parser=snapshot_name,
        is_argument=True,
    )
    store: Path = store_option()


@dataclass(frozen=True)
class RestoreConfig:
    """A snapshot that was replaced."""

    snapshot: str = named_snapshot()
    store: Path = store_option()
