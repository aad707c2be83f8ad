"""Two rows of CSV: links as counted by hand, weights, and faults by name."""

from __future__ import annotations

from tests.contracts.graph_file import GraphFileContract


class TestCsr(GraphFileContract):
    format = "csr"
    sample = "rows.csv"
    nodes = [0, 1, 2, 3, 4]
    links = [(0, 1), (0, 2), (1, 2), (2, 3)]
    bad = {
        "falling": (b"0,3,2\n1,0\n", "row pointers do not ascend from 0", {}),
        "short": (b"0,1,4\n1,0\n", "2 column indices, where the row pointers say 4", {}),
        "beyond": (b"0,1,3\n1,0,7\n", "", {"neighbour that does not exist": 1}),
        "one": (b"0,1,2\n", "1 rows of numbers; expected 2 or 3", {}),
        "words": (b"0,1,2\na,b\n", "1 rows of numbers", {"not a line of numbers": 1}),
    }

    def test_a_third_row_holds_weights(self):
        topology, _ = self.read_bytes(b"0,1,2\n1,0\n1.5,1.5\n")
        assert topology.weight.tolist() == [1.5]

    def test_a_row_of_megabytes_is_read(self):
        n = 300_000
        pointers = ",".join(map(str, range(0, 2 * n + 1, 2)))
        heads = ",".join(f"{(i - 1) % n},{(i + 1) % n}" for i in range(n))
        topology, report = self.read_bytes(f"{pointers}\n{heads}\n".encode())
        assert (topology.n_nodes, topology.n_links) == (n, n)
        assert not report.notes
