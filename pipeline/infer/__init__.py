"""Inference of routers, links, ASes and ingresses from traces."""

from pipeline.infer.owners.ip2as import PrefixTable, read_pfx2as
from pipeline.infer.registries import Registries
from pipeline.infer.registries.delegations import read_delegations
from pipeline.infer.registries.exchanges import read_exchanges
from pipeline.infer.registries.organisations import read_organisations
from pipeline.infer.registries.relationships import read_relationships
from pipeline.infer.routers.aliases import AliasTable, read_aliases
from pipeline.infer.topology import infer_topology
from pipeline.infer.traces.observer import Observation, Observer

__all__ = [
    "AliasTable",
    "Observation",
    "Observer",
    "PrefixTable",
    "Registries",
    "infer_topology",
    "read_aliases",
    "read_delegations",
    "read_exchanges",
    "read_organisations",
    "read_pfx2as",
    "read_relationships",
]
