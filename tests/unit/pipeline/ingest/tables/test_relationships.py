"""AS relationships: both serials, hostile lines, the order of lines."""

from __future__ import annotations

import bz2
import gzip

import numpy as np
import pytest

from pipeline.ingest.tables import read_relationships
from pipeline.model.measured.reading import ReadReport
from pipeline.model.relations import CUSTOMER, PEER, PROVIDER, SIBLING, UNRELATED
from pipeline.model.tables.organisations import Organisations
from pipeline.model.tables.registries import Registries
from tests.real_data import real_data
from tests.tables import table_of_file


@pytest.fixture
def read(tmp_path):
    def read_bytes(data: bytes):
        path = tmp_path / "lab.as-rel.txt"
        path.write_bytes(data)
        report = ReadReport(str(path))
        return table_of_file(read_relationships, path, report), report

    return read_bytes


def kind(table, one, other):
    return int(table.of(np.array([one]), np.array([other]))[0])


def test_both_serials_and_siblings_of_old_files(read):
    table, report = read(b"# source:topology|BGP\n3|1|-1\n\n1|2|0|bgp\r\n2|4294967295|2\n")
    assert report.n_records == 3
    assert not report.rejected
    assert [kind(table, 3, 1), kind(table, 1, 3)] == [PROVIDER, CUSTOMER]
    assert kind(table, 2, 1) == kind(table, 1, 2) == PEER
    assert kind(table, 4294967295, 2) == SIBLING
    assert kind(table, 3, 2) == UNRELATED


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed_files_read_alike(read, pack):
    table, report = read(pack(b"3|1|-1\n"))
    assert kind(table, 1, 3) == CUSTOMER
    assert len(report.sha256) == 64


def test_the_order_of_contradicting_lines_makes_no_difference(read):
    lines = [b"1|2|0", b"2|1|-1", b"1|2|-1", b"2|1|2"]
    for given in (lines, lines[::-1]):
        table, report = read(b"\n".join(given))
        assert kind(table, 1, 2) == PROVIDER
        assert report.notes == {"listed again with another relationship": 3}


def test_relationships_among_some_ases(read):
    table, _ = read(b"3|1|-1\n1|2|0\n9|3|-1\n")
    row, other, kinds = table.among(np.array([1, 2, 3]))
    found = list(zip(row.tolist(), other.tolist(), kinds.tolist(), strict=True))
    assert found == [(0, 1, PEER), (0, 2, CUSTOMER), (1, 0, PEER), (2, 0, PROVIDER)]


def test_broken_lines_are_named_and_set_aside(read):
    text = b"1|2|-1\n1|2\n1|x|0\n0|2|0\n1|4294967296|0\n7|7|0\n1|2|5\n\xff|1|0\n"
    table, report = read(text)
    assert kind(table, 1, 2) == PROVIDER
    assert report.rejected == {
        "not AS|AS|relationship": 1,
        "not an AS number": 4,
        "an AS with itself": 1,
        "not a relationship": 1,
    }
    assert [reject.place for reject in report.samples] == [f"line {i}" for i in range(2, 9)]


@pytest.mark.parametrize("data", [b"", b"# nothing\n", b"20.0.0.0\t8\t7\n", b"\x00\x01" * 9])
def test_a_file_without_any_says_what_to_give(read, data):
    table, report = read(data)
    assert report.status == "rejected"
    assert "lab.as-rel.txt: no line of `provider|customer|-1`" in report.error
    assert kind(table, 1, 2) == UNRELATED


def test_a_real_file():
    path = real_data("asrel/caida-as-rel.20120601.txt.gz")
    report = ReadReport(str(path))
    table = table_of_file(read_relationships, path, report)
    assert report.n_records == 121309
    assert not report.rejected
    assert kind(table, 15169, 3356) == CUSTOMER
    assert kind(table, 3356, 3549) == SIBLING
    assert kind(table, 3356, 1299) == PEER


def test_siblings_are_those_of_old_files_and_of_organisations(read):
    table, _ = read(b"1|2|2\n2|3|-1\n")
    near, far = np.array([1, 2, 3, 3, -1]), np.array([2, 3, 4, 3, -1])
    assert Registries(table).siblings(near, far).tolist() == [True, False, False, False, False]
    known = Organisations(np.array([2, 3, 4]), np.array([0, 1, 1]))
    both = Registries(table, known).siblings(near, far)
    assert both.tolist() == [True, False, True, False, False]
    without, _ = read(b"2|3|-1\n")
    assert Registries(without).siblings(near, far) is None
    assert Registries().siblings(near, far) is None
