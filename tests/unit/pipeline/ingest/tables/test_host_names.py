"""Host names: CAIDA's files and lists, hostile text, and only FormatError from any bytes."""

from __future__ import annotations

import bz2
import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.ingest.tables import host_names
from pipeline.ingest.tables.host_names import MAX_NAME, read_host_names
from pipeline.model.measured.reading import ReadReport
from tests.addresses import parse_addrs
from tests.soak import examples
from tests.tables import table_of_files

KNOWN = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1"]


def read_known(files, reports):
    return read_host_names(files, reports, parse_addrs(KNOWN))


@pytest.fixture
def read(tmp_path):
    def read_bytes(data: bytes) -> tuple[dict[str, str], ReadReport]:
        path = tmp_path / "names"
        path.write_bytes(data)
        report = ReadReport(str(path), "host-names")
        names = table_of_files(read_known, [path], [report])
        return {KNOWN[at]: name for at, name in names.items()}, report

    return read_bytes


def test_dns_names_of_caida_have_a_time_and_failures(read):
    names, report = read(
        b"1537482068\t192.0.2.1\tae-1.r20.example.net\n"
        b"1537482068.25\t192.0.2.2\tFAIL.NON-AUTHORITATIVE.in-addr.arpa\n"
        b"1537482069\t203.0.113.9\tnobody.asked.example\n"
        b"1537482070\t2001:DB8:0::1\tsix.example.\n"
    )
    assert names == {"192.0.2.1": "ae-1.r20.example.net", "2001:db8::1": "six.example"}
    assert report.n_records == 3
    assert report.skipped == {"addresses without a name": 1}
    assert not report.rejected


def test_lists_and_hosts_files(read):
    names, report = read(
        b"# address name\n\n 192.0.2.1 one.example one\r\n192.0.2.2\ttwo\n192.0.2.3\n"
        b"192.0.2.1 again.example"
    )
    assert names == {"192.0.2.1": "again.example", "192.0.2.2": "two"}
    assert report.notes == {"addresses named again": 1}
    assert report.skipped == {"addresses without a name": 1}


def test_more_lines_than_are_compared_at_once(read, monkeypatch):
    monkeypatch.setattr(host_names, "_AT_ONCE", 2)
    lines = [f"{addr} host-{i}" for i, addr in enumerate([*KNOWN, "198.51.100.1"])]
    names, report = read("\n".join(lines).encode())
    assert list(names.values()) == ["host-0", "host-1", "host-2", "host-3"]
    assert report.n_records == 5


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_compressed_and_cut_short(read, compress):
    tail = b".example" * 8  # so long that bzip2 makes several blocks
    data = b"".join(b"192.0.2.%d host-%d%b\n" % (i % 250, i, tail) for i in range(20_000))
    names, report = read(compress(data))
    assert names["192.0.2.1"] == f"host-19751{tail.decode()}"
    assert (report.status, report.n_records, len(report.sha256)) == ("ok", 20_000, 64)
    cut = compress(data)[:-2000]
    names, report = read(cut)
    assert report.status == "partial"
    assert "cut short" in report.error
    assert report.size_bytes == len(cut)


def test_hostile_names_are_kept_and_control_characters_are_replaced(read):
    names, report = read(
        b'192.0.2.1 <script>alert(1)</script>\x1b[31m"&\n'
        b"192.0.2.2 \xe2\x80\xaethgir\n192.0.2.3 \xff\n2001:db8::1 " + b"a" * 999 + b"\n"
    )
    assert names == {
        "192.0.2.1": '<script>alert(1)</script>\ufffd[31m"&',
        "192.0.2.2": "\u202ethgir",
        "192.0.2.3": "\ufffd",
        "2001:db8::1": "a" * MAX_NAME,
    }
    assert report.notes == {
        "names with control characters, replaced": 1,
        f"names cut to {MAX_NAME} characters": 1,
    }


@pytest.mark.parametrize(
    ("data", "reasons"),
    [
        (b"192.0.2.0 24 64500\n", {"not a name": 1}),  # prefixes
        (b"192.0.2.1 2001:db8::1\n192.0.2.1 192.0.2.2\n", {"not a name": 2}),  # aliases
        (b'{"64500": "one"}\n', {"not an address": 1}),
        (b"1537482068 15 x\n192.0.2.1 .\n", {"not an address": 1, "not a name": 1}),
    ],
)
def test_other_tables_are_refused(read, data, reasons):
    names, report = read(data)
    assert (names, report.status) == ({}, "rejected")
    assert report.error.endswith("names: no host name in it; give lines of `address name`")
    assert report.rejected == reasons


@settings(
    max_examples=examples(200),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    data=st.binary(max_size=400) | st.text(alphabet="12.:ab \t\n#", max_size=200).map(str.encode)
)
def test_any_bytes_are_read_or_refused(read, data):
    names, report = read(data)
    assert (report.status == "ok") == bool(report.n_records or report.skipped)
    assert all(name and len(name) <= MAX_NAME for name in names.values())


def test_of_several_files_the_last_name_of_an_address_counts(tmp_path):
    paths = [tmp_path / "one", tmp_path / "broken", tmp_path / "two"]
    for path, text in zip(
        paths, ("192.0.2.1 a\n192.0.2.2 b\n", "x\n", "192.0.2.1 c\n"), strict=True
    ):
        path.write_text(text)
    reports = [ReadReport(str(path)) for path in paths]
    assert table_of_files(read_known, paths, reports) == {0: "c", 1: "b"}
    assert [report.status for report in reports] == ["ok", "rejected", "ok"]
    assert not reports[2].notes  # it named nothing again itself
