"""Nodes by any of their addresses, and by prefixes, in a table of addresses or in nodes alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipeline.errors import StoreError
from pipeline.graphs import build_graphs
from pipeline.model.addresses import parse_addr, sort_addrs
from pipeline.model.topology import NO_ASN, Topology
from pipeline.store import open_snapshot
from pipeline.store.find import addresses_of, find_addresses
from tests.addresses import format_addrs, parse_addrs
from tests.unit.pipeline.store.snapshots import write

NODES = ["10.0.0.1", "10.0.0.9", "10.0.1.1", "20.0.0.1", "30.0.0.1", "2001:db8::1"]
ASNS = [7, 7, 7, 9, NO_ASN, 9]
OTHERS = {"10.0.0.4": 2, "20.0.0.7": 3, "2001:db8::5": 5, "30.0.0.7": 4}


def topology() -> Topology:
    none = np.empty(0, np.int64)
    return Topology(np.array(ASNS), none, none, node_addr=parse_addrs(NODES))


def with_others() -> Topology:
    addrs = parse_addrs([*NODES, *OTHERS])
    node = np.array([*range(len(NODES)), *OTHERS.values()])
    order = sort_addrs(addrs)
    sure = np.where(np.arange(len(addrs)) == 0, np.nan, 0.5).astype(np.float32)
    return replace(
        topology(), addrs=addrs[order], addr_node=node[order], addr_confidence=sure[order]
    )


def found_in(folder, first: str, last: str) -> list[tuple]:
    with open_snapshot(folder) as snapshot:
        found = find_addresses(snapshot, parse_addr(first), parse_addr(last))
        columns = format_addrs(found.addr), snapshot.asn[found.row].tolist(), found.node.tolist()
        return list(zip(*columns, strict=True))


CASES = [
    ("10.0.0.1", "10.0.0.1", [("10.0.0.1", 7, 0)]),
    ("10.0.0.0", "10.0.0.255", [("10.0.0.1", 7, 0), ("10.0.0.4", 7, 2), ("10.0.0.9", 7, 1)]),
    ("10.0.1.1", "20.0.0.6", [("10.0.1.1", 7, 2), ("20.0.0.1", 9, 0)]),
    ("2001:db8::", "2001:db8::ff", [("2001:db8::1", 9, 1), ("2001:db8::5", 9, 1)]),
    ("30.0.0.0", "30.0.0.255", []),  # of no AS
    ("0.0.0.0", "9.255.255.255", []),
    ("ffff::", "ffff::1", []),
]


@pytest.mark.parametrize("rows", [1, 3, 1_000_000])
@pytest.mark.parametrize(("first", "last", "wanted"), CASES)
def test_every_address_of_a_node_leads_to_it(tmp_path, monkeypatch, rows, first, last, wanted):
    monkeypatch.setattr("pipeline.store.writer.SMALL_ROW_GROUP", rows)
    write(tmp_path, graphs=build_graphs([with_others()]))
    assert found_in(tmp_path, first, last) == wanted


@pytest.mark.parametrize("rows", [1, 250_000])
@pytest.mark.parametrize(("first", "last", "wanted"), CASES)
def test_without_a_table_of_addresses_nodes_are_searched(
    tmp_path, monkeypatch, rows, first, last, wanted
):
    monkeypatch.setattr("pipeline.store.columns.ROW_GROUP", rows)
    monkeypatch.setattr("pipeline.store.writer.FILE_BYTES", rows)
    write(tmp_path, graphs=build_graphs([topology()]))
    alone = [row for row in wanted if row[0] not in OTHERS]
    assert found_in(tmp_path, first, last) == alone


def test_the_confidence_of_an_address_comes_with_it(tmp_path):
    write(tmp_path, graphs=build_graphs([with_others()]))
    with open_snapshot(tmp_path) as snapshot:
        found = find_addresses(snapshot, parse_addr("10.0.0.1"), parse_addr("10.0.0.4"))
        np.testing.assert_array_equal(found.confidence, np.array([np.nan, 0.5], np.float32))


def test_all_addresses_of_a_node_are_listed(tmp_path):
    write(tmp_path, "many", build_graphs([with_others()]))
    write(tmp_path, "few", build_graphs([topology()]))
    for name, addrs in (("many", ["10.0.0.4", "10.0.1.1"]), ("few", ["10.0.1.1"])):
        with open_snapshot(tmp_path, name) as snapshot:
            assert format_addrs(addresses_of(snapshot, 0, 2)) == addrs


def test_nodes_without_an_address_are_not_found_as_all_zeros(tmp_path):
    mixed = [
        topology(),
        Topology(np.array([5]), *[np.empty(0, np.int64)] * 2, node_id=np.arange(1)),
    ]
    write(tmp_path, graphs=build_graphs(mixed))
    assert found_in(tmp_path, "::", "::ff") == []


def test_an_address_of_a_node_that_is_not_there_is_an_error(tmp_path):
    graphs = build_graphs([with_others()])
    write(tmp_path, graphs=replace(graphs, addr_node=graphs.addr_node + 5))
    with pytest.raises(StoreError, match=r"addresses\.parquet: names a node that is not there"):
        found_in(tmp_path, "10.0.0.1", "10.0.0.1")
