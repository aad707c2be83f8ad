"""Stores, snapshots and ASes as mappings, with what the last report measured."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import hopscope
from hopscope import snapshots
from hopscope.snapshots import Store, open_store
from kernels import msbfs
from pipeline.errors import StoreError
from pipeline.places import folder_of
from pipeline.report import write_reports
from pipeline.store import open_snapshot
from tests.unit.pipeline.report.test_from_store import search
from tests.unit.pipeline.stages.small_store import A, B, P, X, Y, make_store


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("door")
    make_store(folder / "store", "first")
    make_store(folder / "store", "night")
    with open_snapshot(folder / "store") as snapshot:
        said = {"options": {}, "warnings": [], "started": 0.0, "pages": False}
        write_reports(snapshot, search(snapshot), folder / "reports", **said)
    return folder


@pytest.fixture
def night(folder):
    return hopscope.open(folder / "store", reports=folder / "reports")["night"]


def test_a_store_is_a_mapping_of_its_snapshots(folder):
    store = hopscope.open(folder / "store")
    assert list(store) == ["first", "night"]
    assert store.newest.name == "night"
    assert "night" in store
    with pytest.raises(KeyError, match=r"no snapshot 'x' in .*; available snapshots: first, night"):
        store["x"]
    assert repr(store).endswith("/store': 2 snapshots: first, night)")
    assert "<td>first</td><td>3 ASes, 6 interfaces" in store._repr_html_()
    with pytest.raises(StoreError, match=r"no snapshot here"):
        open_store(folder)


def test_a_snapshot_is_a_mapping_of_its_ases(night):
    assert list(night) == [1, 2, 3]
    assert 2 in night
    assert len(night) == 3
    with pytest.raises(KeyError, match="AS9 is not in snapshot night"):
        night[9]
    assert night["AS2"].asn == night["2"].asn == 2
    for wrong in (2.5, None, (2,)):
        assert wrong not in night
        with pytest.raises(KeyError, match="is not an AS number"):
            night[wrong]
    assert "two" not in night
    for wrong in ("two", "AS", str(2**32), "9" * 5000):
        with pytest.raises(KeyError, match=f"'{wrong}' is not an AS number"):
            night[wrong]
    links = "2 links inside ASes and 5 between them"
    assert repr(night) == f"Snapshot('night': 3 ASes, 6 interfaces, {links}, 5 ingresses)"
    assert night.facts["n_traces"] == 6
    assert night.find(Y) == [(2, 1)]
    assert night.find("20.1.0.0/16") == [(1, 0), (1, 1)]


def test_an_as_has_its_graph_and_addresses(night):
    two = night[2]
    assert (two.asn, two.n_nodes, two.n_edges, two.node_kind) == (2, 2, 1, "interface")
    assert two.graph.indices.tolist() == [1, 0]
    assert two.graph.weights.tolist() == [5, 5]
    assert two.addresses == [X, Y]
    assert two.all_addresses.to_pylist() == [{"node": 0, "addr": X}, {"node": 1, "addr": Y}]
    assert two.edges.select(["tail_addr", "head_addr"]).to_pylist() == [
        {"tail_addr": X, "head_addr": Y}
    ]
    assert msbfs(two.graph, two.sources).hop_counts.tolist() == [[1, 1], [1, 1]]
    assert night[1].addresses == [A, B]


def test_doors_and_links_are_tables(night):
    two = night[2]
    assert two.exits["addr"].to_pylist() == [X, Y]
    assert two.as_links["far_asn"].to_pylist() == [2, 3]
    assert (night.exits.num_rows, night.as_links.num_rows, night.ingresses.num_rows) == (5, 2, 5)
    assert isinstance(two.nodes, pa.Table)
    assert two.nodes["role"].to_pylist() == ["ingress", "ingress"]


def test_measures_are_those_of_the_last_report(night, folder):
    (row,) = night[2].measures.to_pylist()
    assert (row["mean_hops"], row["max_hops"], row["status"]) == (1.0, 1, "ok")
    assert night[2].ingresses["hop_counts"].to_pylist() == [[1, 1], [1, 1]]
    assert night.measures["asn"].to_pylist() == [1, 2, 3]
    # Another version has none, and no report either.
    other = hopscope.open(folder / "store", folder / "reports")["first"][2]
    (row,) = other.measures.to_pylist()
    assert (row["n_nodes"], "mean_hops" in row) == (2, False)
    assert other.measures.schema.field("name").type == pa.string()  # though no AS has one
    assert "hop_counts" not in other.ingresses.column_names
    assert other.ingresses["neighbor_n_direct"].to_pylist() == [[3], [1]]


def test_a_report_of_some_ases_hides_no_as(night, folder, monkeypatch):
    whole = {"measures": night.measures, "ingresses": night.ingresses}
    two = pc.field("asn") == 2
    read = pq.read_table

    def of_two(path, filters=None):
        return read(path, filters=two if filters is None else two & filters)

    monkeypatch.setattr("pyarrow.parquet.read_table", of_two)
    some = hopscope.open(folder / "store", reports=folder / "reports")["night"]
    assert some[3].measures["n_nodes"].to_pylist() == [2]
    for table, known, own in (
        (some.measures, whole["measures"], [some[asn].measures for asn in some]),
        (some.ingresses, whole["ingresses"], [some[asn].ingresses for asn in some]),
    ):
        assert table.schema.names == known.schema.names
        for name in ("asn", "name", "n_nodes", "node", "addr", "neighbors", "n_direct"):
            if name in known.schema.names:
                assert table[name].to_pylist() == known[name].to_pylist()
        assert table.num_rows == sum(one.num_rows for one in own)
    assert some.measures["mean_hops"].to_pylist() == [None, 1.0, None]
    assert some.ingresses["hop_counts"].to_pylist() == [None, [1, 1], [1, 1], None, None]


def test_notebooks_show_tables_and_hostile_names_as_text(night):
    for shown in (night._repr_html_(), night[2]._repr_html_()):
        assert "&lt;b&gt;Two" in shown
        assert "<b>Two" not in shown
    assert "<td>mean_hops</td><td>1.0</td>" in night[2]._repr_html_()
    assert repr(night[3]) == "AutonomousSystem(AS3: 2 interfaces, 1 link, 2 ingresses)"


def test_other_libraries_get_addresses_and_roles(night):
    graph = hopscope.to_networkx(night[3])
    assert graph.nodes[0] == {"addr": P, "role": "ingress"}
    assert graph.edges[0, 1]["weight"] == 5.0
    about = {"snapshot": "night", "asn": 3, "name": "", "node_kind": "interface"}
    assert graph.graph == about | {"weight_unit": night[3].about["weight_unit"]}
    assert night[3].about["weight_unit"] == "ms"


def test_igraph_gets_the_same(night):
    pytest.importorskip("igraph")
    graph = hopscope.to_igraph(night[3])
    assert {name: graph[name] for name in graph.attributes()} == night[3].about
    assert graph.es["weight"] == [5.0]
    assert graph.vs["addr"][0] == P


def test_two_snapshots_are_compared_and_nothing_is_written(folder):
    make_store(folder / "store", "later")
    before = sorted(folder.rglob("*"))
    found = hopscope.compare(folder / "store", "night", "later")
    assert (found.old, found.new) == ("night", "later")
    assert found.changes.num_rows == found.events.num_rows == 0
    assert found.events.column_names[:3] == ["event", "kind", "asn"]
    assert repr(found) == "Comparison('night', 'later': 0 changes in 0 events)"
    assert "From night to later: 0 events" in found._repr_html_()
    assert sorted(folder.rglob("*")) == before
    with pytest.raises(KeyError, match="no snapshot 'gone'"):
        hopscope.open(folder / "store").compare("gone", "later")


def test_a_table_becomes_pandas_where_that_is_installed(night):
    pytest.importorskip("pandas")
    frame = night[2].ingresses.to_pandas()
    assert frame["addr"].tolist() == [X, Y]


def test_a_closed_snapshot_lets_writers_go(folder):
    with hopscope.open(folder / "store")["night"] as opened:
        assert len(opened) == 3
    opened.close()


def test_the_same_version_is_equal_however_it_is_opened(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    (tmp_path / "link").symlink_to(folder / "store")
    paths = (folder / "store", "store", tmp_path / "link", folder / "reports" / ".." / "store")
    stores = [hopscope.open(path) for path in (*paths, str(folder / "store"))]
    stores.append(hopscope.open("store", reports="reports"))
    nights = [store["night"] for store in stores] + [pickle.loads(pickle.dumps(stores[0]["night"]))]
    for opened in (stores, nights, [night[2] for night in nights]):
        assert all(each == opened[0] for each in opened)
        assert len(set(opened)) == 1
    assert nights[0] != stores[0]["first"]
    assert nights[0][2] not in (nights[0][3], stores[0]["first"][2], 2)
    assert nights[0] != dict(nights[0])
    assert stores[0] != nights[0]


def test_a_snapshot_that_is_ingested_again_is_another_one(tmp_path):
    make_store(tmp_path / "store", "night")
    old = hopscope.open(tmp_path / "store")["night"]
    make_store(tmp_path / "store", "night")
    new = hopscope.open(tmp_path / "store")["night"]
    assert old != new
    assert old[2] != new[2]
    assert len({old, new}) == 2
    make_store(tmp_path / "other", "night")
    assert hopscope.open(tmp_path / "other") != hopscope.open(tmp_path / "store")


def test_errors_of_a_store_at_a_url_name_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_MIRRORS", str(tmp_path))
    mirror = folder_of("s3://bucket/store")
    store = Store(mirror)
    monkeypatch.setattr(snapshots, "snapshot_names", lambda path: ["night"])

    def breaks(*given):
        raise StoreError(f"{mirror}/snapshots/night.json: is not a pointer")

    monkeypatch.setattr(snapshots, "open_snapshot", breaks)
    with pytest.raises(StoreError, match=r"^s3://bucket/store/snapshots/night\.json: is not"):
        store["night"]
    with pytest.raises(
        KeyError, match="no snapshot 'x' in s3://bucket/store; available snapshots: night"
    ):
        store["x"]
    assert "s3://bucket/store/snapshots/night.json" in store._repr_html_()
    assert str(tmp_path) not in store._repr_html_()
