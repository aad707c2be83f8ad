"""The least that a record of each format may hold; docs/formats.md says the same."""

from __future__ import annotations

import io

import pytest

from pipeline.ingest import FORMATS
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import TraceBatch

# By firmware, written after the format's documentation: fields that each of them added.
ATLAS = {
    "the type alone": ('{"type":"traceroute"}', 0),
    "a reply with its address alone": (
        '{"type":"traceroute","result":[{"hop":1,"result":[{"from":"192.0.2.1"}]}]}',
        1,
    ),
    "4400": (
        '{"fw":4400,"type":"traceroute","from":"192.0.2.9","dst_addr":"192.0.2.8","timestamp":5,'
        '"result":[{"hop":1,"result":[{"x":"*"},{"from":"192.0.2.1","rtt":1.5,"size":28,"ttl":64},'
        '{"from":"192.0.2.1","err":"N","rtt":2,"size":28,"ttl":64}]}]}',
        2,
    ),
    "4460": (
        '{"fw":4460,"type":"traceroute","msm_id":1,"prb_id":2,"af":4,"src_addr":"192.0.2.9",'
        '"result":[{"hop":1,"result":[{"late":2,"from":"192.0.2.1","ttl":64,"size":28},'
        '{"edst":"192.0.2.7","from":"192.0.2.1","rtt":1}]},'
        '{"hop":255,"result":[{"from":"192.0.2.1"}]}]}',
        1,
    ),
    "4570": (
        '{"fw":4570,"type":"traceroute","lts":3,"dst_name":"a","result":'
        '[{"hop":1,"error":"sendto failed: Network is unreachable"}]}',
        0,
    ),
    "5020": (
        '{"fw":5020,"mver":"2.2.1","type":"traceroute","src_addr":"192.0.2.9","result":[{"hop":1,'
        '"result":[{"from":"192.0.2.1","itos":0,"ittl":1,"rtt":1.25,"size":28,"ttl":64,"icmpext":'
        '{"version":2,"rfc4884":0,"obj":[{"class":1,"type":1,"mpls":[]}]}}]}]}',
        1,
    ),
}
SCAMPER = {
    "a destination alone": ('{"type":"trace","dst":"192.0.2.8"}', 0),
    "a hop with address and TTL": (
        '{"type":"trace","dst":"192.0.2.8","hops":[{"addr":"192.0.2.1","probe_ttl":1}]}',
        1,
    ),
    "the newest": (
        '{"type":"trace","version":"0.1","userid":0,"method":"icmp-paris","src":"192.0.2.9",'
        '"dst":"192.0.2.8","icmp_sum":1,"stop_reason":"COMPLETED","stop_data":0,"start":{"sec":5,'
        '"usec":6,"ftime":"x"},"hop_count":1,"probe_count":1,"hops":[{"addr":"192.0.2.1",'
        '"name":"a.example","probe_ttl":1,"probe_id":1,"probe_size":44,"tx":{"sec":5,"usec":6},'
        '"rtt":0.5,"reply_ttl":64,"reply_tos":0,"reply_ipid":7,"reply_size":56,"icmp_type":11,'
        '"icmp_code":0,"icmp_q_ttl":1,"icmp_q_ipl":44,"icmp_q_tos":0}]}',
        1,
    ),
    "multipath, a destination alone": ('{"type":"tracelb","dst":"192.0.2.8"}', 0),
}
PROGRAMS = {
    "dublin, a probe": (
        '{"flows":{"1":[{"sent":{"ip":{"dst":"192.0.2.8","ttl":1}}}]},"nat_id":0}',
        0,
    ),
    "globalping, a result": ('{"type":"mtr","results":[{"probe":{},"result":{}}]}', 0),
    "jc, a destination": ('{"destination_ip":"192.0.2.8","hops":[{"hop":1}]}', 0),
    "mtr, a hop": ('{"mtr":{},"hubs":[{"count":1,"host":"192.0.2.1"}]}', 1),
}
CASES = [
    *(pytest.param(name.partition(",")[0], *case, id=name) for name, case in PROGRAMS.items()),
    *(pytest.param("atlas", *case, id=f"atlas {name}") for name, case in ATLAS.items()),
    *(pytest.param("scamper_json", *case, id=f"scamper {name}") for name, case in SCAMPER.items()),
]


def read(format: str, data: bytes) -> tuple[list, ReadReport]:
    report = ReadReport("bytes", format)
    return list(FORMATS[format].load().read(io.BytesIO(data), report)), report


@pytest.mark.parametrize(("format", "record", "n_replies"), CASES)
def test_a_trace_of_the_least_that_a_record_holds_is_read(format, record, n_replies):
    for data in (record, f"[{record}]", f"{record}\r\n"):
        batches, report = read(format, data.encode())
        assert not report.rejected
        assert report.n_records == 1
        assert all(isinstance(batch, TraceBatch) for batch in batches)
        assert sum(batch.n_replies for batch in batches) == n_replies


@pytest.mark.parametrize(
    ("format", "text", "n_nodes", "n_links"),
    [
        ("snap", "0 1", 2, 1),
        ("snap", "# c\r\n5\t7\r\n", 2, 1),
        ("snap", "2\n0 1\n", 2, 1),  # the number of nodes first
        ("adjacency", "1\n0", 2, 1),
        ("adjacency", "# Neighbours of node 0, 1, 2, ...\n\n", 1, 0),
        ("brite", "Topology: ( 1 Nodes, 0 Edges )\nNodes: ( 1 )\n0 1 1 0 0\nEdges: ( 0 )\n", 1, 0),
        (
            "brite",
            "Topology: (2 Nodes, 1 Edges)\nNodes: (2):\n4 1 1 1 1 \n7 2.5 2 1 1 \nEdges: (1):\n"
            "0 4 7 1.5 0.1 10.0 \n",
            2,
            1,
        ),
    ],
)
def test_a_topology_of_the_least_that_a_file_holds_is_read(format, text, n_nodes, n_links):
    ((topology,), report) = read(format, text.encode())
    assert not report.rejected
    assert (topology.n_nodes, topology.n_links) == (n_nodes, n_links)
