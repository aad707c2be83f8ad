"""What is inferred in a laboratory against its truth, by the figures of ``pipeline.judge``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pipeline import judge
from pipeline.infer import Observation, Registries, infer_topology
from pipeline.infer.ingresses import find_ingresses
from pipeline.infer.traces.passes import Spools
from pipeline.judge import Score, Truth, Visible, find_visible
from pipeline.model.topology import NO_ASN, Topology
from tests.addresses import format_addrs
from tests.oracles.truth.laboratory import LAB_RANGES, Laboratory, read_lab


def score(
    topology: Topology,
    truth: Truth,
    observations: Sequence[Observation],
    visible: Visible | None = None,
) -> Score:
    """Compare a topology with the truth; ``visible`` is found in the observations unless given."""
    return judge.score(topology, truth, visible or find_visible(truth, observations))


def infer_lab(
    lab: Laboratory,
    *,
    true_alias_sets: bool = False,
    registries: Collection[str] = (),
    **options,
) -> Topology:
    """Infer the topology of a laboratory; options go to ``infer_topology``.

    ``registries``: fields of ``Registries`` whose files are used.
    """
    return infer_topology(
        lab.observations,
        prefixes=lab.prefixes,
        allow_special=LAB_RANGES,
        aliases=lab.aliases if true_alias_sets else None,
        registries=Registries(**{name: getattr(lab.registries, name) for name in registries}),
        **options,
    )


def judge_lab(lab: Laboratory, **options) -> Score:
    """Infer the topology of a laboratory and compare it; see ``infer_lab`` for the options."""
    return score(infer_lab(lab, **options), lab.truth, lab.observations, lab.visible)


def judge_owners(lab: Laboratory, owners: Mapping[str, int]) -> Score:
    """Compare another program's owners of addresses: one node per address, the same rules after."""
    plain = infer_topology(
        lab.observations, prefixes=lab.prefixes, allow_special=LAB_RANGES, borders="prefix"
    )
    assert plain.node_addr is not None
    asn = [owners.get(addr, NO_ASN) for addr in format_addrs(plain.node_addr)]
    node_asn = np.array(asn, np.int64)
    spools = Spools(lab.observations, plain.node_addr, 1)
    unknown = np.full(len(spools.vantages), NO_ASN)
    crossed = spools.read(find_ingresses(np.arange(plain.n_nodes), node_asn, unknown))
    topology = replace(plain, node_asn=node_asn, ingresses=crossed.ingresses)
    return score(topology, lab.truth, lab.observations, lab.visible)


def score_lab(folder: Path, scratch: Path, **options) -> Score:
    """Read, infer and compare one laboratory; see ``judge_lab`` for the options."""
    return judge_lab(read_lab(folder, scratch), **options)
