"""Hypothesis: topologies of several ASes with loops, parallel links and nodes of no AS."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from pipeline.model.topology import NO_ASN, ExitTable, IngressTable, Topology


@st.composite
def topologies(draw, asns=(7, 11, 300, 2**32 - 1), max_nodes=24, max_links=60, ids=None):
    """A topology whose nodes belong to some of ``asns`` or to none."""
    n = draw(st.integers(0, max_nodes))
    asn = draw(st.lists(st.sampled_from([NO_ASN, *asns]), min_size=n, max_size=n))
    node = st.integers(0, n - 1) if n else st.nothing()
    links = draw(st.lists(st.tuples(node, node), max_size=max_links)) if n else []
    weight = st.sampled_from([np.nan, 0.5, 1.0, 2.0])
    weights = draw(st.none() | st.lists(weight, min_size=len(links), max_size=len(links)))
    ingress = sorted(draw(st.sets(node, max_size=5))) if n else []
    neighbors = draw(
        st.lists(
            st.lists(st.integers(0, 5), unique=True, max_size=3).map(sorted),
            min_size=len(ingress),
            max_size=len(ingress),
        )
    )
    with_ids = draw(st.booleans()) if ids is None else ids
    return Topology(
        node_asn=np.array(asn, np.int64),
        near=np.array([a for a, _ in links], np.int64),
        far=np.array([b for _, b in links], np.int64),
        node_addr=None if with_ids else np.arange(2 * n, dtype=np.uint64).reshape(n, 2) + 1,
        node_id=np.arange(n, dtype=np.int64) * 10 if with_ids else None,
        weight=None if weights is None else np.array(weights, np.float32),
        weight_unit="" if weights is None else "ms",
        node_columns={"x": np.arange(n) * 0.5, "type": np.array(["RT"] * n, dtype=str)},
        link_columns={"number": np.arange(len(links), dtype=np.int64)},
        ingresses=IngressTable(
            node=np.array(ingress, np.int64),
            neighbor_ptr=np.cumsum([0, *map(len, neighbors)]).astype(np.int64),
            neighbor_asn=np.array([a for row in neighbors for a in row], np.int64),
            n_direct=np.array(ingress, np.int64) + 3,
            n_after_gap=np.array(ingress, np.int64) * 2,
            candidate=np.array(ingress, np.int64) % 2 == 0,
            neighbor_n_direct=np.arange(sum(map(len, neighbors))),
        ),
        exits=ExitTable(
            node=np.array(ingress, np.int64),
            neighbor_asn=np.array(ingress, np.int64) + 1,
            n_traces=np.array(ingress, np.int64) + 2,
        ),
        counts={"n_loops_seen": 2},
    )
