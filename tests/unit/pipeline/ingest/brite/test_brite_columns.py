"""BRITE: which columns a row may lack, and that the graph is the same without them."""

from __future__ import annotations

import io
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import FormatError
from pipeline.ingest import brite
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology
from tests.soak import examples

# What follows the required columns of a row, of (ASes, type, direction).
NODE_ENDS = [(), ("as",), ("type",), ("as", "type")]
EDGE_ENDS = [
    (),
    ("type",),
    ("as",),
    ("type", "direction"),
    ("as", "type"),
    ("as", "type", "direction"),
]
COUNTS = {6: 0, 7: 1, 8: 3, 9: 4, 10: 5}  # columns of an edge -> place in EDGE_ENDS
# Of the manual, of both engines, and of ns-3, which prints what the C++ engine keeps inside.
EDGE_TYPES = ("E_RT", "E_AS", "E_RT_NONE", "E_RT_BORDER", "E_AS_BACKBONE_LINK", "E_AS_NONE")


def read(data: str) -> tuple[Topology, ReadReport, str]:
    report = ReadReport("x.brite", "brite")
    topology, fault = None, ""
    try:
        for topology in brite.read(io.BytesIO(data.encode()), report):
            assert isinstance(topology, Topology)
    except FormatError as error:
        fault = error.reason
    assert topology is not None
    return topology, report, fault


def written(nodes, edges, node_ends, edge_ends, gap=" ", last="\n") -> str:
    """A BRITE file; ``nodes``: (AS, type), ``edges``: (from, to, length, type, direction)."""
    lines = [f"Topology: ( {len(nodes)} Nodes, {len(edges)} Edges )", "Model ( 1 ): 4 4", ""]
    lines.append(f"Nodes: ( {len(nodes)} )")
    for node, ((asn, word), end) in enumerate(zip(nodes, node_ends, strict=True)):
        more = {"as": [asn], "type": [word]}
        lines.append(gap.join(map(str, [node, 1, 2.5, 3, 3, *(x for e in end for x in more[e])])))
    lines += ["", f"Edges: ( {len(edges)} )"]
    for edge, ((near, far, length, word, way), end) in enumerate(
        zip(edges, edge_ends, strict=True)
    ):
        more = {"as": [nodes[near][0], nodes[far][0]], "type": [word], "direction": [way]}
        needed = [edge, near, far, length, 0.5, 10.0]
        lines.append(gap.join(map(str, [*needed, *(x for e in end for x in more[e])])))
    return "\n".join(lines) + last


