"""A model for tests: a ring of routers of no AS."""

from __future__ import annotations

import numpy as np

from pipeline.model.synthetic import Parameters
from pipeline.model.topology import NO_ASN, Topology


def make(given: Parameters) -> Topology:
    ids = np.arange(given.n_routers)
    return Topology(
        node_asn=np.full(len(ids), NO_ASN, np.int64), node_id=ids, near=ids, far=np.roll(ids, -1)
    )
