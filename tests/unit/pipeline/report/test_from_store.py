"""A report of a real snapshot: built, written, opened, searched by the kernels."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq

from kernels import msbfs
from pipeline.graphs import build_graphs
from pipeline.model.addresses import sort_addrs
from pipeline.model.search.results import Measurement, SearchResults
from pipeline.model.topology import NO_ASN, IngressTable, Topology
from pipeline.report import write_reports
from pipeline.store import open_snapshot, write_snapshot
from tests.addresses import format_addrs, parse_addrs


def two_ases() -> Topology:
    """AS 10: a path of three and one apart; AS 20: a pair; one router of no AS between them."""
    texts = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "20.0.0.1", "20.0.0.2", "30.0.0.1"]
    return Topology(
        node_asn=np.array([10, 10, 10, 10, 20, 20, NO_ASN]),
        near=np.array([0, 1, 2, 4, 6]),
        far=np.array([1, 2, 4, 5, 0]),
        node_addr=parse_addrs(texts),
        ingresses=IngressTable(
            node=np.array([0, 2, 4]),
            neighbor_ptr=np.array([0, 1, 1, 2]),
            neighbor_asn=np.array([20, 10]),
            n_direct=np.array([4, 0, 6]),
            n_after_gap=np.array([0, 3, 0]),
            candidate=np.array([False, True, False]),
        ),
        kind="interface",
    )


def search(snapshot) -> Measurement:
    """Search from each ingress that counts, as a worker does."""
    table = snapshot.ingresses()
    counts = np.flatnonzero(~table.candidate)
    found = [
        msbfs(snapshot.graph(int(table.row[i])), table.node[i : i + 1].astype(np.int32))
        for i in counts
    ]
    hops = [result.hop_counts[0] for result in found]
    farthest = [result.farthest[0][result.farthest[0] >= 0] for result in found]
    n_ases = len(snapshot.asn)
    return Measurement(
        rows=np.arange(n_ases),
        results=SearchResults(
            row=table.row[counts],
            source=table.node[counts],
            n_reached=np.concatenate([result.n_reached for result in found]),
            eccentricity=np.concatenate([result.eccentricity for result in found]),
            hop_ptr=np.append(0, np.cumsum([len(h) for h in hops])),
            hop_counts=np.concatenate(hops),
            farthest_ptr=np.append(0, np.cumsum([len(f) for f in farthest])),
            farthest=np.concatenate(farthest),
        ),
        failed={},
        n_tasks=np.ones(n_ases, np.int64),
        n_retries=np.zeros(n_ases, np.int64),
        wall_s=np.full(n_ases, 0.5),
        device=["cpu"] * n_ases,
        tasks={},
    )


def test_a_snapshot_of_two_ases_gives_the_figures_counted_by_hand(tmp_path):
    rejects = [{"file": "a.warts", "place": "byte 3", "reason": "no record", "detail": "<b>"}]
    write_snapshot(
        tmp_path / "store",
        "night",
        build_graphs([two_ases()]),
        as_names={10: "Ten"},
        inputs=[{"path": "a.warts", "format": "warts", "n_records": 9, "sha256": "0" * 64}],
        options={"borders": "prefix"},
        counts={"n_unmapped": 1, "n_traces": 9},
        rejects=rejects,
    )
    with open_snapshot(tmp_path / "store") as snapshot:
        summary = write_reports(
            snapshot,
            search(snapshot),
            tmp_path / "out",
            options={"pack": None},
            warnings=[],
            started=time.time(),
        )
    ten, twenty = pq.read_table(summary.files["ases"]).to_pylist()
    assert (ten["asn"], ten["name"], ten["n_nodes"], ten["n_edges"]) == (10, "Ten", 4, 2)
    assert (ten["n_components"], ten["largest_component"], ten["n_unreached"]) == (2, 3, 1)
    assert (ten["n_ingresses"], ten["n_candidates"], ten["n_unmapped"]) == (1, 1, 1)
    assert (ten["mean_hops"], ten["median_hops"], ten["max_hops"]) == (1.5, 1.5, 2)
    assert ten["p90_hops"] == 1.9
    assert (twenty["name"], twenty["n_unreached"], twenty["mean_hops"]) == (None, 0, 1.0)
    ingresses = pq.read_table(summary.files["ingresses"]).to_pylist()
    assert [row["addr"] for row in ingresses] == ["10.0.0.1", "10.0.0.3", "20.0.0.1"]
    assert [row["hop_counts"] for row in ingresses] == [[1, 1, 1], None, [1, 1]]
    assert [row["farthest_addrs"] for row in ingresses] == [["10.0.0.3"], None, ["20.0.0.2"]]
    assert [row["neighbor_asns"] for row in ingresses] == [[20], [], [10]]
    lines = summary.files["rejects"].read_text().splitlines()
    assert [json.loads(line)["reason"] for line in lines] == ["no record"]
    index = summary.index.read_text()
    for text in (
        "an interface address; none were merged into routers",
        "that of its prefix",
        "a.warts",
        "1 interface, left out",
    ):
        assert text in index
    page = (summary.path / "as" / "10.html").read_text()
    assert "10.0.0.4" in page  # unreached, named
    assert "confidence" not in page  # nothing has one


def test_every_address_of_a_router_is_stored_and_on_its_page(tmp_path):
    plain = two_ases()
    others = ["10.0.0.9", "10.0.1.1", "10.0.1.2", "10.0.1.3", "10.0.1.4", "20.0.0.9", "30.0.0.9"]
    others.append("2.0.0.9")  # the address that names a router need not be its smallest
    texts = [*format_addrs(plain.node_addr), *others]
    node = [*range(7), 2, 0, 0, 0, 0, 4, 6, 2]
    addrs = parse_addrs(texts)
    order = sort_addrs(addrs)
    counts = {"merged_addresses": 8, "inferred_aliases": 8}
    rated = replace(plain.ingresses, confidence=np.array([0.998, np.nan, 0.4], np.float32))
    topology = replace(
        plain,
        ingresses=rated,
        addrs=addrs[order],
        addr_node=np.array(node, np.int64)[order],
        kind="router",
        counts=counts,
    )
    folder = tmp_path / "store"
    given = {"as_names": {}, "options": {}, "rejects": []}
    given["inputs"] = [{"path": "a.warts", "format": "warts", "holds": "traces", "status": "ok"}]
    write_snapshot(folder, "night", build_graphs([topology]), counts=counts, **given)
    with open_snapshot(folder) as snapshot:
        snapshot.verify()
        table = snapshot.addresses()
        found = {
            text: (asn, local)
            for text, asn, local in zip(
                format_addrs(
                    np.column_stack([table["addr_high"].to_numpy(), table["addr_low"].to_numpy()])
                ),
                table["asn"].to_pylist(),
                table["node"].to_pylist(),
                strict=True,
            )
        }
        out = tmp_path / "out"
        said = {"options": {"pack": None}, "warnings": [], "started": time.time()}
        summary = write_reports(snapshot, search(snapshot), out, **said)
    assert len(found) == 13  # those of the node in no AS are left out
    assert found["10.0.0.9"] == found["10.0.0.3"] == (10, 2)
    assert found["20.0.0.9"] == (20, 0)
    page = (summary.index.parent / "as" / "10.html").read_text()
    assert "10.0.0.1 <small>also 10.0.1.1, 10.0.1.2, 10.0.1.3, 10.0.1.4</small>" in page
    assert "10.0.0.3 <small>also 2.0.0.9, 10.0.0.9</small>" in page
    ingresses = pq.read_table(summary.files["ingresses"]).column("confidence")
    assert ingresses.to_pylist() == [np.float32(0.998), None, np.float32(0.4)]
    assert "<td>0.99<td>" in page  # no confidence is shown as 1.00
    assert "low confidence" not in page
    assert "low confidence</i><td>" in (summary.path / "as" / "20.html").read_text()
    assert "router (inferred)" in summary.index.read_text()


def test_interfaces_need_no_table_of_addresses(tmp_path):
    topology = two_ases()
    topology = replace(topology, addrs=topology.node_addr, addr_node=np.arange(7))
    given = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    write_snapshot(tmp_path, "night", build_graphs([topology]), **given)
    with open_snapshot(tmp_path) as snapshot:
        assert snapshot.addresses() is None
