"""Tables about addresses and ASes that are read beside the inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from pipeline.config import IngestConfig
from pipeline.errors import FormatError, UsageError
from pipeline.infer import (
    AliasTable,
    PrefixTable,
    Registries,
    read_aliases,
    read_delegations,
    read_exchanges,
    read_organisations,
    read_pfx2as,
    read_relationships,
)
from pipeline.ingest.as_names import read_as_names
from pipeline.ingest.host_names import read_host_names
from pipeline.model.addresses import unique_addrs
from pipeline.model.graphs import GraphSet
from pipeline.model.measured.host_names import HostNames
from pipeline.model.measured.reading import ReadReport, printable_path

_Table = TypeVar("_Table")


@dataclass(frozen=True, eq=False)
class Tables:
    """What traces are interpreted with, and how reading each file went.

    ``prefixes``, ``aliases``: None where no file was given.
    """

    prefixes: PrefixTable | None
    aliases: AliasTable | None
    registries: Registries
    reports: list[ReadReport]


def read_tables(config: IngestConfig, needed: bool) -> Tables:
    """Read the tables that traces need.

    Parameters
    ----------
    config : IngestConfig
    needed : bool
        Whether there are traces.

    Raises
    ------
    UsageError
        If nothing in any of the files of one option can be used, and it is needed.
    """
    reports: list[ReadReport] = []
    prefixes = aliases = relationships = organisations = delegations = exchanges = None

    def refuse_unusable(read: list[ReadReport]) -> None:
        reports.extend(read)
        if needed and all(report.status == "rejected" for report in read):
            raise UsageError("; ".join(report.error for report in read))

    def read_one(path: Path, kind: str, read: Callable[[Path, ReadReport], _Table]) -> _Table:
        report = ReadReport(printable_path(path), kind)
        table = read(path, report)
        refuse_unusable([report])
        return table

    if config.ip2as:
        each = [ReadReport(printable_path(path), "pfx2as") for path in config.ip2as]
        prefixes = read_pfx2as(config.ip2as, each)
        refuse_unusable(each)
    if config.aliases:
        aliases = read_one(config.aliases, "", read_aliases)  # recognised by content
    if config.as_rel:
        relationships = read_one(config.as_rel, "as-rel", read_relationships)
    if config.as2org:
        organisations = read_one(config.as2org, "as2org", read_organisations)
    if config.delegated:
        each = [ReadReport(printable_path(path), "delegated") for path in config.delegated]
        delegations = read_delegations(config.delegated, each)
        refuse_unusable(each)
    if config.ixp:
        each = [ReadReport(printable_path(path), "exchange points") for path in config.ixp]
        exchanges = read_exchanges(config.ixp, each)
        refuse_unusable(each)
    registries = Registries(relationships, organisations, delegations, exchanges)
    return Tables(prefixes, aliases, registries, reports)


@dataclass(frozen=True, eq=False)
class Names:
    """Names of ASes and of addresses, and how reading each file went.

    ``of_hosts``: None where no file was given. ``unused``: options that name nothing, each with
    the reason.
    """

    of_ases: dict[int, str]
    of_hosts: HostNames | None
    reports: list[ReadReport]
    unused: list[str]


def read_names(config: IngestConfig, graphs: GraphSet) -> Names:
    """Names for some graphs, if files were given; a run does not fail if one cannot be used.

    If several files with host names name an address, the last one counts.
    """
    of_ases: dict[int, str] = {}
    found: dict[int, str] = {}
    reports, unused = [], []
    if config.as_names is not None:
        names, report = _read_if_usable(config.as_names, "as-names", read_as_names)
        of_ases = names or {}
        reports.append(report)
        if of_ases and of_ases.keys().isdisjoint(graphs.asn.tolist()):
            unused.append("--as-names (names none of these ASes)")
    columns = [each for each in (graphs.addrs, graphs.node_addr) if each is not None]
    if not config.host_names or not columns:
        return Names(of_ases, None, reports, unused)
    addrs = unique_addrs(columns[:1])
    for path in config.host_names:
        names, report = _read_if_usable(
            path, "host-names", lambda path, report: read_host_names(path, addrs, report)
        )
        found |= names or {}
        reports.append(report)
    at = np.array(sorted(found), np.int64)
    of_hosts = HostNames(addrs[at], np.array([found[i] for i in at.tolist()], object))
    if not found:
        unused.append("--host-names (names no address of these ASes)")
    return Names(of_ases, of_hosts, reports, unused)


def _read_if_usable(
    path: Path, kind: str, read: Callable[[Path, ReadReport], _Table]
) -> tuple[_Table | None, ReadReport]:
    report = ReadReport(printable_path(path), kind)
    try:
        return read(path, report), report
    except FormatError as error:
        report.status, report.error = "rejected", str(error)
    except OSError as error:
        report.status, report.error = "rejected", f"{path}: {error.strerror}"
    return None, report
