"""Readers of tables about addresses and ASes. To add a table: one module here, one row in TABLES.

A reader takes the blocks of opened files and a report for each, which it fills: what was used as
``n_records``, broken lines by reason. Nothing is raised for a file: one that cannot be read, is cut
short or holds nothing of its kind has status ``rejected`` or ``partial`` and says why in ``error``.
Readers do not know one another; what they return is a type of ``model.tables``, or a dict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pipeline.ingest.opening import table_blocks
from pipeline.ingest.tables.aliases import read_aliases
from pipeline.ingest.tables.as_names import read_as_names
from pipeline.ingest.tables.delegations import read_delegations
from pipeline.ingest.tables.exchanges import read_exchanges
from pipeline.ingest.tables.host_names import read_host_names
from pipeline.ingest.tables.lines import Blocks
from pipeline.ingest.tables.locations import read_locations
from pipeline.ingest.tables.name_rules import read_name_rules
from pipeline.ingest.tables.organisations import read_organisations
from pipeline.ingest.tables.prefixes import read_prefixes
from pipeline.ingest.tables.relationships import read_relationships
from pipeline.model.measured.reading import ReadReport, printable_path

_Held = TypeVar("_Held")


@dataclass(frozen=True)
class Table(Generic[_Held]):
    """One kind of table.

    Attributes
    ----------
    option : str
        Of ``hopscope ingest``, as a name of Python: ``as_rel``.
    format : str
        What reports call it; empty: its reader says, by the content.
    read : callable
        (blocks of each file, report of each file, ...) -> what they hold.
    """

    option: str
    format: str
    read: Callable[..., _Held]

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return "--" + self.option.replace("_", "-")

    def read_files(self, paths: Sequence[Path], *more: Any) -> tuple[_Held, list[ReadReport]]:
        """What some files hold, and how reading each went; each is opened at its first block."""
        reports = [ReadReport(printable_path(path), self.format) for path in paths]
        with ExitStack() as opened:
            files = [
                opened.enter_context(closing(each)) for each in map(table_blocks, paths, reports)
            ]
            return self.read(files, reports, *more), reports


def _of_one(
    read: Callable[[Blocks, ReadReport], _Held],
) -> Callable[[Sequence[Blocks], Sequence[ReadReport]], _Held]:
    """A reader of one file as one of several."""

    def read_one(files: Sequence[Blocks], reports: Sequence[ReadReport]) -> _Held:
        (blocks,), (report,) = files, reports
        return read(blocks, report)

    return read_one


PREFIXES = Table("ip2as", "pfx2as", read_prefixes)
ALIASES = Table("aliases", "", _of_one(read_aliases))
RELATIONSHIPS = Table("as_rel", "as-rel", _of_one(read_relationships))
ORGANISATIONS = Table("as2org", "as2org", _of_one(read_organisations))
DELEGATIONS = Table("delegated", "delegated", read_delegations)
EXCHANGES = Table("ixp", "exchange points", read_exchanges)
AS_NAMES = Table("as_names", "as-names", _of_one(read_as_names))
HOST_NAMES = Table("host_names", "host-names", read_host_names)
NAME_RULES = Table("name_rules", "name rules", read_name_rules)
LOCATIONS = Table("locations", "", read_locations)
TABLES: tuple[Table[Any], ...] = (
    PREFIXES,
    ALIASES,
    RELATIONSHIPS,
    ORGANISATIONS,
    DELEGATIONS,
    EXCHANGES,
    AS_NAMES,
    HOST_NAMES,
    NAME_RULES,
    LOCATIONS,
)
