"""Options of ``ingest``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.config import completing
from pipeline.config.shared import (
    ONE_PER_GPU,
    asn_option,
    ingresses_option,
    snapshot_option,
    store_option,
    workers_option,
)
from pipeline.model.choices import Borders, Routers
from pipeline.options import option

_IP = r"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*)"  # as rows of tables begin


def _formats() -> tuple[str, ...]:
    from pipeline.ingest import format_choices

    return format_choices()


@dataclass(frozen=True)
class IngestConfig:
    """Files to a snapshot."""

    inputs: tuple[Path, ...] = option(
        help="Files, folders or URLs of measurements; - is stdin.",
        metavar="INPUT",
        takes_urls=True,
        is_argument=True,
        is_parameter=True,
    )
    store: Path = store_option()
    snapshot: str | None = snapshot_option("Name of the snapshot [date of the newest record].")
    format: str | None = option(
        default=None,  # recognised by content
        help="Format, or a kind: traces, topology [recognised by content].",
        metavar="NAME",
        choices=_formats,
    )
    ip2as: tuple[Path, ...] = option(
        default=(),
        help="Prefix table: pfx2as, MRT RIB, CSV, ROAs ...; repeatable.",
        metavar="FILE",
        takes_urls=True,
        is_parameter=True,
        needs="traces",
        rows=rf"{_IP}(?:[\t ]|/)\d{{1,3}}[\t ,](?:AS)?\d+(?:[_,]\d+)*\s*$",
    )
    as_names: Path | None = option(
        default=None, help="Names of ASes: JSON or text.", metavar="FILE", takes_urls=True
    )
    host_names: tuple[Path, ...] = option(
        default=(),
        help="Host names of addresses, as CAIDA's DNS names; repeatable.",
        metavar="FILE",
        takes_urls=True,
        needs="traces",
        rows=rf"(?:\d{{9,10}}[\t ]+)?{_IP}[\t ]+(?:FAIL\.|[A-Za-z])[\w-]*\.[\w.-]+\s*$",
    )
    name_rules: tuple[Path, ...] = option(
        default=(),
        help="Rules that read ASes from --host-names, as CAIDA's Hoiho writes them; repeatable.",
        metavar="FILE",
        takes_urls=True,
        needs="traces",
        rows=r"\{\s*\"domain\"\s*:.*\"re\"\s*:",
    )
    locations: tuple[Path, ...] = option(
        default=(),
        help="Places of addresses: ITDK nodes.geo, CSV, rules for --host-names; repeatable.",
        metavar="FILE",
        takes_urls=True,
        needs="traces",
        rows=rf"node\.geo N\d+:|{_IP}(?:/\d+)?,\s*-?\d+\.\d+,\s*-?\d+\.\d+",
    )
    aliases: Path | None = option(
        default=None,
        help="Alias sets of routers: ITDK, MIDAR, iffinder, or lists.",
        metavar="FILE",
        takes_urls=True,
        needs="traces",
        rows=rf"node N\d+:\s|{_IP}[\t ]+[NL]\d+\b|#\s*set\s+\d",  # nodes, ifaces, MIDAR
    )
    as_rel: Path | None = option(
        default=None,
        help="CAIDA as-rel file: customers, providers and peers of ASes.",
        metavar="FILE",
        takes_urls=True,
        needs="traces",
        rows=r"\d+\|\d+\|(?:-1|0|2)(?:\||\s*$)",
    )
    as2org: Path | None = option(
        default=None,
        help="CAIDA as2org file: ASes of one organisation.",
        metavar="FILE",
        takes_urls=True,
        needs="traces",
        rows=r"#\s*format:(?:org_id|aut)\||\{.*\"organizationId\"",
    )
    ixp: tuple[Path, ...] = option(
        default=(),
        help="LANs and members of exchange points; repeatable.",
        metavar="FILE",
        takes_urls=True,
        needs="traces",
    )
    delegated: tuple[Path, ...] = option(
        default=(),
        help="Extended delegation file of a registry; repeatable.",
        metavar="FILE",
        takes_urls=True,
        needs="traces",
        rows=r"[\d.]+\|[a-z]+\|\d+\|\d+\||[a-z]+\|\w*\|(?:asn|ipv4|ipv6)\|",
    )
    vantage: tuple[str, ...] = option(
        default=(),
        help="Source of traces that name none: ADDRESS, or PATTERN=ADDRESS by file name; "
        "repeatable.",
        metavar="ADDRESS",
        needs="traces",
    )
    allow_special: tuple[str, ...] = option(
        default=(),
        help="Special-purpose prefix to accept, for lab networks; repeatable.",
        metavar="PREFIX",
        needs="traces",
    )
    borders: Borders = option(
        default="elected", help="How the AS of an address is determined.", needs="traces"
    )
    routers: Routers | None = option(
        default=None,  # inferred; a line says so if one was given and has no effect
        help="Whether addresses are merged without an alias file [inferred, if borders are "
        "elected].",
        needs="traces",
    )
    bridge_gaps: bool = option(
        default=False,
        help="Link routers across unanswered hops, instead of adding silent routers.",
        needs="traces",
    )
    targets_are_routers: bool = option(
        default=False,
        help="Treat destinations that answer as routers, not hosts, except vantage points.",
        needs="traces",
    )
    without_rule: tuple[str, ...] = option(
        default=(),
        help="Inference rule to leave out, a name from --list-rules; repeatable.",
        metavar="NAME",
        completes=completing.rules,
        needs="traces",
    )
    keep_traces: bool = option(
        default=False,
        help="Keep all traces, not three for each link and address (hopscope traces).",
        needs="traces",
    )
    asn: int | None = asn_option()
    ingresses: int | None = ingresses_option()
    workers: int | None = workers_option(
        "Number of processes [one per core].", shared_help=ONE_PER_GPU
    )

    @property
    def tables(self) -> tuple[Path, ...]:
        """Every table besides the inputs."""
        single = (self.as_names, self.aliases, self.as_rel, self.as2org)
        return (
            *(*self.ip2as, *self.ixp, *self.delegated, *self.host_names, *self.name_rules),
            *self.locations,
            *(path for path in single if path is not None),
        )
