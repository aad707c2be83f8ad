"""AS relationships as a graph of ASes."""

from __future__ import annotations

from tests.contracts.graph_file import GraphFileContract
from tests.real_data import real_data


class TestAsRel(GraphFileContract):
    format = "as_rel"
    sample = "small.txt"
    nodes = [1, 2, 3, 4]
    links = [(1, 2), (1, 3), (2, 3), (3, 4)]
    bad = {
        "words": (b"1|2|0\n1|2\nx|2|0\n1|3|7\n", "", {"not two ASes and a relationship": 3}),
        "range": (b"1|2|0\n1|9999999999|0\n", "", {"AS number out of range": 1}),
        "nothing": (b"# only this\n", "no line `AS|AS|relationship`", {}),
    }

    def test_nodes_are_ases_and_relationships_are_kept(self):
        topology, _ = self.read_bytes(self.path.read_bytes())
        assert topology.kind == "as"
        assert topology.node_asn.tolist() == [1, 2, 3, 4]
        assert topology.link_columns["relationship"].tolist() == [-1, 0, 1, -1]

    def test_a_published_table_reads_whole(self):
        topology, report, error = self.read(real_data("asrel/caida-as-rel.20120601.txt.gz"))
        assert error is None
        assert topology.n_links == 121_309
        assert not report.rejected
