"""A small snapshot with unusual ASes, and its results by SciPy."""

from __future__ import annotations

import contextlib

import dask
import numpy as np

from pipeline.config import AnalyzeConfig
from pipeline.graphs import build_graphs
from pipeline.model.topology import IngressTable, Topology
from pipeline.store import open_snapshot, write_snapshot
from tests.oracles.paths import bfs_levels

LARGE = 70  # this AS has more ingresses than a sweep has lanes


def topology(asn, n_nodes, links, ingresses, candidates=()):
    nodes = np.array(sorted({*ingresses, *candidates}), np.int64)
    near, far = np.array(links, np.int64).reshape(-1, 2).T
    n = len(nodes)
    return Topology(
        node_asn=np.full(n_nodes, asn, np.int64),
        node_id=np.arange(n_nodes, dtype=np.int64),
        near=near,
        far=far,
        ingresses=IngressTable(
            node=nodes,
            neighbor_ptr=np.zeros(n + 1, np.int64),
            neighbor_asn=np.empty(0, np.int64),
            n_direct=np.ones(n, np.int64),
            n_after_gap=np.zeros(n, np.int64),
            candidate=np.isin(nodes, candidates),
        ),
    )


def random_links(n_nodes, seed):
    """A tree with shortcuts: connected, shallow, different for each seed."""
    rng = np.random.default_rng(seed)
    new = np.arange(1, n_nodes)
    tree = np.stack([new, (rng.random(n_nodes - 1) ** 2 * new).astype(int)], axis=1)
    return np.concatenate([tree, rng.integers(0, n_nodes, (n_nodes // 2, 2))])


def path_links(n_nodes):
    return [(i, i + 1) for i in range(n_nodes - 1)]


def make_snapshot(store):
    ases = [
        topology(10, 6, path_links(6), [0, 2]),
        topology(20, 6, path_links(6), [0, 5]),  # the graph of AS10, searched from elsewhere too
        topology(30, 300, random_links(300, 1), range(0, 90, 10)),
        topology(40, 1, [], [0]),
        topology(50, 7, [*path_links(5), (4, 0), (5, 6)], [3], candidates=[5]),
        topology(60, 40, random_links(40, 2), []),
        topology(LARGE, 5000, random_links(5000, 3), range(150)),
        topology(80, 30, [(0, i) for i in range(1, 30)], [0, 1, 29]),
    ]
    write_snapshot(
        store,
        "small",
        build_graphs(ases),
        as_names={},
        inputs=[],
        options={},
        counts={},
        rejects=[],
    )
    return open_snapshot(store)


def config_for(snapshot, out, **options):
    options = {"dashboard": "127.0.0.1:0"} | options
    return AnalyzeConfig(store=snapshot.path, out=out, **options)


def same(found, wanted):
    """Fail at the first part of a report, by its name, that is not as wanted."""
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        assert found[name] == value, name


@contextlib.contextmanager
def credentials_of(cluster):
    """Settings of a user who joins one of our clusters with ``--scheduler tls://``."""
    role = cluster.client.security.get_tls_config_for_role("client")
    with dask.config.set(
        {
            "distributed.comm.tls.ca-file": role["ca_file"],
            "distributed.comm.tls.client.cert": role["cert"],
            "distributed.comm.tls.client.key": role["key"],
        }
    ):
        yield


def expected(snapshot, asns=()):
    """(asn, source, n_reached, eccentricity, hop counts, farthest) of every ingress, by SciPy."""
    wanted = []
    for row, asn in enumerate(snapshot.asn.tolist()):
        if asns and asn not in asns:
            continue
        ingresses = snapshot.ingresses(np.array([row]))
        sources = ingresses.node[~ingresses.candidate].tolist()
        for source, level in zip(sources, bfs_levels(snapshot.graph(row), sources), strict=True):
            counts = np.bincount(level[level >= 0]).tolist()
            last = len(counts) - 1
            farthest = np.flatnonzero(level == last)[:10].tolist()
            wanted.append((asn, source, sum(counts), last, counts, farthest))
    return wanted


def measured(snapshot, measurement):
    """The same of a Measurement, in its order."""
    r = measurement.results
    return [
        (
            int(snapshot.asn[r.row[i]]),
            int(r.source[i]),
            int(r.n_reached[i]),
            int(r.eccentricity[i]),
            r.hop_counts[r.hop_ptr[i] : r.hop_ptr[i + 1]].tolist(),
            r.farthest[r.farthest_ptr[i] : r.farthest_ptr[i + 1]].tolist(),
        )
        for i in range(len(r.source))
    ]
