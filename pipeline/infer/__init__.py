"""Inference of routers, links, ASes and ingresses from traces."""

from pipeline.infer.topology import infer_topology
from pipeline.infer.traces.observer import Observation, Observer
from pipeline.model.tables.aliases import AliasTable
from pipeline.model.tables.prefixes import PrefixTable
from pipeline.model.tables.registries import Registries

__all__ = [
    "AliasTable",
    "Observation",
    "Observer",
    "PrefixTable",
    "Registries",
    "infer_topology",
]
