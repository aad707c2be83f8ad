"""Tables about addresses and ASes that are read beside the inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from pipeline.config import IngestConfig
from pipeline.errors import FormatError, UsageError
from pipeline.infer import AliasTable, PrefixTable, Registries
from pipeline.ingest.opening import hash_file, table_blocks
from pipeline.ingest.tables import (
    read_aliases,
    read_delegations,
    read_exchanges,
    read_organisations,
    read_pfx2as,
    read_relationships,
)
from pipeline.ingest.tables.as_names import read_as_names
from pipeline.ingest.tables.host_names import read_host_names
from pipeline.model.addresses import unique_addrs
from pipeline.model.graphs import GraphSet
from pipeline.model.measured.host_names import HostNames
from pipeline.model.measured.reading import ReadReport, printable_path
from pipeline.model.words import number

_Table = TypeVar("_Table")


@dataclass(frozen=True, eq=False)
class Tables:
    """What traces are interpreted with, and how reading each file went.

    ``prefixes``, ``aliases``: None where no file was given. ``read``: by option, ``--as-rel``.
    """

    prefixes: PrefixTable | None
    aliases: AliasTable | None
    registries: Registries
    read: dict[str, list[ReadReport]]

    @property
    def reports(self) -> list[ReadReport]:
        """Of all files."""
        return [report for each in self.read.values() for report in each]

    @property
    def faulty_prefix_tables(self) -> list[ReadReport]:
        """Those of ``--ip2as`` that were not read, or not to their ends."""
        return [report for report in self.read.get("--ip2as", ()) if report.status != "ok"]


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
    read: dict[str, list[ReadReport]] = {}
    prefixes = aliases = relationships = organisations = delegations = exchanges = None

    def refuse_unusable(flag: str, reports: list[ReadReport]) -> None:
        read[flag] = reports
        if needed and all(report.status == "rejected" for report in reports):
            raise UsageError("; ".join(report.error for report in reports))

    def read_one(
        flag: str, path: Path, kind: str, reader: Callable[[Iterable[bytes], ReadReport], _Table]
    ) -> _Table:
        report = ReadReport(printable_path(path), kind)
        with closing(table_blocks(path, report)) as blocks:
            table = reader(blocks, report)
        refuse_unusable(flag, [report])
        return table

    def read_several(
        flag: str,
        paths: Sequence[Path],
        kind: str,
        reader: Callable[[Sequence[Iterable[bytes]], Sequence[ReadReport]], _Table],
    ) -> _Table:
        each = [ReadReport(printable_path(path), kind) for path in paths]
        with ExitStack() as opened:  # each is opened when its first block is read
            files = map(closing, map(table_blocks, paths, each))
            table = reader([opened.enter_context(file) for file in files], each)
        refuse_unusable(flag, each)
        return table

    if config.ip2as:
        prefixes = read_several("--ip2as", config.ip2as, "pfx2as", read_pfx2as)
    if config.aliases:
        aliases = read_one("--aliases", config.aliases, "", read_aliases)  # recognised by content
    if config.as_rel:
        relationships = read_one("--as-rel", config.as_rel, "as-rel", read_relationships)
    if config.as2org:
        organisations = read_one("--as2org", config.as2org, "as2org", read_organisations)
    if config.delegated:
        delegations = read_several("--delegated", config.delegated, "delegated", read_delegations)
    if config.ixp:
        exchanges = read_several("--ixp", config.ixp, "exchange points", read_exchanges)
    registries = Registries(relationships, organisations, delegations, exchanges)
    return Tables(prefixes, aliases, registries, read)


def files_text(reports: Sequence[ReadReport]) -> str:
    """The files of one option that could be used, one at least, and how many records they have."""
    used = _usable(reports)
    more = f" and {number(len(used) - 1, 'more file')}" if len(used) > 1 else ""
    return f"{used[0].path}{more}, {number(sum(report.n_records for report in used), 'record')}"


def _usable(reports: Sequence[ReadReport]) -> list[ReadReport]:
    return [report for report in reports if report.status != "rejected"]


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
        if report.status != "rejected" and of_ases.keys().isdisjoint(graphs.asn.tolist()):
            unused.append(
                f"--as-names (names 0 of {number(graphs.n_ases, 'AS')}: {files_text([report])})"
            )
    columns = [each for each in (graphs.addrs, graphs.node_addr) if each is not None]
    if not config.host_names:
        return Names(of_ases, None, reports, unused)
    addrs = unique_addrs(columns[:1])
    of_files: list[ReadReport] = []
    for path in config.host_names:
        names, report = _read_if_usable(
            path, "host-names", lambda path, report: read_host_names(path, addrs, report)
        )
        found |= names or {}
        of_files.append(report)
    if not columns:  # the files are read all the same: one that cannot be used is named
        return Names(of_ases, None, reports + of_files, unused)
    at = np.array(sorted(found), np.int64)
    of_hosts = HostNames(addrs[at], np.array([found[i] for i in at.tolist()], object))
    if not found and _usable(of_files):  # others are reported as rejected
        named = f"names 0 of {number(len(addrs), 'address')}"
        unused.append(f"--host-names ({named}: {files_text(of_files)})")
    return Names(of_ases, of_hosts, reports + of_files, unused)


def _read_if_usable(
    path: Path, kind: str, read: Callable[[Path, ReadReport], _Table]
) -> tuple[_Table | None, ReadReport]:
    report = ReadReport(printable_path(path), kind)
    try:
        return read(path, report), report
    except (FormatError, OSError) as error:
        report.refuse(error)
        hash_file(path, report)
    return None, report
