"""What is inferred in a laboratory against its truth, by the figures of ``pipeline.judge``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from pipeline import judge
from pipeline.infer import Observation, Registries, infer_topology
from pipeline.judge import Score, Truth, Visible, find_visible
from pipeline.judge.outputs.output import Output, topology_of_output
from pipeline.model.topology import Topology
from tests.addresses import parse_addrs
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
    asn = np.fromiter(owners.values(), np.int64, len(owners))
    output = Output.of_addresses("owners", parse_addrs(owners), asn)
    topology = topology_of_output(output, lab.observations)
    return score(topology, lab.truth, lab.observations, lab.visible)


def score_lab(folder: Path, scratch: Path, **options) -> Score:
    """Read, infer and compare one laboratory; see ``judge_lab`` for the options."""
    return judge_lab(read_lab(folder, scratch), **options)
