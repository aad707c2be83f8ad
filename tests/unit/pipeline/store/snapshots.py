"""Small snapshots for the tests of the store."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pipeline.graphs import build_graphs
from pipeline.model.columns.ragged import offsets
from pipeline.model.graphs import GraphSet
from pipeline.model.measured.delays import Delays
from pipeline.model.topology import ExitTable, IngressTable, Topology
from pipeline.store import write_snapshot


def some_graphs(n_ases: int = 6, nodes_each: int = 40, seed: int = 1) -> GraphSet:
    """ASes 10, 20, ... with addresses, ids, weights, optional columns, ingresses and borders."""
    rng = np.random.default_rng(seed)
    n = n_ases * nodes_each
    n_links = 4 * n
    near = rng.integers(0, n, n_links)
    within = near // nodes_each * nodes_each + rng.integers(0, nodes_each, n_links)
    far = np.where(rng.random(n_links) < 0.9, within, rng.integers(0, n, n_links))
    ingress = np.arange(0, n - 1, 7)
    return build_graphs(
        [
            Topology(
                node_asn=np.repeat(np.arange(n_ases) * 10 + 10, nodes_each),
                near=near,
                far=far,
                node_addr=np.arange(2 * n, dtype=np.uint64).reshape(n, 2) + 1,
                node_id=np.arange(n) * 3,
                weight=rng.random(n_links).astype(np.float32),
                weight_unit="ms",
                node_columns={"x": rng.random(n), "type": np.array(["RT", "BORDER"])[near[:n] % 2]},
                link_columns={"bandwidth": rng.integers(1, 9, n_links).astype(np.int32)},
                ingresses=IngressTable(
                    ingress,
                    np.arange(len(ingress) + 1) * 2,
                    np.tile([3, 4], len(ingress)),
                    ingress + 1,
                    ingress * 2,
                    ingress % 2 == 1,
                    neighbor_ixp=np.tile(np.array(["FIX", ""], object), len(ingress)),
                    neighbor_n_direct=np.arange(2 * len(ingress)),
                ),
                exits=ExitTable(ingress[::-1] + 1, ingress % 3, ingress + 5),
            )
        ]
    )


def some_delays(n: int) -> Delays:
    """Of ``n`` ingresses; every third has none."""
    has = np.arange(n) % 3 > 0
    ptr = offsets(has * (np.arange(n) % 4 + 1))
    by_ttl = np.where(np.arange(ptr[-1]) % 2, np.nan, np.arange(ptr[-1]) - 2).astype(np.float32)
    ms = np.where(has, np.arange(n) - 3.5, np.nan).astype(np.float32)
    counts = (has * (np.arange(n) + 1)).astype(np.int64)
    n_by_ttl = np.where(np.isnan(by_ttl), 0, 1)
    return Delays(ms, ms - 1, ms + 1, counts, counts, 0 * counts, ptr, by_ttl, n_by_ttl)


def write(store: Path, name: str = "a", graphs: GraphSet | None = None, **more) -> Path:
    """``write_snapshot`` with defaults for most."""
    said = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    return write_snapshot(store, name, graphs or some_graphs(), **(said | more))
