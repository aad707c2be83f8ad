"""Tables about addresses and ASes that are read beside the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pipeline.config import IngestConfig
from pipeline.errors import UsageError
from pipeline.graphs.light import check_light
from pipeline.ingest.tables import (
    ALIASES,
    AS_NAMES,
    DELEGATIONS,
    EXCHANGES,
    HOST_NAMES,
    LOCATIONS,
    NAME_RULES,
    ORGANISATIONS,
    PREFIXES,
    RELATIONSHIPS,
    Table,
)
from pipeline.model.addresses import unique_addrs
from pipeline.model.graphs import GraphSet
from pipeline.model.measured.host_names import HostNames
from pipeline.model.measured.locations import Locations
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.aliases import AliasTable
from pipeline.model.tables.named_owners import NamedOwners, NameRules, words_of_ases
from pipeline.model.tables.prefixes import PrefixTable
from pipeline.model.tables.registries import Registries
from pipeline.model.words import number

_Held = TypeVar("_Held")


@dataclass(frozen=True, eq=False)
class Tables:
    """What traces are interpreted with, and how reading each file went.

    ``prefixes``, ``aliases``, ``name_rules``: None where no file was given. ``read``: by option,
    ``--as-rel``.
    """

    prefixes: PrefixTable | None
    aliases: AliasTable | None
    registries: Registries
    read: dict[str, list[ReadReport]]
    name_rules: NameRules | None = None

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

    def take(table: Table[_Held]) -> _Held | None:
        paths = _given(config, table)
        if not paths:
            return None
        found, read[table.flag] = table.read_files(paths)
        if needed and all(report.status == "rejected" for report in read[table.flag]):
            raise UsageError("; ".join(report.error for report in read[table.flag]))
        return found

    prefixes, aliases = take(PREFIXES), take(ALIASES)
    registries = Registries(
        take(RELATIONSHIPS), take(ORGANISATIONS), take(DELEGATIONS), take(EXCHANGES)
    )
    return Tables(prefixes, aliases, registries, read, take(NAME_RULES))


def _given(config: IngestConfig, table: Table[Any]) -> Sequence[Path]:
    """The files of one option."""
    given = getattr(config, table.option)
    return [given] if isinstance(given, Path) else given or ()


def files_text(reports: Sequence[ReadReport]) -> str:
    """The files of one option that could be used, one at least, and how many records they have."""
    used = _usable(reports)
    more = f" and {number(len(used) - 1, 'more file')}" if len(used) > 1 else ""
    return f"{used[0].path}{more}, {number(sum(report.n_records for report in used), 'record')}"


def _usable(reports: Sequence[ReadReport]) -> list[ReadReport]:
    return [report for report in reports if report.status != "rejected"]


@dataclass(frozen=True, eq=False)
class Hosts:
    """Host names of some addresses, and how reading each file went."""

    names: HostNames
    reports: list[ReadReport]


def read_hosts(config: IngestConfig, addrs: np.ndarray) -> Hosts:
    """Host names of addresses, (n, 2) uint64, distinct; the last of several files counts."""
    found, reports = HOST_NAMES.read_files(config.host_names, addrs)
    at = np.array(sorted(found), np.int64)
    names = HostNames(addrs[at], np.array([found[i] for i in at.tolist()], object))
    return Hosts(names, reports)


def read_named(config: IngestConfig, tables: Tables, hosts: Hosts) -> NamedOwners | None:
    """What host names say by rules, if files with rules were given."""
    if tables.name_rules is None:
        return None
    known = [] if tables.registries.organisations is None else [tables.registries.organisations]
    of_ases = [each.as_names for each in known]
    if paths := _given(config, AS_NAMES):
        of_ases.append(AS_NAMES.read_files(paths)[0])
    return NamedOwners.read(hosts.names, tables.name_rules, words_of_ases(*of_ases))


@dataclass(frozen=True, eq=False)
class Places:
    """Where addresses are, and how reading each file went; ``unused`` as of ``Names``."""

    of_addrs: Locations | None
    reports: list[ReadReport]
    unused: list[str]


def read_places(config: IngestConfig, graphs: GraphSet, hosts: HostNames | None) -> Places:
    """Where addresses of graphs and vantage points are, if files were given.

    ``--aliases`` says which addresses a node of an ITDK has, unless a file of places does. A run
    does not fail if a file cannot be used.
    """
    if not config.locations:
        return Places(None, [], [])
    columns = [each for each in (graphs.addrs, graphs.node_addr) if each is not None][:1]
    if graphs.observations is not None:
        seen = graphs.observations.vantages
        columns.append(np.stack([seen.addr_high, seen.addr_low], axis=1))
    addrs = unique_addrs(columns)
    nodes = _given(config, ALIASES)
    found, reports = LOCATIONS.read_files([*config.locations, *nodes], addrs, hosts)
    reports = reports[: len(config.locations)]  # that of aliases is of another option
    unused = []
    if not len(found) and _usable(reports):
        has = f"has 0 of {number(len(addrs), 'address')}"
        unused.append(f"--locations ({has}: {files_text(reports)})")
    return Places(check_light(found, graphs), reports, unused)


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


def read_names(config: IngestConfig, graphs: GraphSet, hosts: Hosts | None = None) -> Names:
    """Names for some graphs, if files were given; a run does not fail if one cannot be used.

    ``hosts``: of all observed addresses, if they were read already.
    """
    of_ases: dict[int, str] = {}
    reports: list[ReadReport] = []
    unused = []
    if paths := _given(config, AS_NAMES):
        of_ases, reports = AS_NAMES.read_files(paths)
        if _usable(reports) and of_ases.keys().isdisjoint(graphs.asn.tolist()):
            unused.append(
                f"--as-names (names 0 of {number(graphs.n_ases, 'AS')}: {files_text(reports)})"
            )
    if not config.host_names:
        return Names(of_ases, None, reports, unused)
    columns = [each for each in (graphs.addrs, graphs.node_addr) if each is not None]
    addrs = unique_addrs(columns[:1])
    hosts = hosts or read_hosts(config, addrs)
    of_files = hosts.reports
    if not columns:  # the files are read all the same: one that cannot be used is named
        return Names(of_ases, None, reports + of_files, unused)
    of_hosts = hosts.names.among(addrs)
    if not len(of_hosts) and _usable(of_files):  # others are reported as rejected
        named = f"names 0 of {number(len(addrs), 'address')}"
        unused.append(f"--host-names ({named}: {files_text(of_files)})")
    return Names(of_ases, of_hosts, reports + of_files, unused)
