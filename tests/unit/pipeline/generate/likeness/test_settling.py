"""Exchanges of ends bring hops to landmarks back, and keep joint degrees."""

from __future__ import annotations

import networkx as nx
import numpy as np

from pipeline.generate.likeness.law import components_of, law_of
from pipeline.generate.likeness.levels import cost_of
from pipeline.generate.likeness.linking import link
from pipeline.generate.likeness.plan import plan_of
from pipeline.generate.likeness.settling import settle
from tests.unit.pipeline.generate.likeness.originals import graph_of, joint_degrees, shard_of


def test_levels_hold_after_settling_and_joint_degrees_stay():
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(14, 14))
    shard = shard_of(graph)
    parts = components_of(shard)
    degree = np.diff(shard.indptr)
    law = law_of(shard, parts, np.zeros(196, bool), degree, np.ones(1, bool))  # kinds only
    plan = plan_of(law, np.zeros(1, np.int64), parts.size, {})
    indptr, indices, _ = link(plan, 1, 0)
    before = cost_of(indptr, indices, plan.level)
    settle(plan, indptr, indices, 1, 0)
    assert cost_of(indptr, indices, plan.level) < 0.1 * before
    assert joint_degrees(graph_of(indptr, indices)) == joint_degrees(graph)
