"""Options that change nothing for the inputs that they were given with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.config import IngestConfig
from pipeline.infer import Registries
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.organisations import UNKNOWN
from pipeline.model.topology import NO_ASN, Topology
from pipeline.model.words import number
from pipeline.places.command_lines import command_line
from pipeline.stages.inputs.tables import Tables, files_text


def without_effect(
    config: IngestConfig,
    tables: Tables,
    topologies: Sequence[Topology],
    reports: Sequence[ReadReport],
    asns: np.ndarray,
) -> list[str]:
    """Options without effect on inputs of the kind that they are for, each with the reason.

    Parameters
    ----------
    config : IngestConfig
    tables : Tables
    topologies : sequence of Topology
        Inferred from traces, and of files.
    reports : sequence of ReadReport
        Of all inputs.
    asns : (n_ases,) int64
        ASes of their graphs.
    """
    observed = [topology for topology in topologies if topology.addrs is not None]
    declared = [topology for topology in topologies if topology.addrs is None]
    unused = _unmatched(config, tables, observed, asns) if observed else []
    takes_asn = (observed and not config.ip2as) or any(report.took_asn for report in reports)
    if config.asn is not None and not takes_asn:
        unused.append(
            f"--asn {config.asn} (only for inputs that name no AS, and all do; to measure one AS: "
            f"{command_line('analyze', '--asn', config.asn, store=config.store)})"
        )
    n_drawn = sum(topology.counts.get("ingresses_drawn", 0) for topology in declared)
    if config.ingresses is not None and declared and not n_drawn:
        unused.append(
            f"--ingresses {config.ingresses} (only for ASes without an ingress, and all have some)"
        )
    return unused


def _unmatched(
    config: IngestConfig, tables: Tables, observed: Sequence[Topology], asns: np.ndarray
) -> list[str]:
    """Options that say nothing about traces, whose topologies are given."""
    addrs = np.concatenate([np.empty((0, 2), np.uint64), *(t.addrs for t in observed)])
    known = tables.registries
    off = _without_election(config, known) if config.borders == "prefix" else []
    none = [f"{', '.join(off)} (only where borders are elected)"] if off else []
    n_ases, n_addrs = number(len(asns), "AS"), f"{number(len(addrs), 'address')} of routers"

    def add(flag: str, has: str) -> None:
        none.append(f"{flag} ({has}: {files_text(tables.read[flag])})")

    if tables.aliases is not None and not (tables.aliases.routers_of(addrs) >= 0).any():
        add("--aliases", f"has 0 of {n_addrs}")
    related = known.relationships
    held = None if "--delegated" in off else known.delegations
    if related is not None and not related.lists(asns).any():
        add("--as-rel", f"names 0 of {n_ases}")
    if known.organisations is not None and (known.organisations.of(asns) == UNKNOWN).all():
        add("--as2org", f"names 0 of {n_ases}")
    if held is not None and (held.holders_of(addrs) == NO_ASN).all():
        add("--delegated", f"its blocks have 0 of {n_addrs}")
    n_named = sum(topology.counts.get("addresses_named", 0) for topology in observed)
    if tables.name_rules is not None and "--name-rules" not in off and not n_named:
        add("--name-rules", f"read an AS in the names of 0 of {n_addrs}")
    shares = [t.mapped for t in observed if t.mapped is not None]
    if known.exchanges is not None and not sum(share.n_on_lan for share in shares):
        n_answered = sum(share.n_addrs for share in shares)
        add("--ixp", f"its LANs have 0 of {number(n_answered, 'address')}")
    return none


def _without_election(config: IngestConfig, known: Registries) -> list[str]:
    """Options that were given and that only an election of borders uses.

    Not ``--as2org`` and ``--as-rel``: what two linked ASes are to each other is shown in any case.
    """
    unused = {
        "--delegated": known.delegations is not None,
        "--name-rules": bool(config.name_rules),
        "--routers inferred": config.routers == "inferred",
    }
    return [flag for flag, is_unused in unused.items() if is_unused]
