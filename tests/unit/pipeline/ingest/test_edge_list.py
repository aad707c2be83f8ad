"""Edge lists with names or commas: every layout, what is not an edge list, and faults by name."""

from __future__ import annotations

import pytest

from pipeline.ingest import detect_format, edge_list
from tests.contracts.graph_file import GraphFileContract, links_of
from tests.real_data import real_data


class TestEdgeList(GraphFileContract):
    format = "edge_list"
    sample = "names.csv"
    nodes = [0, 1, 2, 3]
    links = [(0, 1), (0, 3), (1, 2), (2, 3)]
    bad = {
        "columns": (
            b"source,target\na,b\nc\nc,d,e\n",
            "",
            {"not as many columns as the first line": 2},
        ),
        "no end": (b"source,target\na,b\n,d\n", "", {"an end without a name": 1}),
        "header": (b"source,target\n", "no usable link", {}),
    }

    def test_names_and_weights_are_kept(self):
        topology, _ = self.read_bytes(self.path.read_bytes())
        assert topology.node_columns["name"].tolist() == ["a", "b", "c", "d"]
        assert [str(weight) for weight in topology.weight] == ["1.5", "2.0", "nan", "0.25"]
        assert topology.weight_unit == "length"

    @pytest.mark.parametrize(
        "data",
        [
            b"1,2\n2,3\n3,4\n4,5\n",
            b"source,target\n1,2\n2,3\n3,4\n4,5\n",
            b'x;To;From\na;2;1\nb;3;2\n"c;";4;3\nd;5;4\n',
            b"# a\n% b\n1, 2\r\n2, 3\r\n3, 4\r\n4, 5\r\n",
            b"5,4,u,graph\n1,2\n2,3\n3,4\n4,5\n",
            b"1 2 {}\n2 3 {'weight': 1}\n3 4 {}\n4 5 {}\n",
            b"u|v\n1|2\n2|3\n3|4\n4|5\n",
        ],
    )
    def test_every_layout_gives_the_same(self, data):
        assert edge_list.sniff(data)
        topology, report = self.read_bytes(data)
        assert links_of(topology) == [(1, 2), (2, 3), (3, 4), (4, 5)]
        assert topology.node_id.tolist() == [1, 2, 3, 4, 5]
        assert not report.rejected

    @pytest.mark.parametrize(
        "data",
        [
            b"1 2\n2 3\n",  # snap
            b"1,2\n0,2\n0,1\n",  # lists of neighbours
            b"20.0.0.0/8 1\n30.0.0.0/8 2\n",  # prefixes
            b"20.0.0.0,20.0.0.9,1\n30.0.0.0,30.0.0.9,2\n",  # ranges
            b"20.0.0.1 a.example\n20.0.0.2 b.example\n",  # host names
            b"1|2|-1\n2|3|0\n",  # relationships
            b"It was a dark night.\nIt was a dark night.\n",
            b"a\nb\n",
            b"vantage,destination,ttl,address,rtt\na,b,1,c,2\n",
        ],
    )
    def test_what_is_no_edge_list(self, data):
        assert not edge_list.sniff(data)

    def test_addresses_of_ends_name_the_nodes(self):
        data = b"tail,head,tail_addr,head_addr\n0,1,20.0.0.9,20.0.0.1\n1,2,20.0.0.1,2\n"
        topology, _ = self.read_bytes(data)
        assert topology.node_id.tolist() == [1, 0, 2]
        assert topology.node_addr[2].tolist() == [0, 0]
        assert links_of(topology) == [(0, 1), (1, 2)]

    def test_a_published_graph_reads_whole(self):
        path = real_data("graphs/as-caida20071105.jlg")
        assert detect_format(path) == "edge_list"
        topology, report, error = self.read(path)
        assert (topology.n_nodes, topology.n_links, error) == (26475, 53381, None)
        assert not report.rejected
