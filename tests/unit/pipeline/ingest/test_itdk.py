"""ITDK: links of several ends, what lies beside them, and faults by name."""

from __future__ import annotations

import gzip
import shutil

import pytest

from tests.addresses import format_addrs
from tests.contracts.graph_file import GraphFileContract, links_of
from tests.contracts.trace_reader import SAMPLES

LINK = b"link L1:  N1:20.0.0.1 N2\n"
BESIDE = SAMPLES / "itdk" / "beside"


class TestItdk(GraphFileContract):
    format = "itdk"
    sample = "small.links"
    nodes = [1, 2, 3, 4]
    links = [(1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]
    bad = {
        "words": (LINK + b"link L2: N1 x\nN1 N2\n", "", {"not a link": 2}),
        "one end": (LINK + b"link L2:  N1\n", "", {"not a link": 1}),
        "address": (LINK + b"link L2:  N1:20.0.0.300 N2\n", "", {"not a link": 1}),
        "nothing": (b"# only this\n", "no usable link", {}),
    }

    def test_ends_are_linked_if_one_of_them_is_known(self):
        data = b"link L7:  N1:20.0.0.1 N2 N3 N4:20.0.0.4\nlink L8:  N5 N6 N7\n"
        topology, _ = self.read_bytes(data)
        assert links_of(topology) == [(1, 2), (1, 3), (1, 4), (2, 4), (3, 4), (5, 6), (5, 7)]
        assert sorted(topology.link_columns["link"].tolist()) == [7] * 5 + [8] * 2

    def test_a_link_of_very_many_ends_is_a_star(self):
        ends = " ".join(f"N{i}:20.0.{i // 250}.{i % 250}" for i in range(1, 1502))
        topology, report = self.read_bytes(f"link L1:  {ends}\n".encode())
        assert topology.n_links == 1500
        assert report.notes == {"links of more than 1000 ends, as stars": 1}

    @pytest.mark.parametrize("packed", [False, True])
    def test_what_lies_beside_is_read(self, tmp_path, packed):
        for path in BESIDE.iterdir():
            if packed:
                (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            else:
                shutil.copy(path, tmp_path)
        topology, report, error = self.read(tmp_path / ("kit.links" + ".gz" * packed))
        assert error is None
        assert topology.node_id.tolist() == [1, 2, 4, 3]
        assert format_addrs(topology.node_addr[:3]) == ["20.0.0.1", "20.0.0.5", "20.0.0.6"]
        assert format_addrs(topology.addrs) == [
            *("20.0.0.1", "20.0.0.5", "20.0.0.6", "20.0.9.9"),
            "2600::4",
        ]
        assert topology.addr_node.tolist() == [0, 1, 2, 0, 2]
        assert topology.node_asn.tolist() == [64500, 64501, 64501, -1]
        assert topology.node_columns["method"].tolist() == ["origin", "refinement", "", ""]
        assert topology.node_columns["city"].tolist() == ["Wien", "", "Graz", ""]
        assert sum(report.notes.values()) == 11

    def test_a_broken_file_beside_it_costs_nothing_else(self, tmp_path):
        shutil.copy(BESIDE / "kit.links", tmp_path)
        (tmp_path / "kit.nodes.as").write_text("node.AS N1 1 x\nnode.AS N2 y z\n")
        (tmp_path / "kit.nodes").write_bytes(b"\x1f\x8bxx")
        topology, report, error = self.read(tmp_path / "kit.links")
        assert error is None
        assert sorted(topology.node_asn.tolist()) == [-1, -1, -1, 1]
        assert dict(report.rejected) == {"not `node.AS N1 AS method`": 1}
        assert any(note.startswith(".nodes not read") for note in report.notes)