def same_graph(found: Topology, expected: Topology) -> None:
    for name in ("node_asn", "node_id", "near", "far", "weight"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    for name in ("asn_from", "asn_to", "edge_id", "delay", "bandwidth"):
        assert found.link_columns[name].tolist() == expected.link_columns[name].tolist()
    for name in ("x", "y", "indegree", "outdegree"):
        assert found.node_columns[name].tolist() == expected.node_columns[name].tolist()


NODES = [(7, "RT_NODE"), (7, "RT_BORDER"), (9, "RT_NODE"), (9, "RT_NODE")]
EDGES = [(0, 1, 1.0, "E_RT", "U"), (1, 2, 2.5, "E_AS", "U"), (2, 3, 1.0, "E_RT", "U")]


@pytest.mark.parametrize("end", EDGE_ENDS)
@pytest.mark.parametrize("gap", [" ", "\t", "  "])
def test_edges_of_every_form_give_the_same_graph(end, gap):
    full = [("as", "type")] * 4
    expected, _, _ = read(written(NODES, EDGES, full, [EDGE_ENDS[-1]] * 3))
    found, report, fault = read(written(NODES, EDGES, full, [end] * 3, gap))
    assert (fault, report.rejected, report.notes) == ("", {}, {})
    assert report.n_records == 7
    same_graph(found, expected)
    assert not found.link_columns["directed"].any()
    words = [edge[3] for edge in EDGES] if "type" in end else [""] * 3
    assert found.link_columns["type"].tolist() == words


def test_edges_of_the_manual_make_the_path_that_they_are():
    nine = "0 0 1 1.0 1.0 -1 10.0 -1 E_RT\n1 1 2 1.0 1.0 -1 10.0 -1 E_RT\n"
    nodes = "".join(f"{i} 1 2 3 3 -1 RT_NODE\n" for i in range(3))
    data = (
        f"Topology: ( 3 Nodes, 2 Edges )\nModel ( 2 ): 1\n\nNodes: ( 3 )\n{nodes}\nEdges: ( 2 )\n"
    )
    topology, report, fault = read(data + nine)
    assert (fault, report.rejected) == ("", {})
    assert topology.near.tolist() == [0, 1]
    assert topology.far.tolist() == [1, 2]


@pytest.mark.parametrize("word", EDGE_TYPES)
@pytest.mark.parametrize("n_columns", [8, 9, 10])
def test_edge_types_of_every_writer_are_words(word, n_columns):
    edges = [(near, far, length, word, "U") for near, far, length, *_ in EDGES]
    end = EDGE_ENDS[COUNTS[n_columns]]
    topology, report, fault = read(written(NODES, edges, [("as", "type")] * 4, [end] * 3))
    assert (fault, report.rejected) == ("", {})
    assert topology.link_columns["type"].tolist() == [word] * 3


@pytest.mark.parametrize("end", NODE_ENDS)
def test_nodes_without_an_as_or_a_type_are_nodes(end):
    topology, report, fault = read(written(NODES, EDGES, [end] * 4, [EDGE_ENDS[3]] * 3))
    assert (fault, report.rejected) == ("", {})
    assert topology.n_links == 3
    assert topology.node_asn.tolist() == ([7, 7, 9, 9] if "as" in end else [NO_ASN] * 4)
    words = [word for _, word in NODES] if "type" in end else [""] * 4
    assert topology.node_columns["type"].tolist() == words


def test_as_types_make_a_file_as_level_whatever_its_edges_lack():
    nodes = [(asn, "AS_NODE") for asn in (4, 5, 6)]
    for end in EDGE_ENDS:
        topology, _, _ = read(written(nodes, EDGES[:2], [("as", "type")] * 3, [end] * 2))
        assert topology.kind == "as"


@pytest.mark.parametrize(
    ("row", "reason", "detail"),
    [
        ("0 0 1 1 1", "too few columns", "5 of 6"),
        ("0 0 1 1 1 10 7", "not a known word", "7"),  # one AS alone
        ("0 0 1 1 1 10 E_RT 7 U", "not a number", "E_RT"),
        ("0 0 1 1 1 10 7 7 U E_RT U", "too many columns", "11 of 10"),
        ("0 0 1 1 1 10 7 x", "not a number", "x"),
        ("0 0 1 1 1 10 E_RT 7", "not a known word", "7"),
    ],
)
def test_rows_of_no_form_are_named(row, reason, detail):
    data = written(NODES, EDGES, [("as", "type")] * 4, [EDGE_ENDS[-1]] * 3)
    topology, report, _ = read(data + row + "\n")
    assert topology.n_links == 3
    assert [(r.reason, r.detail) for r in report.samples] == [(reason, detail)]


@pytest.mark.parametrize("n_lost", range(1, 12))
def test_a_last_row_that_lost_columns_with_its_end_is_no_row(n_lost):
    """Of "10.0 9 9 E_RT U" without a line break; a shorter form does not make it whole."""
    whole = written(NODES, EDGES, [("as", "type")] * 4, [EDGE_ENDS[-1]] * 3, last="")
    topology, report, fault = read(whole[:-n_lost])
    n_columns = len(whole[:-n_lost].splitlines()[-1].split())
    assert topology.n_links == (3 if n_columns == 10 else 2)
    assert report.rejected.total() == (n_columns < 10)
    assert fault.startswith("cut short") == (n_columns < 10)


@given(data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_rows_of_mixed_forms_give_the_same_graph(data):
    n = data.draw(st.integers(2, 12))
    nodes = [
        (
            data.draw(st.sampled_from([NO_ASN, 0, 65000])),
            data.draw(st.sampled_from(["RT_NODE", "X1"])),
        )
        for _ in range(n)
    ]
    ids, word = st.integers(0, n - 1), st.sampled_from(EDGE_TYPES)
    lengths, way = st.sampled_from([0, 1.5, 7, "2.0E-3"]), st.just("U")
    edges = data.draw(st.lists(st.tuples(ids, ids, lengths, word, way), max_size=12))
    ends = [data.draw(st.sampled_from(EDGE_ENDS)) for _ in edges]
    node_ends = [data.draw(st.sampled_from([("as",), ("as", "type")])) for _ in nodes]
    gap = data.draw(st.sampled_from([" ", "\t"]))
    full = written(nodes, edges, [NODE_ENDS[-1]] * n, [EDGE_ENDS[-1]] * len(edges))
    expected, _, _ = read(full)
    found, report, fault = read(written(nodes, edges, node_ends, ends, gap))
    assert (fault, report.rejected, report.notes) == ("", {}, {})
    same_graph(found, expected)


@pytest.mark.parametrize("forms", list(product(EDGE_ENDS, EDGE_ENDS)))
def test_a_change_of_form_in_a_long_file_leaves_nothing_of_the_other(forms):
    """Rows are scanned compiled, columns grow twice, and a broken row is between the two forms."""
    n = 1500
    edges = [(i % 4, (i + 1) % 4, i + 0.5, EDGE_TYPES[i % 3], "D") for i in range(2 * n)]
    ends = [forms[0]] * n + [forms[1]] * n
    rows = written(NODES, edges, [("as", "type")] * 4, ends).splitlines()
    rows.insert(len(rows) - n, "5 0 1 3.5 0.25 20.0 3 3 E_RT !")
    found, report, _ = read("\n".join(rows) + "\n")
    assert report.rejected == {"not a known word": 1}
    assert found.weight.tolist() == [edge[2] for edge in edges]
    node_asn = np.array([asn for asn, _ in NODES])
    assert found.link_columns["asn_from"].tolist() == node_asn[found.near].tolist()
    directed = ["direction" in end for end in ends]
    assert found.link_columns["directed"].tolist() == directed
    types = [edge[3] if "type" in end else "" for edge, end in zip(edges, ends, strict=True)]
    assert found.link_columns["type"].tolist() == types
