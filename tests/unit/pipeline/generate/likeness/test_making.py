"""An AS or an Internet like a measured one: the same on any number of threads, of any size."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from pipeline.cli import main
from pipeline.errors import UsageError
from pipeline.generate.likeness import clustering, making
from pipeline.generate.likeness.making import likeness_topology, make_likeness
from pipeline.generate.likeness.original import Original
from tests.unit.pipeline.generate.likeness.originals import original_of
from tests.unit.pipeline.store.snapshots import write


def internet(n_ases: int = 12, seed: int = 5) -> Original:
    """ASes of different sizes, linked as a Barabasi-Albert graph, some of them twice."""
    graphs = [nx.barabasi_albert_graph(20 + 9 * i, 2, seed=i) for i in range(n_ases)]
    first = np.cumsum([0, *map(len, graphs)])
    chosen = np.random.default_rng(seed)
    borders = set()
    for i, j in [*nx.barabasi_albert_graph(n_ases, 2, seed=seed).edges, (0, 1), (2, 5)]:
        i, j = sorted((i, j))
        borders.add((int(first[i] + chosen.integers(0, 9)), int(first[j] + chosen.integers(0, 9))))
    return original_of(
        *graphs, ingress=sorted({end for pair in borders for end in pair}), borders=sorted(borders)
    )


def as_degrees(near: np.ndarray, far: np.ndarray) -> list[int]:
    pairs = {tuple(sorted(pair)) for pair in zip(near.tolist(), far.tolist(), strict=True)}
    return sorted(Counter(end for pair in pairs for end in pair).values())


def arrays(graphs) -> list[np.ndarray]:
    return [value for value in vars(graphs).values() if isinstance(value, np.ndarray)]


def test_a_likeness_whose_links_end_at_other_routers_than_ingresses_is_readable(tmp_path, capsys):
    original = internet()
    graphs = make_likeness(replace(original, ingress=original.ingress[::3]), seed=3)
    ends = graphs.node_ptr[graphs.asn.searchsorted(graphs.border_near_asn)] + graphs.border_near
    assert len(graphs.ingress_node) < len(np.unique(ends))
    write(tmp_path / "store", "twin", graphs)
    for command in (["analyze", "--device", "cpu", "--out", str(tmp_path / "out")], ["doctor"]):
        with pytest.raises(SystemExit) as stopped:
            main([*command, "--store", str(tmp_path / "store")])
        assert stopped.value.code == 0, capsys.readouterr().err


def test_threads_that_share_one_as_give_the_same(monkeypatch):
    monkeypatch.setattr(clustering, "_FEW", 4)
    original = original_of(nx.powerlaw_cluster_graph(900, 3, 0.7, seed=3))
    one, three = (make_likeness(original, seed=3, n_threads=n) for n in (1, 3))
    assert one.graph_hash == three.graph_hash


@pytest.mark.parametrize("n_routers", [None, 4000])
def test_any_number_of_threads_gives_the_same(n_routers, monkeypatch):
    monkeypatch.setattr(making, "_BLOCK_NODES", 150)  # so that there are several blocks
    monkeypatch.setattr(clustering, "_FEW", 4)  # so that threads share the drawing of exchanges
    one, three = (
        make_likeness(internet(), n_routers=n_routers, seed=3, n_threads=n) for n in (1, 3)
    )
    assert one.graph_hash == three.graph_hash
    for mine, its in zip(arrays(one), arrays(three), strict=True):
        assert np.array_equal(mine, its)


def test_each_as_has_its_size_and_its_ingresses_and_links_its_number_of_ases():
    original = internet()
    graphs = make_likeness(original, seed=2)
    assert np.array_equal(graphs.asn, original.asn)
    assert np.array_equal(np.diff(graphs.node_ptr), original.sizes())
    was = np.bincount(original.rows_of(original.ingress), minlength=12)
    assert np.array_equal(np.diff(graphs.ingress_ptr), was)
    assert as_degrees(graphs.border_near_asn, graphs.border_far_asn) == as_degrees(
        original.rows_of(original.border_near), original.rows_of(original.border_far)
    )
    assert (graphs.component_count == 1).all()


def test_neighbours_of_ingresses_are_the_ases_at_the_other_ends():
    graphs = make_likeness(internet(), seed=2)
    row = np.searchsorted(graphs.ingress_ptr, np.arange(len(graphs.ingress_node)), side="right") - 1
    found = {
        (int(graphs.asn[row[i]]), int(graphs.ingress_node[i]), int(asn))
        for i in range(len(row))
        for asn in graphs.neighbor_asn[graphs.neighbor_ptr[i] : graphs.neighbor_ptr[i + 1]]
    }
    near, far = graphs.border_near_asn.tolist(), graphs.border_far_asn.tolist()
    ends = [graphs.border_near.tolist(), graphs.border_far.tolist()]
    assert found == {*zip(near, ends[0], far, strict=True), *zip(far, ends[1], near, strict=True)}


def test_more_ases_and_routers():
    graphs = make_likeness(internet(), n_routers=20_000, n_ases=60, seed=2)
    assert graphs.n_ases == 60
    assert graphs.asn.tolist() == list(range(1, 61))
    assert graphs.node_ptr[-1] == 20_000
    assert len({*graphs.border_near_asn.tolist(), *graphs.border_far_asn.tolist()}) > 50


def test_fewer_routers_than_ases_are_refused():
    with pytest.raises(UsageError, match="5 routers for 12 ASes: give --routers 12 or more"):
        make_likeness(internet(), n_routers=5)


def test_the_columns_of_a_file_are_those_graphs():
    graphs = make_likeness(internet(), seed=2)
    topology = likeness_topology(graphs)
    assert topology.n_nodes == graphs.node_ptr[-1]
    assert topology.n_links == len(graphs.indices) // 2 + len(graphs.border_near)
    near, far = topology.node_asn[topology.near], topology.node_asn[topology.far]
    assert (near != far).sum() == len(graphs.border_near)


def test_links_between_ases_end_at_other_routers_too_where_the_originals_do():
    """Of the routers at which links to other ASes end every second one is an ingress."""
    whole = internet()
    original = replace(whole, ingress=whole.ingress[::2])
    graphs = make_likeness(original, seed=4)
    assert len(graphs.border_near) == len(original.border_near)
    ends = {
        (asn, node)
        for asns, nodes in (
            (graphs.border_near_asn, graphs.border_near),
            (graphs.border_far_asn, graphs.border_far),
        )
        for asn, node in zip(asns.tolist(), nodes.tolist(), strict=True)
    }
    row = np.repeat(graphs.asn, np.diff(graphs.ingress_ptr)).tolist()
    entered = set(zip(row, graphs.ingress_node.tolist(), strict=True))
    assert len(entered) == len(original.ingress)
    assert len(ends - entered) == len(whole.ingress) - len(original.ingress)
    assert len(graphs.neighbor_ptr) == len(entered) + 1


def ends_of_ases(graphs, n: int) -> list[int]:
    rows = np.searchsorted(graphs.asn, np.append(graphs.border_near_asn, graphs.border_far_asn))
    return np.bincount(rows, minlength=n).tolist()


@pytest.mark.parametrize("factor", [1, 4])
def test_each_as_has_its_links_to_others_for_each_ingress(factor):
    original = internet()
    graphs = make_likeness(original, n_routers=factor * original.n_nodes, seed=2)
    ends = np.append(original.border_near, original.border_far)
    was = np.bincount(original.rows_of(ends), minlength=12)
    now = np.array(ends_of_ases(graphs, 12))
    assert abs(now.sum() - factor * was.sum()) <= 2
    assert np.abs(now - factor * was).max() <= max(2, 0.1 * factor * was.max())


def test_links_between_ases_have_the_originals_weights():
    whole = internet()
    weight = np.arange(len(whole.border_near), dtype=np.float32)
    weight[3] = np.nan
    graphs = make_likeness(replace(whole, border_weight=weight), seed=4)
    drawn = graphs.border_columns["weight"]
    assert len(drawn) == len(graphs.border_near)
    assert drawn.dtype == np.float32
    assert set(drawn[~np.isnan(drawn)]) <= set(weight)
    assert np.isnan(drawn).sum() <= 2
    assert len(np.unique(drawn)) > 0.8 * len(weight)
    assert make_likeness(whole, seed=4).border_columns == {}


def test_ases_without_links_stay_without_them():
    original = original_of(nx.star_graph(4), nx.star_graph(5))
    assert len(make_likeness(original, n_ases=40).border_near) == 0
