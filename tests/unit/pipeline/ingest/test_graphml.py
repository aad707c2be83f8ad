"""GraphML: attributes of every type, what other programs write, and nothing from outside."""

from __future__ import annotations

import io

import igraph
import networkx as nx
import pytest

from tests.contracts.graph_file import GraphFileContract, links_of

GRAPH = b'<graphml><graph edgedefault="undirected">%s</graph></graphml>'
PAIR = b'<node id="a"/><node id="b"/><edge source="a" target="b"/>'


class TestGraphml(GraphFileContract):
    format = "graphml"
    sample = "small.graphml"
    nodes = [0, 1, 2]
    links = [(0, 1), (1, 2)]
    bad = {
        "missing": (
            GRAPH % (PAIR + b'<edge source="a" target="x"/>'),
            "",
            {"link to a missing node": 1},
        ),
        "twice": (GRAPH % (PAIR + b'<node id="a"/>'), "", {"node with the name of another one": 1}),
        "no id": (GRAPH % (PAIR + b"<node/>"), "", {"node without an id or ends": 1}),
        "cut": (GRAPH.partition(b"%")[0] + PAIR, "no XML from here on", {}),
        "entities": (
            b'<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + GRAPH % PAIR,
            "declares entities, which are not read",
            {},
        ),
        "external": (
            b'<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
            + GRAPH % (PAIR + b'<node id="&x;"/>'),
            "declares entities, which are not read",
            {},
        ),
        "deep": (GRAPH % (b"<a>" * 200), "elements inside one another", {}),
        "long": (GRAPH % (b'<node id="' + b"a" * (20 << 20)), "a tag longer than 16 MiB", {}),
        "nothing": (GRAPH % b"", "no usable node", {}),
    }

    def test_attributes_have_their_types_and_meanings(self):
        topology, _ = self.read_bytes(self.path.read_bytes())
        assert topology.node_asn.tolist() == [1, 1, 2]
        assert topology.node_columns["label"].tolist() == ['A & "B"', "none", "none"]
        assert topology.weight.tolist() == [1.5, 2]
        assert topology.link_columns["up"].tolist() == [True, False]

    def test_what_networkx_and_igraph_write_is_read(self, tmp_path):
        graph = nx.karate_club_graph()
        file = io.BytesIO()
        nx.write_graphml(graph, file)
        topology, _ = self.read_bytes(file.getvalue())
        assert links_of(topology) == sorted((min(e), max(e)) for e in graph.edges)
        assert topology.node_columns["club"].tolist() == [graph.nodes[n]["club"] for n in graph]
        assert topology.weight.tolist() == [graph.edges[e]["weight"] for e in graph.edges]
        igraph.Graph.Ring(5).write_graphml(str(tmp_path / "ring"))
        topology, _, _ = self.read(tmp_path / "ring")
        assert links_of(topology) == [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4)]

    def test_names_that_are_no_numbers_are_kept(self):
        topology, _ = self.read_bytes(GRAPH % PAIR)
        assert topology.node_columns["name"].tolist() == ["a", "b"]
        assert topology.node_id.tolist() == [0, 1]

    @pytest.mark.parametrize(
        "name", ["degree", "id", "addr_high", "n_traces", "siblings", "../x y"]
    )
    def test_an_attribute_never_takes_the_name_of_a_column_of_the_store(self, name):
        key = f'<key id="k" for="node" attr.name="{name}" attr.type="string"/>'.encode()
        node = b'<node id="a"><data key="k">v</data></node><node id="b"/>'
        data = (GRAPH % (node + PAIR[-31:])).replace(b"<graph ", key + b"<graph ")
        topology, _ = self.read_bytes(data)
        (column,) = topology.node_columns.keys() - {"name"}
        assert column != name
        assert topology.node_columns[column].tolist() == ["v", ""]

    def test_addresses_sort_the_nodes_and_ids_stay(self):
        key = b'<key id="k" for="node" attr.name="addr" attr.type="string"/>'
        rows = [(0, b"20.0.0.9"), (1, b""), (2, b"20.0.0.1")]
        nodes = b"".join(b'<node id="n%d"><data key="k">%s</data></node>' % row for row in rows)
        data = key + nodes + b'<edge source="n0" target="n2"/>'
        topology, _ = self.read_bytes(GRAPH % data)
        assert topology.node_id.tolist() == [2, 0, 1]
        assert links_of(topology) == [(0, 2)]
