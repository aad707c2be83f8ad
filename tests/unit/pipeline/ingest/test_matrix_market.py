"""Matrix Market: entries as counted by hand, against SciPy's writer, and faults by name."""

from __future__ import annotations

import io

import numpy as np
import scipy.io
import scipy.sparse

from tests.contracts.graph_file import GraphFileContract, links_of

HEAD = b"%%MatrixMarket matrix coordinate pattern general\n"


class TestMatrixMarket(GraphFileContract):
    format = "matrix_market"
    sample = "small.mtx"
    nodes = [1, 2, 3, 4]
    links = [(1, 2), (1, 4), (2, 3)]
    bad = {
        "rectangular": (HEAD + b"2 3 1\n1 2\n", "2 rows and 3 columns", {}),
        "outside": (HEAD + b"2 2 2\n1 2\n3 1\n", "", {"entry outside the matrix": 1}),
        "ragged": (HEAD + b"2 2 2\n1 2\n1\n", "", {"not row, column and value": 1}),
        "words": (HEAD + b"2 2 2\n1 2\nx y\n", "", {"not a line of numbers": 1}),
        "huge": (HEAD + b"2147483647 2147483647 1\n1 2\n", "declares 2,147,483,647 nodes", {}),
        "nothing": (HEAD, "no line `rows columns entries`", {}),
        "empty": (HEAD + b"2 2 0\n", "no usable entry", {}),
    }

    def test_fewer_entries_than_declared_are_used_and_the_file_is_cut_short(self):
        data = HEAD + b"4 4 5\n1 2\n2 3\nx y\n"
        topology, report = self.read_bytes(data)
        assert links_of(topology) == [(1, 2), (2, 3)]
        assert report.status == "partial"
        assert "cut short: found 3 of 5 declared entries" in report.error

    def test_values_are_weights_unless_one_is_none(self):
        topology, _ = self.read_bytes(self.path.read_bytes())
        assert sorted(topology.weight.tolist()) == [0.5, 1, 2.25]
        topology, report = self.read_bytes(self.path.read_bytes().replace(b"2.25", b"-1"))
        assert topology.weight is None
        assert report.notes == {"values below 0 or too large: not read as weights": 3}

    def test_what_scipy_writes_is_read(self):
        rng = np.random.default_rng(1)
        matrix = scipy.sparse.random(50, 50, 0.05, random_state=rng)
        for symmetry in ("general", "symmetric"):
            if symmetry == "symmetric":
                matrix = matrix + matrix.T
            file = io.BytesIO()
            scipy.io.mmwrite(file, matrix, symmetry=symmetry)
            topology, _ = self.read_bytes(file.getvalue())
            whole = matrix.tocoo()
            pairs = set(zip(*(ends + 1 for ends in (whole.row, whole.col)), strict=True))
            assert set(links_of(topology)) == {(min(pair), max(pair)) for pair in pairs}
