"""AS names: both forms, hostile text, and no error from any bytes."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.ingest.tables.as_names import MAX_NAME, read_as_names
from pipeline.model.measured.reading import ReadReport
from tests.real_data import real_data
from tests.soak import examples
from tests.tables import table_of_file


@pytest.fixture
def read(tmp_path):
    def read_bytes(data: bytes) -> tuple[dict[int, str], ReadReport]:
        path = tmp_path / "names"
        path.write_bytes(data)
        report = ReadReport(str(path), "as-names")
        return table_of_file(read_as_names, path, report), report

    return read_bytes


def test_a_json_object_of_names_or_of_objects(read):
    table = {"1": "LEVEL3 - Level 3, US", "AS2": {"name": "UDEL"}, "3": {"org": "MIT", "cc": "US"}}
    names, report = read(json.dumps(table).encode())
    assert names == {1: "LEVEL3 - Level 3, US", 2: "UDEL", 3: "MIT"}
    assert report.n_records == 3
    assert not report.rejected


def test_lines_with_tab_or_bar(read):
    names, report = read(b"# asn|name\n\n1|LEVEL3|US\r\nAS2\tUDEL \n 3 | MIT\n3|MIT again")
    assert names == {1: "LEVEL3|US", 2: "UDEL", 3: "MIT again"}
    assert report.notes == {"ASes named again": 1}


def test_the_share_of_broken_lines_is_that_of_lines(read):
    """An AS that is named again is no further record, and its line was read."""
    named = b"1|a\n" * 3
    assert read(named + b"x|b\n" * 3)[1].mostly_rejected == ""
    _, report = read(named + b"x|b\n" * 4)
    assert (report.n_records, report.mostly_rejected) == (1, "4 of 7 names rejected (57 %)")


def test_compressed(read):
    names, report = read(gzip.compress(b'{"7": "seven"}'))
    assert names == {7: "seven"}
    assert len(report.sha256) == 64
    assert report.size_bytes > 0


def test_hostile_text_is_kept_and_control_characters_are_replaced(read):
    evil = '<script>alert(1)</script>\x1b[31m\u0000"&\u009b\u2028'
    names, report = read(
        json.dumps({"1": evil, "2": "\u202eright to left", "3": "é 日本"}).encode()
    )
    assert names == {
        1: '<script>alert(1)</script>\ufffd[31m\ufffd"&\ufffd',
        2: "\u202eright to left",
        3: "é 日本",
    }
    assert report.notes == {"names with control characters, replaced": 1}


def test_an_endless_name_is_cut(read):
    names, report = read(b"1|" + b"x" * 100_000)
    assert len(names[1]) == MAX_NAME
    assert report.notes == {f"names cut to {MAX_NAME} characters": 1}


def test_broken_entries_are_rejected_by_reason(read):
    names, report = read(b"1|one\nx|two\n4294967296|big\n-1|minus\n5\n6|  \n7|\xff\n")
    assert names == {1: "one", 7: "\ufffd"}
    assert report.rejected == {"not an AS number": 3, "no name": 2}
    assert [reject.place for reject in report.samples] == [f"line {i}" for i in range(2, 7)]
    assert report.notes == {"names that are not UTF-8": 1}
    names, report = read(
        b'{"1": "one", "x": "two", "3": 3, "4": null, "5": {"cc": "NL"}, "6": "\\u0007"}'
    )
    assert names == {1: "one"}
    assert report.rejected == {"not an AS number": 1, "no name": 4}


@pytest.mark.parametrize("data", [b'{"1": "one", "2": "Caf\xe9"}', b"1|one\n2|Caf\xe9\n"])
def test_a_byte_that_is_not_utf_8_costs_no_other_name(read, data):
    names, report = read(data)
    assert names == {1: "one", 2: "Caf\ufffd"}
    assert report.notes == {"names that are not UTF-8": 1}
    assert not report.rejected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no AS name in it"),
        (b'{"1": "one"', "names: line 1, column 12: not valid JSON"),
        (b"It was a dark night.\n", "no AS name in it"),
        (b'{"x": "one"}', "no AS name in it"),
        (gzip.compress(b'{"1": "one"}', 0, mtime=0)[:-9], "cut short"),
    ],
)
def test_a_file_that_is_something_else_is_named(read, data, message):
    names, report = read(data)
    assert (names, report.status) == ({}, "rejected")
    assert message in report.error


def test_an_empty_object_names_nothing(read):
    names, report = read(b"{}")
    assert (names, report.status, report.n_records) == ({}, "ok", 0)


def test_lines_before_a_cut_are_used(read):
    names, report = read(gzip.compress(b"1|one\n2|two\n3|three", 0)[:-9])
    assert names == {1: "one", 2: "two"}
    assert report.status == "partial"
    assert "cut short" in report.error


def test_real_names():
    path = real_data("ip2as/asnames.json.gz")
    report = ReadReport(str(path), "as-names")
    names = table_of_file(read_as_names, path, report)
    assert names[50088] == "FITL-IE Fort Technologies, GB"
    assert len(names) == report.n_records == len(json.loads(gzip.decompress(path.read_bytes())))
    assert not report.rejected


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    data=st.binary(max_size=40)
    | st.text('{}":,|\t\n0123456789ASx\\ué', max_size=60).map(lambda text: text.encode())
)
def test_any_bytes_give_names_or_are_refused(read, data):
    names, report = read(data)
    assert (report.status == "rejected") == (not names and data.split() != [b"{}"])
    assert report.n_records == len(names)
