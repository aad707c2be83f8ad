"""Readers of tables about addresses and ASes."""

from pipeline.ingest.tables.aliases import read_aliases
from pipeline.ingest.tables.delegations import read_delegations
from pipeline.ingest.tables.exchanges import read_exchanges
from pipeline.ingest.tables.organisations import read_organisations
from pipeline.ingest.tables.pfx2as import read_pfx2as
from pipeline.ingest.tables.relationships import read_relationships

__all__ = [
    "read_aliases",
    "read_delegations",
    "read_exchanges",
    "read_organisations",
    "read_pfx2as",
    "read_relationships",
]
