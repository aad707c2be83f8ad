"""BRITE: each engine's dialect is read, broken rows are named, nothing else breaks."""

from __future__ import annotations

import gzip
import io
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import FormatError
from pipeline.ingest import brite
from pipeline.ingest.text import lines
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology
from tests.contracts.topology_reader import TopologyReaderContract
from tests.real_data import real_data
from tests.soak import examples

SAMPLES = Path(__file__).parents[5] / "data" / "samples" / "brite"


class TestBrite(TopologyReaderContract):
    format = "brite"
    sample = "topdown_java.brite"

    @property
    def bad(self):
        return BAD


def read(data: bytes) -> tuple[Topology | None, ReadReport, FormatError | None]:
    report = ReadReport("x.brite", "brite")
    topology, error = None, None
    try:
        for read_topology in brite.read(io.BytesIO(data), report):
            topology = read_topology
    except FormatError as caught:
        error = caught
    return topology, report, error


def read_good(path: Path) -> tuple[Topology, ReadReport]:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    assert brite.sniff(data[:65536])
    topology, report, error = read(data)
    assert error is None
    assert topology is not None
    return topology, report


def plain_rows(path: Path) -> tuple[list[list[str]], list[list[str]]]:
    """Node and edge rows, by their number of columns: an oracle without dialects."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    rows = [line.split() for line in data.decode("ascii").replace("\0", " ").splitlines()]
    rows = rows[3:]  # titles
    nodes = [row for row in rows if len(row) == 7 and row[6].startswith(("RT_", "AS_"))]
    return nodes, [row for row in rows if len(row) == 10 and row[9] in "UD"]


def test_top_down_sample_is_read_as_counted_by_hand():
    topology, report = read_good(SAMPLES / "topdown_java.brite")
    assert topology.kind == "router"
    assert topology.node_id.tolist() == [2, 3, 4, 5, 6]
    assert topology.node_asn.tolist() == [0, 0, 0, 1, 1]
    assert topology.near.tolist() == [0, 1, 0, 3, 2]
    assert topology.far.tolist() == [1, 2, 2, 4, 3]
    assert topology.weight.tolist() == pytest.approx([5, 5, 10, 6, 22.803509])
    assert topology.weight_unit == "length"
    assert topology.weight.dtype == np.float32
    assert topology.node_columns["x"].tolist() == [0, 3, 6, 0, 0]
    assert topology.node_columns["y"].tolist() == [0, 4, 8, 30, 36]
    assert topology.node_columns["indegree"].tolist() == [2, 2, 3, 2, 1]
    assert topology.node_columns["outdegree"].tolist() == [2, 2, 3, 2, 1]
    assert topology.node_columns["type"].tolist() == [
        "RT_NODE",
        "RT_NODE",
        "RT_BORDER",
        "RT_BORDER",
        "RT_NODE",
    ]
    columns = topology.link_columns
    assert columns["edge_id"].tolist() == [4, 5, 6, 7, 8]
    assert columns["delay"].tolist()[4] == 0.07606431650949364
    assert columns["bandwidth"].tolist() == [10.0] * 5
    assert columns["asn_from"].tolist() == [0, 0, 0, 1, 0]
    assert columns["asn_to"].tolist() == [0, 0, 0, 1, 1]
    assert columns["type"].tolist() == ["E_RT"] * 4 + ["E_AS"]
    assert not columns["directed"].any()
    assert len(topology.ingresses) == 0
    assert report.n_records == 10


def test_cpp_sample_with_nul_bytes_and_trailing_blanks_is_read():
    topology, report = read_good(SAMPLES / "router_cpp.brite")
    assert (topology.n_nodes, topology.n_links, topology.kind) == (4, 4, "router")
    assert set(topology.node_asn.tolist()) == {NO_ASN}
    assert topology.link_columns["bandwidth"].tolist() == [104.16, 888.60, 10.0, 1000.0]
    assert topology.link_columns["directed"].tolist() == [False, False, False, True]
    assert report.notes == {"directed edges, used as undirected": 1}


def test_as_level_sample_is_of_kind_as():
    topology, _ = read_good(SAMPLES / "as_java.brite")
    assert (topology.n_nodes, topology.n_links, topology.kind) == (3, 3, "as")
    assert topology.node_asn.tolist() == [0, 1, 2]


BAD = {
    "cut_short.brite": (
        5,
        3,
        {"too few columns": 1},
        "line 18: cut short: found 3 of 5 declared edges",
    ),
    "no_edges.brite": (0, 0, {}, "line 10: cut short: found 4 of 5 declared nodes"),
    "empty.brite": (0, 0, {}, "is empty"),
    "header_only.brite": (0, 0, {}, "end of file: cut short: there is no Nodes: section"),
    "no_brite.brite": (
        0,
        0,
        {},
        "line 1: is not a BRITE topology: it does not begin with 'Topology:'",
    ),
    "no_nodes.brite": (0, 0, {}, "Nodes: no usable node"),
    "broken_rows.brite": (
        0,
        0,
        {
            "not a number": 2,
            "duplicate node id": 1,
            "number out of range": 1,
            "too few columns": 1,
            "edge to an unknown node": 3,
        },
        "Edges: no usable edge",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_sample_gives_what_is_there_and_its_message(name):
    n_nodes, n_links, rejected, message = BAD[name]
    topology, report, error = read((SAMPLES / "bad" / name).read_bytes())
    assert (topology.n_nodes if topology else 0) == n_nodes
    assert (topology.n_links if topology else 0) == n_links
    if rejected:
        assert report.rejected == rejected
    assert (str(error) if error else "") == (f"x.brite: {message}" if message else "")


def test_rejects_name_the_line():
    _, report, _ = read((SAMPLES / "bad" / "broken_rows.brite").read_bytes())
    places = {(reject.place, reject.reason, reject.detail) for reject in report.samples}
    assert ("line 8", "not a number", "three") in places
    assert ("line 9", "duplicate node id", "node 2") in places
    assert ("line 10", "number out of range", "AS or degree") in places
    assert ("line 19", "too few columns", "5 of 6") in places
    assert ("line 20", "not a number", "nan") in places
    assert ("line 16", "edge to an unknown node", "edge 2 to 3") in places


def test_a_negative_node_id_is_rejected_by_line_with_its_edges():
    text = (SAMPLES / "topdown_java.brite").read_bytes()
    lines = text.split(b"\n")
    rows = [i for i, line in enumerate(lines) if b"\tRT_" in line]
    old = lines[rows[0]].split(b"\t")[0]
    for node_id in (b"-1", b"-7"):
        changed = list(lines)
        changed[rows[0]] = node_id + lines[rows[0]][len(old) :]
        whole, _, _ = read(text)
        topology, report, error = read(b"\n".join(changed))
        assert error is None
        assert topology.n_nodes == whole.n_nodes - 1
        assert (topology.node_id >= 0).all()
        place = (f"line {rows[0] + 1}", "negative node id", f"node {int(node_id)}")
        assert place in [(r.place, r.reason, r.detail) for r in report.samples]
        assert report.rejected["negative node id"] == 1
        assert report.rejected["edge to an unknown node"] >= 1


def test_an_edge_that_names_another_as_than_its_nodes_is_noted_and_the_node_counts():
    text = (
        (SAMPLES / "topdown_java.brite").read_text().replace("10.0\t1\t1\tE_RT", "10.0\t1\t7\tE_RT")
    )
    topology, report, error = read(text.encode())
    assert error is None
    assert topology.node_asn.tolist() == [0, 0, 0, 1, 1]
    assert topology.link_columns["asn_to"].tolist() == [0, 0, 0, 7, 1]
    assert report.notes == {"edge end with another AS than its node": 1}


@pytest.mark.parametrize(
    ("length", "reason"),
    [
        *((text, "not a number") for text in ("inf", "-inf", "NaN", "1_0", "0x10", "1e")),
        *((text, "negative length") for text in ("-1.0", "-1e-9", "-1e400")),
        *((text, "length too large") for text in ("1e39", "1e300", "1e400")),
    ],
)
def test_a_length_that_is_no_length_rejects_its_edge(length, reason):
    text = (SAMPLES / "topdown_java.brite").read_text().replace("22.80350850198276", length)
    topology, report, _ = read(text.encode())
    assert topology.n_links == 4
    assert report.rejected == {reason: 1}
    assert report.samples[0].detail == length


def test_more_rows_than_declared_are_read_and_noted():
    text = (SAMPLES / "topdown_java.brite").read_text()
    text = text.replace("Nodes: ( 5 )", "Nodes: ( 3 )").replace("Edges: ( 5 )", "Edges: ( 1 )")
    topology, report, error = read(text.encode())
    assert error is None
    assert (topology.n_nodes, topology.n_links) == (5, 5)
    assert report.notes == {"more nodes than declared": 2, "more edges than declared": 4}


def test_a_gigantic_declared_count_allocates_nothing():
    text = (SAMPLES / "topdown_java.brite").read_text().replace("( 5 )", "( 999999999999999 )")
    topology, _, error = read(text.encode())
    assert topology.n_nodes == 5
    assert "of 999,999,999,999,999 declared nodes" in str(error)


@pytest.mark.parametrize("n_lost", [1, 2, 3, 10, 30])
def test_a_file_cut_within_its_last_line_is_cut_short(n_lost):
    data = (SAMPLES / "topdown_java.brite").read_bytes()
    topology, _, error = read(data[: -1 - n_lost])
    assert topology.n_links == 4
    assert "cut short: found 4 of 5 declared edges" in str(error)


def test_windows_line_ends_and_a_missing_last_newline_are_read():
    data = (SAMPLES / "topdown_java.brite").read_bytes().replace(b"\n", b"\r\n").rstrip()
    topology, _, error = read(data)
    assert error is None
    assert (topology.n_nodes, topology.n_links) == (5, 5)
    assert topology.link_columns["type"].tolist()[-1] == "E_AS"


def test_blocks_cut_anywhere_give_the_same_topology(monkeypatch):
    data = (SAMPLES / "topdown_java.brite").read_bytes()
    whole, _, _ = read(data)
    for size in (1, 7, 64, 200):
        monkeypatch.setattr(lines, "BLOCK_BYTES", size)
        cut, report, error = read(data)
        assert error is None
        assert report.rejected == {}
        assert cut.node_id.tolist() == whole.node_id.tolist()
        assert cut.near.tolist() == whole.near.tolist()
        assert cut.link_columns["delay"].tolist() == whole.link_columns["delay"].tolist()


def test_an_endless_line_is_one_reject_and_not_kept_in_memory(monkeypatch):
    monkeypatch.setattr(lines, "BLOCK_BYTES", 1 << 16)
    text = (SAMPLES / "topdown_java.brite").read_bytes()
    long = b"x" * (3 << 20) + b"\n"
    topology, report, error = read(text.replace(b"Edges: ( 5 )\n", b"Edges: ( 5 )\n" + long))
    assert error is None
    assert topology.n_links == 5
    assert report.rejected == {"line too long": 1}


class CutStream(io.RawIOBase):
    """Bytes that end in an error, as a truncated .gz does."""

    def __init__(self, data: bytes):
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def read(self, n: int = -1) -> bytes:
        if data := self._data.read(n):
            return data
        raise FormatError("x.brite", "byte 99", "compressed data cut short")


def test_a_broken_stream_gives_what_was_readable_and_its_own_error():
    data = (SAMPLES / "topdown_java.brite").read_bytes()
    report = ReadReport("x.brite", "brite")
    reader = brite.read(CutStream(data[: data.index(b"7\t5\t6") + 9]), report)
    assert next(reader).n_links == 3
    with pytest.raises(FormatError, match="byte 99: compressed data cut short"):
        next(reader)


@pytest.mark.parametrize(
    ("name", "n_nodes", "n_links", "n_ases", "n_inter", "kind"),
    [
        ("brite-as.brite", 1000, 2000, 1000, 2000, "as"),
        ("brite-router.brite", 10_000, 20_000, 0, 0, "router"),
        ("brite-topdown.brite", 1500, 3060, 30, 60, "router"),
        ("brite-bottomup.brite", 100, 200, 13, 143, "router"),
        ("java_TD10x1000.brite.gz", 10_000, 20_020, 10, 20, "router"),
        ("cpp_TD10x1000.brite.gz", 10_000, 20_020, 10, 20, "router"),
        ("java_BU5000_50AS_rw.brite.gz", 5000, 10_000, 50, 6843, "router"),
        ("java_RTBA10000.brite.gz", 10_000, 19_997, 0, 0, "router"),
        ("java_ASBA1k.brite.gz", 1000, 1997, 1000, 1997, "as"),
        ("cpp_RTWaxman1k.brite.gz", 1000, 2000, 0, 0, "router"),
    ],
)
def test_real_files_are_read_whole(name, n_nodes, n_links, n_ases, n_inter, kind):
    path = real_data(f"brite/{name}")
    topology, report = read_good(path)
    assert report.rejected == {}
    assert report.notes == {}
    assert (topology.n_nodes, topology.n_links, topology.kind) == (n_nodes, n_links, kind)
    assert len(set(topology.node_asn.tolist()) - {NO_ASN}) == n_ases
    asn = topology.node_asn
    assert int((asn[topology.near] != asn[topology.far]).sum()) == n_inter


@pytest.mark.parametrize(
    "name", ["brite-topdown.brite", "cpp_TD10x1000.brite.gz", "java_BU5000_50AS_rw.brite.gz"]
)
def test_every_column_of_real_files_agrees_with_a_plain_parser(name):
    path = real_data(f"brite/{name}")
    topology, _ = read_good(path)
    nodes, edges = plain_rows(path)
    nodes.sort(key=lambda row: int(row[0]))
    assert topology.node_id.tolist() == [int(row[0]) for row in nodes]
    assert topology.node_asn.tolist() == [int(row[5]) for row in nodes]
    for i, column in enumerate(("x", "y", "indegree", "outdegree"), start=1):
        assert topology.node_columns[column].tolist() == [float(row[i]) for row in nodes]
    assert topology.node_columns["type"].tolist() == [row[6] for row in nodes]
    assert topology.node_id[topology.near].tolist() == [int(row[1]) for row in edges]
    assert topology.node_id[topology.far].tolist() == [int(row[2]) for row in edges]
    lengths = np.array([float(row[3]) for row in edges]).astype(np.float32)
    assert (topology.weight == lengths).all()
    for i, column in ((4, "delay"), (5, "bandwidth"), (6, "asn_from"), (7, "asn_to")):
        assert topology.link_columns[column].tolist() == [float(row[i]) for row in edges]
    assert topology.link_columns["type"].tolist() == [row[8] for row in edges]


def test_small_cpp_files_are_read_whole():
    files = sorted(real_data("brite/simrouting").glob("*.brite"))
    sizes = Counter(read_good(path)[0].n_links for path in files)
    assert sum(sizes.values()) == 10
    assert sizes == {37: 7, 40: 2, 7: 1}


def _mutated(data: bytes):
    size = len(data)
    cuts = st.tuples(st.integers(0, size), st.integers(0, 60), st.binary(max_size=12))
    return st.lists(cuts, min_size=1, max_size=6).map(lambda edits: _apply(data, edits))


def _apply(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for at, n, new in edits:
        data = data[:at] + new + data[at + n :]
    return data


@settings(max_examples=examples(150), deadline=None)
@given(
    data=st.sampled_from(sorted(p.name for p in SAMPLES.glob("*.brite"))).flatmap(
        lambda name: _mutated((SAMPLES / name).read_bytes())
    )
)
def test_mutated_files_raise_nothing_but_format_errors(data):
    brite.sniff(data)
    topology, report, _ = read(data)
    if topology is not None:
        assert report.n_records == topology.n_nodes + topology.n_links
        assert (np.diff(topology.node_id) > 0).all()
        for end in (topology.near, topology.far):
            assert ((end >= 0) & (end < topology.n_nodes)).all()
        assert (topology.weight >= 0).all()
        columns = [*topology.node_columns.values(), topology.node_asn]
        assert {len(column) for column in columns} == {topology.n_nodes}
        columns = [*topology.link_columns.values(), topology.weight]
        assert {len(column) for column in columns} == {topology.n_links}


@pytest.mark.parametrize(("n_claimed", "fault"), [(0, None), (2, "no usable edge")])
def test_a_file_without_edges_is_one_only_if_its_title_says_so_too(n_claimed, fault):
    title = f"Topology: ( 2 Nodes, {n_claimed} Edges )\nModel ( 1 ): 2 4\n\n"
    rows = "Nodes: ( 2 )\n0 1 1 0 0\n1 2 2 0 0\n\nEdges: ( 0 )\n"
    topology, _, error = read((title + rows).encode())
    assert (error and error.reason) == fault
    assert (topology is None) == (fault is not None)
