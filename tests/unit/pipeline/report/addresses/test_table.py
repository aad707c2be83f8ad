"""Every address of a report is listed with its AS, merged ones too."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.model.addresses import format_addr, parse_addr
from pipeline.report.addresses.table import address_table
from tests.unit.pipeline.report.memory import MemorySnapshot

ADDRS = {10: ["192.0.2.9", "192.0.2.1"], 20: ["2001:db8::1"], 30: ["198.51.100.1"]}


def three() -> MemorySnapshot:
    return MemorySnapshot(
        {10: [(0, 1)], 20: [], 30: []},
        {10: 2, 20: 1, 30: 1},
        [(10, 0, [20], 7, 0, False), (20, 0, [10], 0, 3, True), (30, 0, [10], 1, 0, False)],
        addrs=ADDRS,
    )


def listed(table) -> list[tuple]:
    texts = [format_addr(high, low) for high, low in table.addr.tolist()]
    return list(zip(texts, table.asn.tolist(), table.ingress.tolist(), strict=True))


def test_nodes_say_their_addresses_and_candidates_are_no_ingresses():
    assert listed(address_table(three(), np.arange(3))) == [
        ("192.0.2.1", 10, False),
        ("192.0.2.9", 10, True),
        ("198.51.100.1", 30, True),
        ("2001:db8::1", 20, False),
    ]
    assert [one[1] for one in listed(address_table(three(), np.array([1, 2])))] == [30, 20]


def test_all_addresses_of_a_router_are_listed_of_the_ases_of_the_report():
    snapshot = three()
    rows = [
        ("192.0.2.1", 10, 1),
        ("192.0.2.9", 10, 0),
        ("192.0.2.77", 10, 0),
        ("203.0.113.1", 30, 0),
    ]
    words = np.array([parse_addr(text) for text, _, _ in rows], np.uint64)
    stored = pa.table(
        {
            "addr_high": words[:, 0],
            "addr_low": words[:, 1],
            "asn": pa.array([asn for _, asn, _ in rows], pa.uint32()),
            "node": pa.array([node for _, _, node in rows], pa.int32()),
        }
    )
    snapshot.addresses = lambda: stored
    assert listed(address_table(snapshot, np.array([0]))) == [
        ("192.0.2.1", 10, False),
        ("192.0.2.9", 10, True),
        ("192.0.2.77", 10, True),
    ]


def test_nodes_without_an_address_are_left_out():
    snapshot = MemorySnapshot({10: [(0, 1)]}, {10: 2}, [])
    assert len(address_table(snapshot, np.array([0]))) == 0
