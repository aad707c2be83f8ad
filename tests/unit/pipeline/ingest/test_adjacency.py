"""Neighbour lists: links as counted by hand, faults named, and what the project writes is read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.generate import Parameters, generate
from pipeline.generate.files.adjacency_file import write_adjacency
from pipeline.ingest import adjacency, detect_format
from pipeline.model.topology import Topology
from tests.contracts.topology_reader import TopologyReaderContract, links_of
from tests.contracts.trace_reader import SAMPLES
from tests.soak import examples

FOLDER = SAMPLES / "adjacency"


class TestAdjacency(TopologyReaderContract):
    format = "adjacency"
    sample = "lists.txt"

    @property
    def bad(self):
        return BAD

    def test_the_same_lines_in_another_order_are_the_same_graph(self, tmp_path):
        """Here the place of a line is the number of its node: comments may move, lines may not."""
        whole = self.read_bytes(tmp_path, self.data)[0]
        commented = b"# a\n" + self.data.replace(b"\n\n", b"\n# b\n\n#c\n")
        assert links_of(self.read_bytes(tmp_path, commented)[0]) == links_of(whole)

    def test_a_broken_line_is_rejected_by_its_number_and_the_rest_is_read(self, tmp_path):
        """It is the line of a node all the same, so that later ones keep their numbers."""
        data = b"1,3\n0,3\nno node at all\n0,1\n"
        found, report, error = self.read_bytes(tmp_path, data)
        assert error is None
        assert links_of(found) == [(0, 1), (0, 3), (1, 3)]
        assert found.node_id.tolist() == [0, 1, 2, 3]
        assert [(r.place, r.reason) for r in report.samples] == [
            ("line 3", "not a list of numbers")
        ]

    def test_lists_are_read_as_counted_by_hand(self, tmp_path):
        topology, report, error = self.read(FOLDER / "lists.txt")
        assert error is None
        assert links_of(topology) == [(0, 1), (0, 2), (1, 2), (2, 3), (2, 5)]
        assert topology.n_nodes == 6
        assert not report.rejected + report.notes

    def test_one_sided_repeated_and_missing_neighbours_are_counted(self, tmp_path):
        topology, report, _ = self.read_bytes(tmp_path, b"1,1,2,7\n\n2,1\n")
        assert links_of(topology) == [(0, 1), (2, 2), (1, 2), (0, 2)]
        assert report.notes == {"neighbours named twice": 1, "links that only one end names": 3}
        assert report.rejected == {"neighbour without a line of its own": 1}

    @settings(max_examples=examples(100), deadline=None)
    @given(
        lists=st.lists(st.lists(st.integers(0, 8), max_size=5), min_size=1, max_size=9),
    )
    def test_any_lists_give_the_links_that_either_end_names(self, lists, tmp_path_factory):
        data = "".join(",".join(map(str, row)) + "\n" for row in lists).encode()
        named = {(u, v) for u, row in enumerate(lists) for v in row if v < len(lists)}
        topology, report, error = self.read_bytes(tmp_path_factory.mktemp("lists"), data)
        found = [] if topology is None else links_of(topology)
        assert len(found) == len(set(found))
        assert set(found) == {(min(pair), max(pair)) for pair in named}
        assert bool(error) == (not named)
        assert report.notes["links that only one end names"] == sum(
            pair[::-1] not in named for pair in named
        )
        beyond = sum(v >= len(lists) for row in lists for v in row)
        assert report.rejected.total() == beyond


@pytest.mark.parametrize("model", ["ba", "degrees", "rmat", "top-down"])
def test_what_is_written_is_read_back(model, tmp_path):
    given = Parameters(n_routers=300, n_ases=3)
    topology, path = generate(model, given), tmp_path / "a.adj"
    command = f"hopscope generate {model} --routers 300 --seed 1"
    write_adjacency(topology, path, command)
    assert detect_format(path) == "adjacency"
    found, report, error = TestAdjacency().read(path)
    assert error is None
    assert not report.rejected + report.notes
    pairs = np.sort(np.stack([topology.near, topology.far], axis=1))
    assert sorted(links_of(found)) == sorted(map(tuple, pairs.tolist()))
    assert path.read_text().splitlines()[1] == f"# {command}"
    assert report.made_by == command


@pytest.mark.parametrize(
    "text",
    [
        "# Neighbours of node 0, 1, 2, ...\n1\n0\n",
        "# Neighbours of node 0, 1, 2, ...\n1\n# hopscope generate ba --routers 2\n0\n",
        "1\n0\n",
    ],
)
def test_lists_that_do_not_begin_with_a_command_are_not_called_generated(text, tmp_path):
    found, report, error = TestAdjacency().read_bytes(tmp_path, text.encode())
    assert (found.n_links, report.made_by, error) == (1, "", None)


def test_a_node_without_links_has_an_empty_line(tmp_path):
    none = np.empty(0, np.int64)
    write_adjacency(Topology(np.array([1, 1, 1]), none, none), tmp_path / "a.adj")
    assert (tmp_path / "a.adj").read_text().splitlines()[1:] == ["", "", ""]


@pytest.mark.parametrize("n_nodes", [1, 3])
def test_what_is_written_of_a_topology_without_links_is_read_back(tmp_path, n_nodes):
    none = np.empty(0, np.int64)
    write_adjacency(Topology(np.ones(n_nodes, np.int64), none, none), tmp_path / "a.adj")
    found, report, error = TestAdjacency().read(tmp_path / "a.adj")
    assert (found.n_nodes, found.n_links, error) == (n_nodes, 0, None)
    assert not report.rejected


BAD = {
    "empty.adj": ({}, "empty.adj: empty"),
    "no_links.adj": ({}, "no usable link; expected the neighbours of one node per line"),
    "broken_lines.adj": (
        {
            "not a list of numbers": 2,
            "node out of range": 1,
            "neighbour without a line of its own": 1,
        },
        "",
    ),
}


def test_every_bad_sample_gives_its_message():
    for path in (FOLDER / "bad").iterdir():
        rejected, message = BAD[path.name]
        _, report, error = TestAdjacency().read(path)
        assert report.rejected == rejected, path
        assert message in str(error or "")


@pytest.mark.parametrize(
    ("head", "is_ours"),
    [
        (b"1\n0\n", False),  # no comma: any column of numbers
        (b"1,2\n0\n0\n", True),
        (b"0,1\n0,2\n1,2\n3,0\n", False),  # links, one per line
        (b"100,200\n300,400\n500,600\n", False),  # likewise, with nodes beyond these lines
        (b"100,200,300\n300,400,500\n", True),
        (b"a,b\n1,2\n", False),
        (b"1,2\n0,x\n", False),
        (b"# Neighbours of node 0, 1, 2, ...: one node per line\n", True),
        (b"", False),
    ],
)
def test_lists_are_told_from_links_and_tables(head, is_ours):
    assert adjacency.sniff(head) == is_ours
