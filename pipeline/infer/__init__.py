"""Inference of routers, links, ASes and ingresses from traces."""

from pipeline.infer.owners.ip2as import PrefixTable, read_pfx2as
from pipeline.infer.routers.aliases import AliasTable, read_aliases
from pipeline.infer.topology import infer_topology
from pipeline.infer.traces.observer import Observation, Observer

__all__ = [
    "AliasTable",
    "Observation",
    "Observer",
    "PrefixTable",
    "infer_topology",
    "read_aliases",
    "read_pfx2as",
]
