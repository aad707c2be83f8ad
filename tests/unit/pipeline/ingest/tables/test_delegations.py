"""Delegation files: blocks and AS numbers of holders, hostile lines."""

from __future__ import annotations

import pytest

from pipeline.ingest.tables import read_delegations
from pipeline.ingest.tables.delegations import MAX_ASES
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN
from tests.addresses import parse_addrs
from tests.tables import table_of_files

TEXT = b"""2|ripencc|20261122|7|19830705|20261121|+0100
ripencc|*|ipv4|*|3|summary
ripencc|NL|asn|3333|1|19960101|allocated|a
ripencc|NL|ipv4|193.0.0.0|4608|19930101|assigned|a|e-stats
ripencc|NL|ipv6|2001:67c:2e8::|48|20030101|assigned|a
ripencc|SE|asn|1299|2|19930101|allocated|b
ripencc|SE|ipv4|62.115.0.0|65536|20000101|allocated|b
ripencc||ipv4|5.0.0.0|256||available|
"""


@pytest.fixture
def read(tmp_path):
    def read_bytes(*files: bytes):
        paths = [tmp_path / f"delegated-{i}" for i in range(len(files))]
        reports = [ReadReport(str(path)) for path in paths]
        for path, data in zip(paths, files, strict=True):
            path.write_bytes(data)
        return table_of_files(read_delegations, paths, reports), *reports

    return read_bytes


def only_as(table, addrs):
    return table.only_as(table.holders_of(parse_addrs(addrs))).tolist()


def test_a_block_belongs_to_the_as_of_its_holder(read):
    table, report = read(TEXT)
    addrs = ["192.255.255.255", "193.0.0.0", "193.0.17.255", "193.0.18.0", "2001:67c:2e8::1"]
    assert only_as(table, addrs) == [NO_ASN, 3333, 3333, NO_ASN, 3333]
    assert only_as(table, ["62.115.1.1", "5.0.0.1"]) == [NO_ASN, NO_ASN]  # of two ASes, of nobody
    assert (report.n_records, report.skipped) == (5, {"available": 1})
    assert not report.rejected


def test_holders_are_those_of_one_registry(read):
    table, *reports = read(TEXT, b"arin|US|ipv4|8.0.0.0|256|19921201|allocated|a\n")
    assert only_as(table, ["8.0.0.1"]) == [NO_ASN]
    assert [report.n_records for report in reports] == [5, 1]


def test_as_numbers_that_are_listed_twice_count_once(read):
    """Files of two days of one registry list nearly all again."""
    ases = b"".join(b"lab|ZZ|asn|%d|1|2020|allocated|a\n" % asn for asn in range(1, MAX_ASES + 1))
    table, *_ = read(ases, ases)
    assert len(table.ases_of(table.holder[:1])[1]) == MAX_ASES
    one = b"lab|ZZ|asn|1|1|2020|allocated|a\nlab|ZZ|ipv4|20.0.0.0|256|2020|allocated|a\n"
    table, *_ = read(one, one)
    assert only_as(table, ["20.0.0.1"]) == [1]


def test_of_two_holders_and_of_nested_blocks(read):
    lines = [
        b"lab|ZZ|asn|1|1|2020|allocated|a",
        b"lab|ZZ|asn|2|1|2020|allocated|b",
        b"lab|ZZ|ipv4|20.0.0.0|256|2020|allocated|a",
        b"lab|ZZ|ipv4|20.0.0.0|256|2020|allocated|b",
        b"lab|ZZ|ipv4|20.0.0.16|16|2020|allocated|b",
    ]
    for given in (lines, lines[::-1]):
        table, report = read(b"\n".join(given))
        assert only_as(table, ["20.0.0.15", "20.0.0.16", "20.0.0.32"]) == [1, 2, 1]
        assert report.notes == {"blocks of two holders": 1}


def test_a_holder_of_very_many_as_numbers_says_nothing(read):
    many = f"apnic|JP|asn|10000|{MAX_ASES + 1}|2020|allocated|n\n".encode()
    table, report = read(many + b"apnic|JP|ipv4|20.0.0.0|256|2020|allocated|n\n")
    assert report.n_records == 2
    assert not len(table.asn)
    assert only_as(table, ["20.0.0.1"]) == [NO_ASN]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("a|ZZ|ipv4", "not registry|cc|type|start|value|date|status|holder"),
        ("a|ZZ|ipv5|1|1|2020|allocated|h", "not registry|cc|type|start|value|date|status|holder"),
        ("a|ZZ|ipv4|20.0.0.0|256|2020|allocated", "no holder; not an extended file"),
        ("a|ZZ|ipv4|20.0.0.0|256|2020|allocated|", "no holder; not an extended file"),
        ("a|ZZ|asn|1|4294967296|2020|allocated|h", "not AS numbers"),
        ("a|ZZ|asn|0|1|2020|allocated|h", "not AS numbers"),
        ("a|ZZ|asn|x|1|2020|allocated|h", "not a number"),
        ("a|ZZ|ipv4|255.255.255.0|512|2020|allocated|h", "not a block of addresses"),
        ("a|ZZ|ipv4|20.0.0.0|0|2020|allocated|h", "not a block of addresses"),
        ("a|ZZ|ipv6|2001:db8::1|32|2020|allocated|h", "not a block of addresses"),
        ("a|ZZ|ipv6|::|0|2020|allocated|h", "not a block of addresses"),
    ],
)
def test_broken_lines_are_named_and_set_aside(read, line, reason):
    table, report = read(TEXT + line.encode())
    assert only_as(table, ["193.0.0.0"]) == [3333]
    assert report.rejected == {reason: 1}
    assert report.samples[0].place == "line 9"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"ripencc|NL|ipv4|193.0.0.0|256|1993|assigned\n",
        b"2|ripencc|20261122|7|19830705|20261121|+0100\n",  # seven are missing
        b"1|2|-1\n",  # of another kind of table
    ],
)
def test_a_file_without_any_says_what_to_give(read, data):
    table, good, bad = read(TEXT, data)
    assert (good.status, bad.status) == ("ok", "rejected")
    assert "delegated-1: no block or AS number of a holder; give" in bad.error
    assert only_as(table, ["193.0.0.0"]) == [3333]


@pytest.mark.parametrize(
    "data",
    [
        b"2|ripencc|20261122|0|19830705|20261121|+0100\nripencc|*|ipv4|*|0|summary\n",
        b"ripencc||ipv4|5.0.0.0|256||available|\n",
    ],
)
def test_a_file_without_holders_is_valid(read, data):
    table, report = read(data)
    assert (report.status, report.error, report.n_records) == ("ok", "", 0)
    assert only_as(table, ["193.0.0.0"]) == [NO_ASN]
