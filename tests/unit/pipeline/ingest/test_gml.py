"""GML: the Topology Zoo's way of writing, NetworkX's, and faults by name."""

from __future__ import annotations

import io

import networkx as nx
import numpy as np

from tests.contracts.graph_file import GraphFileContract, links_of

PAIR = b"node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ]"


class TestGml(GraphFileContract):
    format = "gml"
    sample = "zoo.gml"
    nodes = [0, 1, 5]
    links = [(0, 1), (1, 5)]
    bad = {
        "missing": (
            b"graph [ " + PAIR + b" edge [ source 1 target 9 ] ]",
            "",
            {"link to a missing node": 1},
        ),
        "no ends": (
            b"graph [ " + PAIR + b" edge [ source 1 ] ]",
            "",
            {"edge without an id or ends": 1},
        ),
        "no id": (b"graph [ " + PAIR + b" node [ ] ]", "", {"node without an id or ends": 1}),
        "open": (b"graph [ " + PAIR, "cut short: a bracket is not closed", {}),
        "closed": (b"graph [ " + PAIR + b" ] ]", "a bracket that closes nothing", {}),
        "deep": (b"graph [ " + PAIR + b" a [" * 200, "lists inside one another", {}),
        "nothing": (b"graph [ ]", "no usable node", {}),
    }

    def test_attributes_and_entities_of_texts(self):
        topology, _ = self.read_bytes(self.path.read_bytes())
        assert topology.node_columns["label"].tolist() == ["Vienna", "None", "Graz"]
        assert topology.node_columns["Internal"].tolist() == [1, 0, 1]
        longitude = topology.node_columns["Longitude"]
        assert np.isnan(longitude[1])
        assert longitude[0] == 16.37208
        assert topology.link_columns["LinkLabel"].tolist() == ["1 Gbit/s >", ""]

    def test_what_networkx_writes_is_read(self):
        graph = nx.les_miserables_graph()
        file = io.BytesIO()
        nx.write_gml(graph, file)
        topology, _ = self.read_bytes(file.getvalue())
        names = list(graph)
        assert topology.node_columns["label"].tolist() == names
        pairs = {tuple(sorted((names.index(a), names.index(b)))) for a, b in graph.edges}
        assert links_of(topology) == sorted(pairs)
