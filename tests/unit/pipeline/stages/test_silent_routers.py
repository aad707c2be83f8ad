"""Silent routers of the committed laboratory: in the store, reports, exports and comparisons."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.cli import main
from pipeline.compare import References, compare_nights
from pipeline.model.addresses import is_v4
from pipeline.model.columns.ragged import row_of_value
from pipeline.model.topology import SILENT
from pipeline.stages.contents.export import node_table
from pipeline.stages.graphs import of_snapshot
from pipeline.stages.nights.snapshots import _inputs, open_night
from pipeline.store import open_snapshot

LAB = Path(__file__).resolve().parents[4] / "data" / "samples" / "lab"


def run(*words) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return ended.value.code or 0


@pytest.fixture(scope="module")
def night(tmp_path_factory):
    """A store with the laboratory, and its report with all metrics."""
    folder = tmp_path_factory.mktemp("silent")
    store, out = folder / "store", folder / "out"
    tables = ("--ip2as", LAB / "lab.pfx2as", "--allow-special", "198.18.0.0/15")
    assert (
        run("ingest", LAB, *tables, "--format", "traces", "--store", store, "--snapshot", "n") == 0
    )
    assert run("analyze", "--store", store, "--out", out, "--metrics", "all", "--workers", 1) == 0
    with open_snapshot(store) as snapshot:
        yield snapshot, store, out / "n"


def marked(snapshot, row: int) -> np.ndarray:
    return snapshot.nodes(row).columns[SILENT]


def test_they_are_the_last_nodes_of_their_as_without_an_address(night):
    snapshot = night[0]
    assert 0 < snapshot.n_silent.sum() < snapshot.n_nodes.sum() / 10
    for row, n in enumerate(snapshot.n_silent.tolist()):
        nodes, silent = snapshot.nodes(row), marked(snapshot, row)
        assert np.flatnonzero(silent).tolist() == list(range(len(silent) - n, len(silent)))
        assert not nodes.addr[silent].any()
        assert is_v4(nodes.addr[~silent]).all()
        graph = snapshot.graph(row, weights=True)
        assert (np.diff(graph.indptr)[silent] >= 2).all()  # several before one address are one
        assert not (silent[graph.indices] & np.isnan(graph.weights)).any()
        assert graph.weights.min(initial=1) >= np.float32(0.01)


def test_no_silent_router_is_an_ingress_an_exit_or_beside_another_as(night):
    snapshot = night[0]
    first = snapshot.n_nodes - snapshot.n_silent
    for table in (snapshot.ingresses(), snapshot.exits()):
        assert (table.node < first[table.row]).all()
    borders = snapshot.borders()
    for end in ("near", "far"):
        row = np.searchsorted(snapshot.asn, borders[f"{end}_asn"].to_numpy())
        assert (borders[end].to_numpy() < first[row]).all()


def test_reports_count_and_name_them(night, capsys):
    snapshot, store, report = night
    table = pq.read_table(report / "ases.parquet")
    assert table["n_silent"].to_pylist() == snapshot.n_silent.tolist()
    row = int(np.argmax(snapshot.n_silent))
    asn, n = int(snapshot.asn[row]), int(snapshot.n_silent[row])
    page = (report / "as" / f"{asn}.html").read_text()
    assert f"{n} silent<" in page
    assert f"{n} routers are silent: they never answered and have no address" in page
    other = int(snapshot.asn[np.argmin(snapshot.n_silent)])
    assert SILENT not in (report / "as" / f"{other}.html").read_text()
    index = (report / "index.html").read_text()
    assert f"{snapshot.n_silent.sum()} routers that never answered" in index
    tiles, _, terms = index.partition("<dt>silent</dt><dd>a router that never answered")
    assert terms.startswith(", without an address")
    assert tiles.rstrip().endswith("</dd>")
    assert "<summary>Terms" in tiles
    nodes = pq.read_table(report / "nodes" / f"{asn}.parquet")
    assert nodes["addr"].null_count == n
    assert nodes["eccentricity"].null_count == 0
    assert run("show", "n", asn, "--store", store) == 0
    assert f"routers ({n} of them silent)" in capsys.readouterr().out
    assert run("list", "--store", store, "--json") == 0
    assert (
        json.loads(capsys.readouterr().out)["snapshots"][0]["n_silent"] == snapshot.n_silent.sum()
    )


def atlas(path: Path, *ways: list[str | None]) -> Path:
    """Traces as the RIPE Atlas writes them; None for a hop without an answer."""
    with path.open("w") as file:
        for i, way in enumerate(ways):
            replies = [[{"x": "*"}] if a is None else [{"from": a, "rtt": 1.0 + i}] for a in way]
            hops = [{"hop": ttl, "result": reply} for ttl, reply in enumerate(replies, 1)]
            ends = {"src_addr": f"20.9.0.{i + 1}", "dst_addr": "20.1.9.9", "from": "20.9.0.1"}
            about = {"type": "traceroute", "af": 4, "proto": "UDP", "fw": 5000, "msm_id": 1}
            record = {**about, **ends, "prb_id": i, "timestamp": 1_700_000_000, "result": hops}
            file.write(json.dumps(record) + "\n")
    return path


def test_addresses_are_kept_where_all_are_in_one_as_and_nights_compare(tmp_path, capsys):
    ways = ["20.1.0.1", None, "20.1.0.2", "20.1.0.3", "20.1.0.4"], ["20.1.0.1", None, "20.1.0.5"]
    path = atlas(tmp_path / "t.json", *ways)
    aliases, store = tmp_path / "aliases.txt", tmp_path / "store"
    aliases.write_text("20.1.0.2 20.1.0.5\n")
    more = ("--asn", 1, "--aliases", aliases, "--store", store)
    for name in ("a", "b"):
        assert run("ingest", path, *more, "--snapshot", name) == 0
    with open_snapshot(store, "a") as snapshot:
        assert (snapshot.n_silent.tolist(), snapshot.n_nodes.tolist()) == ([1], [5])
        assert snapshot.addresses().num_rows == 5
    capsys.readouterr()
    for last in (1, 2, 3, 4, 5):
        assert run("lookup", f"20.1.0.{last}", "--store", store, "--snapshot", "a") == 0
        assert f"20.1.0.{last}: " in capsys.readouterr().out
    assert run("compare", "a", "b", "--store", store, "--out", tmp_path / "out") == 0
    assert "0 events" in capsys.readouterr().out


def test_a_night_from_before_there_were_silent_routers_had_other_inputs(night):
    snapshot = night[0]
    now = open_night(snapshot)
    assert now.inputs["silent routers"] == "inferred"
    columns = {k: v for k, v in snapshot.manifest["node_columns"].items() if k != SILENT}
    assert "silent routers" not in _inputs(snapshot.manifest | {"node_columns": columns})


def test_exports_and_searches_name_them(night):
    snapshot, store, _ = night
    row = int(np.argmax(snapshot.n_silent))
    last = int(snapshot.n_nodes[row]) - 1
    table = node_table(snapshot, row)
    assert table["role"].to_pylist().count(SILENT) == snapshot.n_silent[row]
    assert table.slice(last).to_pylist() == [{"addr": None, "role": SILENT}]
    graph = of_snapshot(store, snapshot, row, "an AS")
    assert graph.name_of(last) == f"{last} ({SILENT})"
    assert graph.node_of(str(last), "source") == last


def test_nights_are_compared_without_them(night):
    snapshot = night[0]
    compared = open_night(snapshot)
    assert compared.n_nodes == snapshot.n_nodes.sum() - snapshot.n_silent.sum()
    assert np.diff(compared.node_ptr).tolist() == (snapshot.n_nodes - snapshot.n_silent).tolist()
    assert compared.name_addr.any(axis=1).all()
    # Every link between routers that answered, and no other.
    shown = set()
    for row in range(snapshot.n_ases):
        graph, addr = snapshot.graph(row), snapshot.nodes(row).addr
        for a, b in zip(row_of_value(graph.indptr), graph.indices, strict=True):
            if a < b and addr[a].any() and addr[b].any():
                shown.add(frozenset((tuple(addr[a].tolist()), tuple(addr[b].tolist()))))
    name = [tuple(addr) for addr in compared.name_addr.tolist()]
    inside = compared.asn_of(compared.low) == compared.asn_of(compared.high)
    low, high = compared.low[inside].tolist(), compared.high[inside].tolist()
    assert {frozenset((name[a], name[b])) for a, b in zip(low, high, strict=True)} == shown
    # What silent routers connect stays connected.
    assert len(np.unique(compared.component)) == snapshot.n_components.sum()
    assert (compared.component <= np.arange(compared.n_nodes)).all()
    seen = compared.observations
    assert seen is not None
    assert seen.steps.far.min() >= 0
    changes, events = compare_nights(compared, compared, References.none())
    assert (len(changes), len(events)) == (0, 0)
