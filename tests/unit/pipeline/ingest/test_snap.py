"""SNAP edge lists: edges and ids as counted by hand, broken lines named, nothing else breaks."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import FormatError
from pipeline.ingest import detect_format, open_reader, snap
from pipeline.ingest.text import lines
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology
from tests.contracts.topology_reader import TopologyReaderContract
from tests.real_data import REPOSITORY, real_data
from tests.soak import examples

SAMPLES = REPOSITORY / "data" / "samples" / "snap"


class TestSnap(TopologyReaderContract):
    format = "snap"
    sample = "directed.txt"

    @property
    def bad(self):
        return BAD


def read(data: bytes) -> tuple[Topology | None, ReadReport, FormatError | None]:
    report = ReadReport("x.txt", "snap")
    topology, error = None, None
    try:
        for read_topology in snap.read(io.BytesIO(data), report):
            topology = read_topology
    except FormatError as caught:
        error = caught
    return topology, report, error


def read_file(path: Path) -> tuple[Topology | None, ReadReport, str]:
    """As a user reads it: compression and format recognised by content or, in ``bad``, given."""
    report = ReadReport(path.name)
    topology, error = None, ""
    try:
        for read_topology in open_reader(path, report, "snap")[1]:
            topology = read_topology
    except FormatError as caught:
        error = str(caught).replace(str(path), path.name)
    return topology, report, error


def edges_of(topology: Topology) -> list[tuple[int, int]]:
    ends = (topology.node_id[topology.near], topology.node_id[topology.far])
    return list(zip(*(end.tolist() for end in ends), strict=True))


def test_directed_sample_is_read_as_counted_by_hand():
    topology, report, error = read((SAMPLES / "directed.txt").read_bytes())
    assert error is None
    assert topology.node_id.tolist() == [5, 10, 20, 30, 40, 9 * 10**18]
    assert edges_of(topology) == [
        (10, 20),
        (20, 30),
        (30, 40),
        (40, 10),
        (40, 5),
        (5, 9 * 10**18),
        (30, 30),
        (20, 10),
    ]
    assert topology.node_asn.tolist() == [NO_ASN] * 6
    assert topology.weight is None
    assert topology.kind == "router"
    assert report.n_records == 8
    assert report.notes == {"directed edges, used as undirected": 8}
    assert not report.rejected
    assert not report.skipped


def test_count_line_three_columns_and_windows_line_ends_are_read():
    topology, report, error = read((SAMPLES / "count_line.txt").read_bytes())
    assert error is None
    assert edges_of(topology) == [(1, 0), (2, 1), (3, 2)]
    assert report.skipped == {"count of nodes": 1}
    assert report.notes == {"edges with further columns, which are not read": 3}


def test_packed_sample_is_what_the_project_writes():
    path = SAMPLES / "attachment.txt.gz"
    assert detect_format(path) == "snap"
    topology, report, error = read_file(path)
    assert error == ""
    assert (topology.n_nodes, topology.n_links) == (200, 397)
    assert not report.notes
    rows = [line.split() for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    assert edges_of(topology) == [(int(a), int(b)) for a, b in rows[3:]]


BAD = {
    "broken_lines.txt": (
        3,
        3,
        {
            "too few columns": 1,
            "too many columns": 1,
            "not a number": 2,
            "negative node id": 1,
            "not a whole number": 1,
            "node id out of range": 1,
        },
        "",
    ),
    "cut_short.txt.gz": (0, 0, {}, "cut short: the gzip data stop before their end"),
    "empty.txt": (0, 0, {}, "empty.txt: empty"),
    "no_edges.txt": (0, 0, {}, "no_edges.txt: no usable edge; expected two"),
    "no_edge_list.txt": (0, 0, {"not a number": 3}, "no_edge_list.txt: no usable edge"),
    "neighbour_lists.graph": (3, 2, {"too few columns": 3}, ""),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_sample_gives_what_is_there_and_its_message(name):
    n_nodes, n_links, rejected, message = BAD[name]
    topology, report, error = read_file(SAMPLES / "bad" / name)
    if name != "cut_short.txt.gz":  # how much of it is there has its own test
        assert (topology.n_nodes if topology else 0) == n_nodes
        assert (topology.n_links if topology else 0) == n_links
    assert report.rejected == rejected
    assert message in error
    assert bool(error) == bool(message)


def test_rejects_name_the_line_and_what_was_found():
    _, report, _ = read((SAMPLES / "bad" / "broken_lines.txt").read_bytes())
    assert [(reject.place, reject.reason, reject.detail) for reject in report.samples] == [
        ("line 3", "too few columns", "1 of 2"),
        ("line 4", "too many columns", "3 of 2"),
        ("line 5", "not a number", "three"),
        ("line 6", "negative node id", "-1"),
        ("line 7", "not a whole number", "1.5"),
        ("line 9", "node id out of range", "9223372036854775808"),
        ("line 11", "not a number", "0x1"),
    ]


def test_a_file_cut_short_gives_the_whole_lines_before():
    packed = (SAMPLES / "bad" / "cut_short.txt.gz").read_bytes()
    report = ReadReport("x")
    reader = open_reader(SAMPLES / "bad" / "cut_short.txt.gz", report)[1]
    topology = next(reader)
    with pytest.raises(FormatError, match="cut short"):
        next(reader)
    assert report.status == "partial"
    assert report.format == "snap"
    assert report.size_bytes == len(packed)
    expected = [(i * 7919 % 5003, i * i % 5003) for i in range(topology.n_links)]
    assert edges_of(topology) == expected
    assert 100 < topology.n_links < 5000
    assert report.notes["fewer edges than declared"] == 5000 - topology.n_links


def test_ids_up_to_the_widest_are_exact():
    most = 2**63 - 1
    topology, report, _ = read(f"{most} {most - 1}\n+7 007\n0 {most}\n".encode())
    assert edges_of(topology) == [(most, most - 1), (7, 7), (0, most)]
    assert not report.rejected


def test_an_id_of_many_digits_is_rejected_by_its_line():
    _, report, _ = read(b"1 2\n" + b"9" * 10_000 + b" 1\n2 3\n")
    assert report.rejected == {"node id out of range": 1}
    assert len(report.samples[0].detail) == 60


def test_further_columns_may_be_times_signs_and_fractions_but_no_text():
    topology, report, _ = read(b"1 2 1082040961 -1\n2 3 1e-3 .5\n3 4 x 1\n4 5 nan 1\n")
    assert topology.n_links == 2
    assert report.rejected == {"not a number": 2}


def test_a_comment_may_follow_an_edge():
    topology, report, _ = read(b"3 # nodes\n1 2 # a\n2 3\t#b 7\n# c\n+3 4 # odd\n4 5#c\n5 # 6\n")
    assert edges_of(topology) == [(1, 2), (2, 3), (3, 4)]
    assert report.skipped == {"count of nodes": 1}
    assert report.rejected == {"not a number": 1, "too few columns": 1}
    assert read(b"1 2 7 # a\n2 3 8\n")[0].n_links == 2


def test_an_endless_line_is_one_reject_and_not_kept_in_memory(monkeypatch):
    monkeypatch.setattr(lines, "BLOCK_BYTES", 1 << 16)
    for long in (b"1 " * (3 << 19), b"7" * (3 << 20)):
        topology, report, error = read(b"1 2\n" + long + b"\n2 3\n")
        assert error is None
        assert topology.n_links == 2
        assert report.rejected == {"line too long": 1}


@pytest.mark.parametrize("name", ["directed.txt", "count_line.txt", "bad/broken_lines.txt"])
def test_blocks_cut_anywhere_give_the_same(monkeypatch, name):
    data = (SAMPLES / name).read_bytes()
    whole, whole_report, _ = read(data)
    for size in (1, 2, 7, 64, 100):
        monkeypatch.setattr(lines, "BLOCK_BYTES", size)
        cut, report, error = read(data)
        assert error is None
        assert edges_of(cut) == edges_of(whole)
        assert (report.samples, report.notes) == (whole_report.samples, whole_report.notes)


def test_a_byte_order_mark_and_a_missing_last_newline_are_read():
    topology, report, error = read(b"\xef\xbb\xbf1 2\n2 3")
    assert error is None
    assert edges_of(topology) == [(1, 2), (2, 3)]
    assert not report.rejected


@pytest.mark.parametrize(
    "text",
    [
        b"1 2\n2 3\n",
        b"# Undirected graph\n1\t2\n",
        b"\xef\xbb\xbf# x\r\n5\r\n1 2 1\r\n",
        b"1 2 3.5\n2 3 4e5\n3 4",
        b"\n\n# c\n0 1\n# d\n1 2\n",
        b"0 1 # a\n1 2 # b c\n2 3",
        b"0 1\n" * 20_000 + b"12345",
        b"# c\n1 2\n-3 4\n5 6",
        b"# c\n1 2\n3 x\n5 6\n",
        b"# c\n1 2\n2 3\n-1\n",  # an end mark
        b"# c\n1 2 1.5\n2 3 nan\n3 4 1\n",
        b"1 2\n" * 9 + b"-3 4\n",
    ],
)
def test_edge_lists_are_detected_by_content(text):
    assert snap.sniff(text[: 1 << 16])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"# only comments\n",
        b"1 2\n",  # any file of two numbers
        b"4941 6594 0\n387 396 452\n3554 3587 3588 3638\n",  # METIS
        b"1.0.0.0\t24\t13335\n1.0.4.0\t24\t56203\n",  # prefixes
        b"3|293|0\n4|24863|-1\n",
        b"1,2\n2,3\n",
        b"10,12,u,graph\n1,2\n",
        b"2583 2783 {}\n2583 951 {}\n",
        b"-1 2\n3 4\n",
        b"1.5 2.5\n3.5 4.5\n",
        b"1 2 3 4 5\n1 2 3 4 5\n",
        b"# numbers\n1 2\n3 4 5\n",
        b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n1 2 1\n",
        b"\x00\x01\x02 \x03\n",
        b"Dear all,\n1 2\n2 3\n",
        b"# c\n-1 2\n3 4\n5 6\n7 8\n",  # the first lines decide
        b"# c\n1 2\n-3 4\n5 -6\n7 8\n",  # half of it
        b"1 2\n-3 4\n5 6\n",  # points, perhaps
        b"100 99\n2\n" + b"".join(b"%d %d\n" % (v, v + 2) for v in range(1, 99)),  # METIS
        b"# networkx\n0 1\n1 2\n2 3\n3 4 5\n4 6\n5 7\n6 8\n7 9\n",  # lists of neighbours
        b"# networkx\n0 1\n1 {}\n1 1\n2 {}\n2 1\n3 {}\n3 0\n",  # the same over several lines
        b"# c\n1.0.0.0 24 13335\n1.0.4.0 24 56203\n1.0.5.0 24 56203\n",
        b"# c\n3|293|0\n4|24863|-1\n",
        b"%%MatrixMarket matrix coordinate pattern symmetric\n" + b"3 3 2\n" * 50,
    ],
)
def test_other_text_is_not_taken_for_an_edge_list(text):
    assert not snap.sniff(text)


def test_a_broken_line_among_the_first_is_named_and_the_rest_is_read(tmp_path):
    path = tmp_path / "few.txt"
    path.write_bytes(b"# c\n1 2\n-3 4\n5 6")
    assert detect_format(path) == "snap"
    report = ReadReport(path.name)
    (topology,) = open_reader(path, report)[1]
    assert edges_of(topology) == [(1, 2), (5, 6)]
    (reject,) = report.samples
    assert (reject.place, reject.reason, reject.detail) == ("line 3", "negative node id", "-3")


@pytest.mark.parametrize(
    ("name", "n_nodes", "n_links", "rejected"),
    [
        ("wiki-Vote.txt", 7115, 103_689, {}),
        ("oregon1_010331.txt", 10_670, 44_004, {"too few columns": 1}),  # -1 marks its end
    ],
)
def test_published_graphs_are_read_whole(name, n_nodes, n_links, rejected):
    path = real_data(f"graphs/{name}")
    assert detect_format(path) == "snap"
    topology, report, error = read_file(path)
    assert error == ""
    assert (topology.n_nodes, topology.n_links) == (n_nodes, n_links)
    assert report.rejected == rejected
    rows = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    assert edges_of(topology) == [(int(row[0]), int(row[1])) for row in rows if len(row) > 1]


def test_other_published_graphs_are_of_other_formats():
    others = {"as-caida20071105.jlg": "edge_list", "ca-HepPh.txt": "edge_list"}
    for path in sorted(real_data("graphs").glob("*.*")):
        if path.suffix == ".graph":
            others[path.name] = "metis"
        if path.name in others:
            assert detect_format(path) == others[path.name]
    with pytest.raises(FormatError, match="unknown format"):
        detect_format(real_data("graphs/License.txt"))


@settings(max_examples=examples(300), deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.integers(-3, 2**64) | st.integers(0, 9),
            st.integers(0, 40),
            st.sampled_from(["\n", "\r\n", " \n", "\t\n\n", "\n#x 1 2\n"]),
        ),
        max_size=30,
    )
)
def test_any_list_is_read_as_a_plain_parser_reads_it(rows):
    text = "".join(f"{near}\t{far}{end}" for near, far, end in rows)
    topology, report, _ = read(text.encode())
    expected = [(near, far) for near, far, _ in rows if 0 <= near < 2**63]
    assert (edges_of(topology) if topology else []) == expected
    assert report.rejected.total() == len(rows) - len(expected)


def _apply(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for at, n, new in edits:
        data = data[:at] + new + data[at + n :]
    return data


def _mutated(data: bytes):
    cuts = st.tuples(st.integers(0, len(data)), st.integers(0, 60), st.binary(max_size=12))
    return st.lists(cuts, min_size=1, max_size=6).map(lambda edits: _apply(data, edits))


@settings(max_examples=examples(200), deadline=None)
@given(
    data=st.sampled_from(["directed.txt", "count_line.txt", "bad/broken_lines.txt"]).flatmap(
        lambda name: _mutated((SAMPLES / name).read_bytes())
    )
)
def test_mutated_files_raise_nothing_but_format_errors(data):
    snap.sniff(data)
    topology, report, _ = read(data)
    n_lines = data.count(b"\n") + 1
    assert report.n_records + report.rejected.total() <= n_lines
    if topology is not None:
        assert report.n_records == topology.n_links
        assert (np.diff(topology.node_id) > 0).all()
        assert topology.node_id.min() >= 0
        for end in (topology.near, topology.far):
            assert ((end >= 0) & (end < topology.n_nodes)).all()
        assert len(np.unique([topology.near, topology.far])) == topology.n_nodes
