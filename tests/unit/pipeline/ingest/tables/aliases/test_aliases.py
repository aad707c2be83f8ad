"""Alias files of ITDK nodes: what is read."""

import gzip

import pytest

from pipeline.ingest.tables.aliases import read_aliases
from pipeline.model.measured.reading import ReadReport
from tests.addresses import format_addrs, parse_addrs
from tests.tables import table_of_file

A, B, C, D = (f"20.1.0.{i}" for i in (10, 20, 30, 40))
X, Y = "20.2.0.10", "20.2.0.20"


def read(tmp_path, text, name="test.nodes"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    report = ReadReport(str(path))
    return table_of_file(read_aliases, path, report), report


def sets_of(table):
    found: dict[int, list[str]] = {}
    for router, addr in zip(table.router.tolist(), format_addrs(table.addrs), strict=True):
        found.setdefault(router, []).append(addr)
    return sorted(found.values())


def test_nodes_with_two_real_addresses_are_alias_sets(tmp_path):
    text = (
        "# format: node <node_id>:   <i1>   <i2>   ...   <in>\n"
        f"node N1:  {A} {B} \n"
        f"node N2:  {C}\n"
        f"node N3:  0.5.1.2 {X} 0.0.0.9\r\n"
        f"node N4:  0.0.0.1 {Y} 224.0.0.7 {D}\n"
        "node N5:  2600::1 2600::2\n"
    )
    table, report = read(tmp_path, text)
    assert sets_of(table) == [[A, B], [D, Y], ["2600::1", "2600::2"]]
    assert report.n_records == 5
    assert not report.rejected


def test_compressed_files_read_alike(tmp_path):
    text = "".join(f"node N{i}:  20.1.{i}.1 20.2.{i}.1\n" for i in range(250)).encode()
    plain, _ = read(tmp_path, text)
    packed, report = read(tmp_path, gzip.compress(text))
    assert sets_of(plain) == sets_of(packed)
    assert report.n_records == 250


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("link L1:  N1:20.1.0.1 N2", "not `node N1:  addr addr`"),
        ("node", "not `node N1:  addr addr`"),
        ("node N7", "not `node N1:  addr addr`"),
        ("node N7:  20.1.0.1 20.1.0", "not an address"),
    ],
)
def test_a_broken_line_is_counted_and_the_rest_is_used(tmp_path, line, reason):
    table, report = read(tmp_path, f"node N1:  {A} {B}\n{line}\nnode N2:  {X} {Y}\n")
    assert sets_of(table) == [[A, B], [X, Y]]
    assert dict(report.rejected) == {reason: 1}
    assert report.samples[0].place == "line 2"


def test_an_address_of_two_nodes_stays_with_the_first(tmp_path):
    table, report = read(tmp_path, f"node N1:  {B} {A}\nnode N2:  {A} {C} {D}\n")
    assert sets_of(table) == [[A, B], [C, D]]
    assert report.notes == {"address of two nodes": 1}


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"hello\n"])
def test_a_file_that_is_no_nodes_file_is_rejected_without_an_exception(tmp_path, content):
    table, report = read(tmp_path, content)
    assert len(table.addrs) == 0
    assert report.status == "rejected"
    assert "test.nodes" in report.error


def test_a_pipe_is_refused(piped):
    report = ReadReport("x")
    assert len(table_of_file(read_aliases, piped(f"node N1:  {A} {B}\n"), report).addrs) == 0
    assert report.status == "rejected"
    assert "is a socket, pipe or device, not a file; give a regular file" in report.error


def test_routers_of_an_empty_table_are_unknown(tmp_path):
    table, _ = read(tmp_path, f"node N1:  {A}\n")
    assert table.routers_of(parse_addrs([A, B])).tolist() == [-1, -1]
