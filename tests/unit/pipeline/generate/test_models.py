"""Every model: seeded, the law of its degrees, connected; and its file is read back unchanged."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pipeline.errors import UsageError
from pipeline.generate import MODELS, Parameters, check, generate
from pipeline.generate.barabasi_albert import generate_barabasi_albert
from pipeline.generate.files import brite_file
from pipeline.generate.files.brite_file import write_brite
from pipeline.generate.files.rows_text import rows_text
from pipeline.generate.top_down import generate_top_down
from pipeline.ingest import brite
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology
from tests.soak import examples


def degrees(topology: Topology) -> np.ndarray:
    ends = np.concatenate([topology.near, topology.far])
    return np.bincount(ends, minlength=topology.n_nodes)


def n_components(topology: Topology, links: np.ndarray) -> int:
    n = topology.n_nodes
    pairs = (topology.near[links], topology.far[links])
    return connected_components(coo_array((np.ones(int(links.sum())), pairs), shape=(n, n)))[0]


def columns(topology: Topology) -> dict[str, np.ndarray]:
    return {
        "node_asn": topology.node_asn,
        "node_id": topology.node_id,
        "near": topology.near,
        "far": topology.far,
        "weight": topology.weight,
        **topology.node_columns,
        **{f"link {name}": column for name, column in topology.link_columns.items()},
    }


def assert_same(a: Topology, b: Topology) -> None:
    assert a.kind == b.kind
    assert a.weight_unit == b.weight_unit
    left, right = columns(a), columns(b)
    assert left.keys() == right.keys()
    for name in left:
        assert np.array_equal(left[name], right[name]), name
        assert left[name].dtype.kind == right[name].dtype.kind, name


def read_back(path) -> Topology:
    report = ReadReport(str(path), "brite")
    with path.open("rb") as file:
        (topology,) = brite.read(file, report)
    assert not report.rejected
    assert not report.notes
    return topology


@pytest.mark.parametrize("model", MODELS)
def test_the_same_seed_gives_the_same_topology_and_another_seed_another(model):
    first, again, other = (
        generate(model, Parameters(n_routers=500, n_ases=7, seed=seed)) for seed in (3, 3, 4)
    )
    assert_same(first, again)
    assert not np.array_equal(first.far, other.far)
    assert not np.array_equal(
        first.link_columns["bandwidth"][:100], other.link_columns["bandwidth"][:100]
    )


@pytest.mark.parametrize(
    ("model", "digest"),
    [
        ("top-down", "a88d8d6a3ebfde5a"),
        ("ba", "224391cf9fb79300"),
        ("grid", "4373bafc33e39f85"),
        ("internet", "3d72fc42f1c3fd01"),
        ("degrees", "c26c337815580dcd"),
        ("rmat", "f451cf8315525f08"),
        ("ba2", "e44a4e38aed60b3d"),
        ("glp", "fcdeeff8222c25fa"),
        ("waxman", "c42ec5d6af14a685"),
        ("bottom-up", "f495b0fb0fb16c94"),
    ],
)
def test_the_bytes_are_the_same_on_every_machine_and_in_every_version(model, digest, tmp_path):
    path = tmp_path / "a.brite"
    given = Parameters(n_routers=90, n_ases=4, seed=11, smallest=20, largest=24)
    write_brite(generate(model, given), path)
    assert hashlib.sha256(path.read_bytes()).hexdigest()[:16] == digest


@pytest.mark.parametrize("model", MODELS)
def test_the_file_is_read_back_unchanged(model, tmp_path):
    topology = generate(model, Parameters(n_routers=5010, n_ases=20, seed=5))
    path = tmp_path / "a.brite"
    write_brite(topology, path)
    assert brite.sniff(path.read_bytes()[:65536])
    assert_same(read_back(path), topology)
    assert os.listdir(tmp_path) == ["a.brite"]


@pytest.mark.parametrize("model", ["ba", "top-down"])
def test_text_of_many_parts_is_in_order_on_any_number_of_threads(model, tmp_path, monkeypatch):
    topology = generate(model, Parameters(n_routers=3000, n_ases=20))
    whole = tmp_path / "whole"
    write_brite(topology, whole)  # by pyarrow, the parts by what is compiled
    monkeypatch.setattr(brite_file, "_ROWS_AT_ONCE", 100)
    monkeypatch.setattr(brite_file, "_FEW_ROWS", 0)
    parts = []

    def told(columns):
        parts.append(rows_text(columns))
        return parts[-1]

    monkeypatch.setattr(brite_file, "rows_text", told)
    for n_threads in (1, 2, 3):
        monkeypatch.setattr(brite_file, "n_cores", lambda n=n_threads: n)
        path = tmp_path / str(n_threads)
        write_brite(topology, path)
        assert path.read_bytes() == whole.read_bytes()
    assert len(parts) > 80
    assert None not in parts


@settings(max_examples=examples(40), deadline=None)
@given(
    n_ases=st.integers(1, 12),
    per_as=st.integers(1, 30),
    more=st.integers(0, 11),
    m=st.integers(1, 6),
    seed=st.integers(0, 2**64 - 1),
)
def test_top_down_is_connected_simple_and_consistent(n_ases, per_as, more, m, seed):
    n = n_ases * per_as + min(more, n_ases - 1)
    topology = generate_top_down(n_ases, n, m=m, seed=seed)
    assert topology.n_nodes == n
    asn, near, far = topology.node_asn, topology.near, topology.far
    sizes = np.unique(asn, return_counts=True)[1]
    assert len(sizes) == n_ases
    assert sizes.max() - sizes.min() <= 1
    inter = asn[near] != asn[far]
    assert n_components(topology, ~inter) == n_ases
    assert n_components(topology, np.ones_like(inter)) == 1
    assert (near != far).all()
    inside = {(min(a, b), max(a, b)) for a, b in zip(near[~inter], far[~inter], strict=True)}
    assert len(inside) == int((~inter).sum())
    pairs = {(min(a, b), max(a, b)) for a, b in zip(asn[near], asn[far], strict=True) if a != b}
    assert len(pairs) == int(inter.sum())
    assert (topology.node_columns["indegree"] == degrees(topology)).all()
    borders = set(np.concatenate([near[inter], far[inter]]).tolist())
    labelled = np.flatnonzero(topology.node_columns["type"] == "RT_BORDER")
    assert set(labelled.tolist()) == borders
    assert ((topology.link_columns["type"] == "E_AS") == inter).all()
    x, y = topology.node_columns["x"], topology.node_columns["y"]
    assert len(set(zip(asn.tolist(), x.tolist(), y.tolist(), strict=True))) == n
    length = np.hypot(x[near] - x[far], y[near] - y[far]).astype(np.float32)
    assert (topology.weight == length).all()
    delay = topology.link_columns["delay"]
    assert delay == pytest.approx(length.astype(np.float64) / 299.792458)
    bandwidth = topology.link_columns["bandwidth"]
    assert ((bandwidth >= 10) & (bandwidth < 1024)).all()


def test_sizes_are_those_of_the_real_generator():
    # BRITE's RTBarabasi of 10,000 routers and m = 2 has 19,997 links.
    assert generate_barabasi_albert(10_000, m=2).n_links == 19_997
    assert generate_top_down(10, 10_000, m=2).n_links == 10 * 1997 + 17


def test_ids_go_on_where_those_of_the_as_level_ended_as_in_brite():
    topology = generate_top_down(10, 100, m=2)
    assert topology.node_id[[0, -1]].tolist() == [10, 109]
    assert topology.link_columns["edge_id"][0] == 17
    assert topology.node_asn[[0, -1]].tolist() == [1, 10]


def test_ases_differ_from_one_another_inside():
    topology = generate_top_down(3, 300, m=2, seed=1)
    asn = topology.node_asn
    inside = [
        topology.far[(asn[topology.near] == a) & (asn[topology.far] == a)] - 100 * (a - 1)
        for a in (1, 2, 3)
    ]
    assert not np.array_equal(inside[0], inside[1])
    assert not np.array_equal(inside[1], inside[2])


def test_links_between_ases_end_at_routers_of_smallest_degree_that_are_no_leaves():
    topology = generate_top_down(2, 40, m=1, seed=2)
    asn, near, far = topology.node_asn, topology.near, topology.far
    inter = asn[near] != asn[far]
    assert int(inter.sum()) == 1
    before = np.bincount(np.concatenate([near[~inter], far[~inter]]), minlength=40)
    for end in (int(near[inter][0]), int(far[inter][0])):
        others = before[(asn == asn[end]) & (before > 1)]
        assert before[end] == others.min() == 2


def test_one_router_and_one_as_have_no_link():
    for topology in (generate_barabasi_albert(1), generate_top_down(1, 1)):
        assert (topology.n_nodes, topology.n_links) == (1, 0)
    assert generate_top_down(2, 2).n_links == 1


def test_an_asn_may_be_given_to_a_graph_without_ases():
    assert set(generate_barabasi_albert(10).node_asn.tolist()) == {NO_ASN}
    assert set(generate_barabasi_albert(10, asn=64500).node_asn.tolist()) == {64500}


@pytest.mark.parametrize(
    ("model", "given", "message"),
    [
        ("brite", {}, "unknown model 'brite'; give one of: ba, ba2, glp, waxman, top-down"),
        ("ba", {"n_routers": 0}, "0 routers"),
        ("ba", {"m": 0}, "0 links"),
        ("ba", {"seed": -1}, "seed -1"),
        ("ba", {"n_routers": 2**31}, "more than 2,147,483,647 links"),
        ("top-down", {"n_ases": 6}, "each AS needs at least one"),
        ("top-down", {"n_ases": 0}, "0 ASes"),
        ("grid", {"n_rows": 2}, "5 routers do not fill 2 rows"),
        ("grid", {"n_rows": 0}, "5 routers do not fill 0 rows"),
        ("grid", {"n_routers": 0}, "a grid of 1 x 0 routers"),
        ("grid", {"n_routers": 2**31}, "more than 2147483647"),
        ("grid", {"cut": 1.5}, "share of 1.5"),
        ("grid", {"seed": 2**64}, "seed 18446744073709551616"),
        ("internet", {"n_ases": 1}, "1 AS: an Internet has 2 or more"),
        ("internet", {"n_ases": 3}, "5 routers are too few for 3 ASes of 1 or more"),
        ("internet", {"n_ases": 2, "smallest": 0}, "0 routers in the smallest AS"),
        ("internet", {"n_ases": 2, "smallest": 1, "largest": 5}, "give 4 to 4 in the largest"),
        ("internet", {"n_ases": 2, "max_ingresses": 0}, "at most 0 ingresses"),
    ],
)
def test_numbers_out_of_range_are_refused(model, given, message):
    with pytest.raises(UsageError, match=message):
        generate(model, Parameters(**({"n_routers": 5} | given)))


@pytest.mark.parametrize(
    ("model", "given", "most"),
    [
        ("ba", {"n_routers": 5}, 4),
        ("ba", {"n_routers": 2}, 1),
        ("top-down", {"n_routers": 20, "n_ases": 5}, 3),
        ("rmat", {"n_routers": 12}, 5),
    ],
)
def test_more_links_than_there_can_be_are_refused(model, given, most):
    """They would all give the complete graph, whatever the number."""
    check(model, Parameters(m=most, **given))
    check(model, Parameters(m=1, n_routers=1, n_ases=1))
    with pytest.raises(UsageError, match=f"than there can be: give --links {most} or fewer"):
        check(model, Parameters(m=most + 1, **given))


def test_a_topology_with_ids_only_is_written_with_what_brite_writes_for_unknown(tmp_path):
    topology = Topology(
        node_asn=np.array([5, 5, 6], np.int64), near=np.array([0, 1]), far=np.array([1, 2])
    )
    path = tmp_path / "a.brite"
    write_brite(topology, path)
    back = read_back(path)
    assert back.near.tolist() == [0, 1]
    assert back.node_asn.tolist() == [5, 5, 6]
    assert back.node_columns["indegree"].tolist() == [1, 2, 1]
    assert back.link_columns["type"].tolist() == ["E_RT", "E_AS"]


def test_a_failed_write_leaves_nothing_and_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.brite"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=r"a\.brite: cannot be written: No space left"):
        write_brite(generate_barabasi_albert(5), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.brite"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"no/a\.brite: cannot be written: No such file"):
        write_brite(generate_barabasi_albert(5), tmp_path / "no" / "a.brite")
