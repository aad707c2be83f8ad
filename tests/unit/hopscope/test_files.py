"""Input files of any format, from Python."""

from __future__ import annotations

import pytest

from hopscope.files import read
from pipeline.errors import FormatError, UsageError
from tests.real_data import REPOSITORY

SAMPLES = REPOSITORY / "data" / "samples"


def test_a_topology_is_one_graph_with_names():
    found = read(SAMPLES / "snap" / "directed.txt")
    assert found.graph.n_nodes > 2
    assert found.node_of(found.name_of(1), "source") == 1
    assert repr(found).startswith("NamedGraph('directed.txt', ")


@pytest.mark.parametrize("path", ["warts/sample.warts", "scamper_json/sample.json"])
def test_traces_are_a_table_of_replies(path):
    traces = read(SAMPLES / path)
    table = traces.table()
    assert table.num_rows == sum(batch.n_replies for batch in traces.batches()) > 0
    assert set(table["kind"].to_pylist()) <= {
        *("time exceeded", "echo reply", "unreachable", "unknown", "other")
    }
    replies = list(zip(table["trace"].to_pylist(), table["ttl"].to_pylist(), strict=True))
    assert replies == sorted(replies)
    assert traces.report.n_records > 0
    assert traces.table(1).num_rows <= table.num_rows


def test_a_file_that_cannot_be_read_says_why(tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(FormatError, match="unknown format"):
        read(tmp_path / "a.txt")
    with pytest.raises(UsageError, match="unknown format 'x'"):
        read(tmp_path / "a.txt", "x")
