"""Two inferences of one network: owners and routers that agree, counted by hand."""

from __future__ import annotations

import numpy as np

from pipeline.graphs import build_graphs
from pipeline.infer.declared import declare
from pipeline.model.topology import Topology
from pipeline.stages.nights.inferences import agreement
from pipeline.store import open_snapshot
from tests.addresses import parse_addrs
from tests.unit.pipeline.store.snapshots import write


def snapshot(folder, name, nodes):
    """``nodes``: AS and addresses of each router; they are linked in a row."""
    texts = [(text, i) for i, (_, addrs) in enumerate(nodes) for text in addrs]
    addrs = parse_addrs([text for text, _ in texts])
    node = np.array([i for _, i in texts])
    order = np.lexsort((addrs[:, 1], addrs[:, 0]))
    topology = Topology(
        node_asn=np.array([asn for asn, _ in nodes]),
        near=np.arange(len(nodes) - 1),
        far=np.arange(1, len(nodes)),
        node_addr=parse_addrs([addrs[0] for _, addrs in nodes]),
        addrs=addrs[order],
        addr_node=node[order],
    )
    write(folder, name, build_graphs([declare(topology, asn=None, ingresses=None)]))
    return open_snapshot(folder, name)


def test_owners_and_routers_are_counted_by_common_addresses(tmp_path):
    old = [(1, ["20.0.0.1", "20.0.0.2"]), (1, ["20.0.0.3"]), (2, ["20.0.0.4"]), (2, ["20.0.0.9"])]
    new = [(1, ["20.0.0.1"]), (1, ["20.0.0.2"]), (3, ["20.0.0.3", "20.0.0.8"]), (2, ["20.0.0.4"])]
    private = [(2, ["192.168.0.1"])]
    found = agreement(
        snapshot(tmp_path, "a", old + private), snapshot(tmp_path, "b", new + private)
    )
    assert found == {"addresses": 4, "same_as": 3, "routers": 3, "same_routers": 2}


def test_a_snapshot_agrees_with_itself(tmp_path):
    nodes = [(1, ["20.0.0.1", "20.0.0.2"]), (2, ["2600::1"])]
    same = snapshot(tmp_path, "a", nodes)
    assert agreement(same, same) == {
        **{"addresses": 3, "same_as": 3},
        **{"routers": 2, "same_routers": 2},
    }
