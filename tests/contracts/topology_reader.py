"""Contract of all readers of topologies; a format's test class inherits these tests.

A class gives ``format`` and ``sample`` (below data/samples/): a file whose last line, like each
before it, is one link.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import FormatError
from pipeline.ingest import FORMATS, detect_format, open_reader
from pipeline.ingest.text import lines
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import Topology
from tests.contracts.trace_reader import COMPRESS, SAMPLES, mutations
from tests.soak import examples

SETTINGS = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)


def check_topology(topology: Topology) -> None:
    """Fail unless the columns are what Topology promises."""
    n, m = topology.n_nodes, topology.n_links
    assert n > 0
    assert topology.node_id is not None
    for column, length in ((topology.node_asn, n), (topology.node_id, n), (topology.near, m)):
        assert (column.shape, column.dtype) == ((length,), np.int64)
    assert (np.diff(topology.node_id) > 0).all()
    assert topology.node_id[0] >= 0
    for end in (topology.near, topology.far):
        assert len(end) == m
        assert ((end >= 0) & (end < n)).all()
    if topology.weight is not None:
        assert (topology.weight.shape, topology.weight.dtype) == ((m,), np.float32)
        assert topology.weight_unit
    assert {len(column) for column in topology.node_columns.values()} <= {n}
    assert {len(column) for column in topology.link_columns.values()} <= {m}


def links_of(topology: Topology) -> list[tuple[int, int]]:
    """Both ends of each link by the file's ids."""
    ends = (topology.node_id[topology.near], topology.node_id[topology.far])
    return list(zip(*(end.tolist() for end in ends), strict=True))


class TopologyReaderContract:
    format: str
    sample: str

    @property
    def bad(self) -> Collection[str]:
        """Names of the broken samples that tests of this reader look at."""
        raise NotImplementedError

    @property
    def data(self) -> bytes:
        return (SAMPLES / self.format / self.sample).read_bytes()

    def read(self, path: Path) -> tuple[Topology | None, ReadReport, FormatError | None]:
        """The topology, if there is one, the report, and the error that ended the file."""
        report, topology, fault = ReadReport(str(path)), None, None
        try:
            for topology in open_reader(path, report, self.format)[1]:
                assert isinstance(topology, Topology)
                check_topology(topology)
        except FormatError as error:
            fault = error
        assert (report.status == "ok") == (fault is None)
        if fault is not None:
            assert report.error == str(fault) == str(pickle.loads(pickle.dumps(fault)))
        return topology, report, fault

    def read_bytes(self, folder: Path, data: bytes):
        path = folder / "file"
        path.write_bytes(data)
        return self.read(path)

    def test_every_bad_sample_is_tested(self):
        folder = SAMPLES / self.format / "bad"
        assert set(self.bad) == {path.name for path in folder.iterdir()}

    def test_it_yields_topologies(self):
        assert FORMATS[self.format].kind == "topology"

    @pytest.mark.parametrize("compression", COMPRESS)
    def test_a_compressed_file_is_the_same_file(self, tmp_path, compression):
        plain, plain_report, _ = self.read(SAMPLES / self.format / self.sample)
        packed = tmp_path / "renamed"
        packed.write_bytes(COMPRESS[compression](self.data))
        assert detect_format(packed) == self.format
        found, report, error = self.read(packed)
        assert error is None
        assert links_of(found) == links_of(plain)
        assert report.n_records == plain_report.n_records
        assert report.notes == plain_report.notes

    def test_blocks_cut_anywhere_give_the_same(self, tmp_path, monkeypatch):
        whole = links_of(self.read_bytes(tmp_path, self.data)[0])
        for size in (1, 3, 17, 100):
            monkeypatch.setattr(lines, "BLOCK_BYTES", size)
            topology, report, error = self.read_bytes(tmp_path, self.data)
            assert error is None
            assert not report.rejected
            assert links_of(topology) == whole

    def test_a_packed_file_cut_short_gives_whole_links_and_then_says_so(self, tmp_path):
        whole = links_of(self.read_bytes(tmp_path, self.data)[0])
        packed = COMPRESS["gz"](self.data)
        for keep in (len(packed) - 1, len(packed) - 20, len(packed) // 2):
            topology, report, error = self.read_bytes(tmp_path, packed[:keep])
            assert "cut short" in str(error)
            assert report.status == ("partial" if report.n_records else "rejected")
            found = links_of(topology) if topology is not None else []
            assert found == whole[: len(found)]

    def test_the_same_lines_in_another_order_are_the_same_graph(self, tmp_path):
        whole = self.read_bytes(tmp_path, self.data)[0]
        *before, last, end = self.data.split(b"\n")
        assert not end
        moved = b"\n".join([*before[:-1], last, before[-1], b""])
        found = self.read_bytes(tmp_path, moved)[0]
        assert found.node_id.tolist() == whole.node_id.tolist()
        assert sorted(links_of(found)) == sorted(links_of(whole))

    def test_a_broken_line_is_rejected_by_its_number_and_the_rest_is_read(self, tmp_path):
        whole, _, _ = self.read_bytes(tmp_path, self.data)
        *before, last, _ = self.data.split(b"\n")
        broken = b"\n".join([*before, b"no link at all", last, b""])
        found, report, _ = self.read_bytes(tmp_path, broken)
        assert links_of(found) == links_of(whole)
        assert report.rejected.total() == 1
        assert report.samples[0].place == f"line {len(before) + 1}"

    @SETTINGS
    @given(data=st.data())
    def test_no_bytes_raise_anything_but_a_format_error(self, tmp_path, data):
        mutated = data.draw(mutations(self.data) | st.binary(max_size=200))
        FORMATS[self.format].load().sniff(mutated)
        _, report, _ = self.read_bytes(tmp_path, mutated)
        assert report.n_records <= len(mutated)
