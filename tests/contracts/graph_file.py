"""Contract of readers whose files are graphs as a whole; test classes of formats inherit it.

A class gives ``format``, ``sample`` (below data/samples/), ``nodes`` (ids of the sample's nodes),
``links`` (both ids of each link, as counted by hand) and ``bad``: the bytes of broken files, each
with a part of the error ("" where the file is used), and the rejected records by reason.
"""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import FormatError
from pipeline.graphs import build_graphs
from pipeline.infer.declared import declare
from pipeline.ingest import FORMATS, detect_format, open_reader
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology
from tests.contracts.topology_reader import SETTINGS
from tests.contracts.trace_reader import COMPRESS, SAMPLES, mutations


def check_columns(topology: Topology) -> None:
    """Fail unless the columns are what Topology promises, and graphs can be built of them."""
    n, m = topology.n_nodes, topology.n_links
    assert n > 0
    assert (topology.near.dtype, topology.far.dtype, len(topology.far)) == (np.int64, np.int64, m)
    for end in (topology.near, topology.far):
        assert ((end >= 0) & (end < n)).all()
    assert topology.node_id is not None
    assert len(np.unique(topology.node_id)) == n
    if topology.node_addr is None:
        assert (np.diff(topology.node_id) > 0).all()
    assert {len(column) for column in topology.node_columns.values()} <= {n}
    assert {len(column) for column in topology.link_columns.values()} <= {m}
    if topology.weight is not None:
        assert (topology.weight.dtype, len(topology.weight)) == (np.float32, m)
        assert not (topology.weight < 0).any()
        assert topology.weight_unit
    build_graphs([declare(topology, asn=1, ingresses=None)])


def links_of(topology: Topology) -> list[tuple[int, int]]:
    assert topology.node_id is not None
    ends = (topology.node_id[topology.near], topology.node_id[topology.far])
    return sorted(
        (min(pair), max(pair)) for pair in zip(*map(np.ndarray.tolist, ends), strict=True)
    )


class GraphFileContract:
    format: str
    sample: str
    nodes: list[int]
    links: list[tuple[int, int]]
    bad: dict[str, tuple[bytes, str, dict[str, int]]]

    @property
    def path(self) -> Path:
        return SAMPLES / self.format / self.sample

    def read(self, path: Path) -> tuple[Topology | None, ReadReport, FormatError | None]:
        report, topology, fault = ReadReport(str(path)), None, None
        try:
            for topology in open_reader(path, report, self.format)[1]:
                assert isinstance(topology, Topology)
                check_columns(topology)
        except FormatError as error:
            fault = error
        assert (report.status == "ok") == (fault is None)
        return topology, report, fault

    def read_bytes(self, data: bytes) -> tuple[Topology | None, ReadReport]:
        report, topology = ReadReport("bytes"), None
        try:
            for topology in FORMATS[self.format].load().read(io.BytesIO(data), report):
                check_columns(topology)
        except FormatError as error:
            report.refuse(error, partly=topology is not None)
        return topology, report

    def test_the_sample_gives_the_links_counted_by_hand(self):
        topology, report, error = self.read(self.path)
        assert error is None
        assert sorted(topology.node_id.tolist()) == self.nodes
        assert links_of(topology) == self.links
        assert report.n_records > 0
        assert not report.rejected

    @pytest.mark.parametrize("compression", COMPRESS)
    def test_the_format_is_detected_by_content(self, tmp_path, compression):
        packed = tmp_path / "renamed"
        packed.write_bytes(COMPRESS[compression](self.path.read_bytes()))
        assert detect_format(packed) == self.format
        assert links_of(self.read(packed)[0]) == self.links

    def test_reading_in_small_steps_gives_the_same(self):
        class Dribble(io.BytesIO):
            def read(self, size=-1):
                return super().read(min(size, 7) if size > 0 else size)

        stream = Dribble(self.path.read_bytes())
        (topology,) = FORMATS[self.format].load().read(stream, ReadReport("dribble"))
        assert links_of(topology) == self.links

    def test_a_packed_file_cut_short_says_so_and_gives_no_other_links(self, tmp_path):
        packed = gzip.compress(self.path.read_bytes(), 0)
        for keep in (len(packed) - 1, len(packed) - 20, len(packed) // 2):
            path = tmp_path / "cut"
            path.write_bytes(packed[:keep])
            topology, report, error = self.read(path)
            assert "cut short" in str(error)
            assert report.status == ("rejected" if topology is None else "partial")
            assert set(links_of(topology) if topology else []) <= set(self.links)

    def test_broken_files_give_the_messages_written_beside_them(self, tmp_path):
        for name, (content, message, rejected) in self.bad.items():
            path = tmp_path / name
            path.write_bytes(content)
            _, report, error = self.read(path)
            assert (error is None) == (not message), (name, error)
            assert message in str(error), name
            assert dict(report.rejected) == rejected, name

    @SETTINGS
    @given(data=st.data())
    def test_no_bytes_raise_anything_but_a_format_error(self, data):
        mutated = data.draw(mutations(self.path.read_bytes()) | st.binary(max_size=200))
        FORMATS[self.format].load().sniff(mutated)
        topology, report = self.read_bytes(mutated)
        assert topology is not None or report.status == "rejected"
        if topology is not None:
            assert (topology.node_asn >= NO_ASN).all()
