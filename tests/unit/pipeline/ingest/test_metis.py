"""METIS: the graph of its manual, published graphs, and faults by name."""

from __future__ import annotations

import pytest

from tests.contracts.graph_file import GraphFileContract, links_of
from tests.real_data import real_data

PLAIN = b"7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n"


class TestMetis(GraphFileContract):
    format = "metis"
    sample = "manual.graph"
    nodes = [1, 2, 3, 4, 5, 6, 7]
    links = [(1, 2), (1, 3), (1, 5), (2, 3), (2, 4), (3, 4), (3, 5)]
    links += [(4, 6), (4, 7), (5, 6), (6, 7)]
    bad = {
        "beyond": (PLAIN.replace(b"6 4\n", b"6 4 9\n"), "", {"neighbour that does not exist": 1}),
        "words": (PLAIN.replace(b"6 4\n", b"6 x\n"), "", {"not a line of numbers": 1}),
        "huge": (b"2147483647 1\n2\n1\n", "declares 2,147,483,647 nodes", {}),
        "nothing": (b"% only this\n", "no usable link", {}),
        "format": (b"7 11 7\n1 2\n", "no usable link", {}),
    }

    def test_weights_of_links_are_read(self):
        topology, _ = self.read_bytes(self.path.read_bytes())
        found = dict(zip(zip(topology.near + 1, topology.far + 1, strict=True), topology.weight,
                         strict=True))  # fmt: skip
        assert found[1, 5] == 1
        assert found[4, 7] == 5

    @pytest.mark.parametrize(
        ("head", "before"), [(b"7 11", b""), (b"7 11 010 2", b"9 9 "), (b"7 11 110", b"3 9 ")]
    )
    def test_sizes_and_weights_of_nodes_are_skipped(self, head, before):
        rows = PLAIN.split(b"\n")[1:-1]
        data = b"\n".join([head, *(before + row for row in rows), b""])
        topology, report = self.read_bytes(data)
        assert links_of(topology) == self.links
        assert topology.weight is None
        assert not report.notes

    def test_what_differs_is_noted(self):
        _, report = self.read_bytes(b"4 9\n2 2\n\n1\n")
        assert report.notes == {
            "fewer nodes than declared": 1,
            "neighbours named twice": 1,
            "links that only one end names": 2,
            "fewer edges than declared": 7,
        }

    @pytest.mark.parametrize(
        ("name", "n_nodes", "n_links"),
        [("4elt", 15606, 45878), ("power", 4941, 6594), ("PGPgiantcompo", 10680, 24316)],
    )
    def test_published_graphs_read_whole(self, name, n_nodes, n_links):
        topology, report, error = self.read(real_data(f"graphs/{name}.graph"))
        assert error is None
        assert (topology.n_nodes, topology.n_links) == (n_nodes, n_links)
        assert not report.rejected + report.notes
