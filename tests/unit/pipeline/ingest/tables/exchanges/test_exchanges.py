"""Files about exchange points: every form, what joins them, hostile entries."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from pipeline.ingest.tables import read_exchanges
from pipeline.ingest.tables.exchanges.entries import MAX_NAME
from pipeline.model.addresses import unique_addrs
from pipeline.model.measured.reading import ReadReport
from tests.addresses import format_addrs, parse_addrs
from tests.tables import table_of_files

IX = {"id": 7, "org_id": 1, "name": "France-IX Paris", "status": "ok"}
IXLAN = {"id": 9, "ix_id": 7, "name": "", "rs_asn": 51706, "status": "ok"}
IXPFX = {"id": 1, "ixlan_id": 9, "protocol": "IPv4", "prefix": "37.49.236.0/23", "status": "ok"}
NETIXLAN = {
    "id": 5, "net_id": 3, "ix_id": 7, "ixlan_id": 9, "name": "France-IX Paris: LAN",
    "asn": 714, "ipaddr4": "37.49.237.141", "ipaddr6": "2001:7f8:54::1:141", "status": "ok",
    "operational": True,
}  # fmt: skip
IXPFX6 = IXPFX | {"id": 2, "protocol": "IPv6", "prefix": "2001:7f8:54::/64"}
TABLES = {"ix": IX, "ixlan": IXLAN, "netixlan": NETIXLAN}
DUMP = {key: {"data": [row]} for key, row in TABLES.items()} | {
    "meta": {},
    "ixpfx": {"data": [IXPFX, IXPFX6]},
}
SUBNET = {"id": "4", "short_name": "Fr-IX v4", "subnet": "37.49.236.0/23", "status": "Active"}
CAIDA_IX = {
    "ix_id": 3, "name": "France-IX", "prefixes": {"ipv4": ["37.49.236.0/23"], "ipv6": []},
}  # fmt: skip
CAIDA_MEMBER = {"asn": 714, "ix_id": 3, "ipv4": ["37.49.237.141"], "ipv6": []}
V4, V6 = "37.49.237.141", "2001:7f8:54::1:141"


@pytest.fixture
def read(tmp_path):
    def read_files(*files):
        paths = [tmp_path / f"ixp-{i}" for i in range(len(files))]
        reports = [ReadReport(str(path)) for path in paths]
        for path, data in zip(paths, files, strict=True):
            text = data if isinstance(data, str | bytes) else json.dumps(data)
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        return table_of_files(read_exchanges, paths, reports), *reports

    return read_files


def lans(table, *texts):
    """Name of the exchange point of each address, "" for none."""
    return [table.names[row] if row >= 0 else "" for row in table.find(parse_addrs(texts)).tolist()]


def members(table):
    return list(zip(format_addrs(table.member_addr), table.member_asn.tolist(), strict=True))


def nested():
    lan = IXLAN | {
        "ixpfx_set": [{"prefix": "37.49.236.0/23"}],
        "netixlan_set": [NETIXLAN | {"ipaddr6": None}],
    }
    return {"data": [IX | {"ixlan_set": [lan]}]}


def lines(*rows):
    return "# a comment\n" + "\n".join(json.dumps(row) for row in rows) + "\n"


FORMS = {
    "dump": ([DUMP], "France-IX Paris", [(V4, 714), (V6, 714)]),
    "one object a file": (
        [{"data": [row]} for row in (NETIXLAN, IXPFX, IXLAN, IX, IXPFX6)],
        "France-IX Paris", [(V4, 714), (V6, 714)],
    ),
    "nested": ([nested()], "France-IX Paris", [(V4, 714)]),
    "tables without data": ([{"ixpfx": [IXPFX], "ix": [IX]}], "37.49.236.0/23", []),
    "no exchange point named": (
        [{"data": [IXPFX]}, {"data": [NETIXLAN]}], "France-IX Paris: LAN", [(V4, 714)],
    ),
    "PCH subnets": ([[SUBNET]], "Fr-IX v4", []),
    "PCH members": (
        [[SUBNET], {"IPv4": {"1": {"ip": V4, "asn": "714"}, "2": {"ip": "37.49.237.1"}}}],
        "Fr-IX v4", [(V4, 714)],
    ),
    "PCH table": (
        ["id\tstatus\tshort_name\tsubnet\n4\tActive\tFr-IX v4\t37.49.236.0/23\n"
         "5\tDeprecated\told\t10.0.0.0/24\n"], "Fr-IX v4", [],
    ),
    "quoted table": (['Prefix,Name\n37.49.236.0/23,"France, IX"\n'], "France, IX", []),
    "CAIDA lines": ([lines(CAIDA_IX), lines(CAIDA_MEMBER)], "France-IX", [(V4, 714)]),
    "CAIDA lists": ([[CAIDA_IX], [CAIDA_MEMBER]], "France-IX", [(V4, 714)]),
    "list": (["# prefix name asn\n37.49.236.0/23 France IX 51706\n"], "France IX", []),
    "list of prefixes": (["37.49.236.0/23\r\n"], "37.49.236.0/23", []),
    "list with bars": (["37.49.236.0/23|FIX|AS51706\n"], "FIX", []),
    "compressed": ([gzip.compress(b"37.49.236.0/23 FIX\n")], "FIX", []),
    "members alone": ([{"data": [NETIXLAN]}], "France-IX Paris: LAN", [(V4, 714), (V6, 714)]),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_names_the_lan_and_its_members(read, form):
    files, name, registered = FORMS[form]
    table, *reports = read(*files)
    assert lans(table, V4, "37.49.238.0", "37.49.235.255") == [name, "", ""]
    assert members(table) == registered
    assert [(report.status, report.rejected) for report in reports] == [("ok", {})] * len(reports)


def test_members_are_found_among_sorted_addresses(read):
    old = NETIXLAN | {"asn": 3356, "ipaddr6": None}  # the same address, another member
    table, report = read(DUMP | {"netixlan": {"data": [NETIXLAN, old, old]}})
    addrs = unique_addrs([parse_addrs(["1.1.1.1", V4, "37.49.237.142", V6])])
    position, asn = table.find_members(addrs)
    found = zip(format_addrs(addrs[position]), asn.tolist(), strict=True)
    assert list(found) == [(V4, 714), (V4, 3356), (V6, 714)]
    assert report.notes == {"addresses of two members": 1}
    none = table.find_members(np.empty((0, 2), np.uint64))
    assert [len(part) for part in none] == [0, 0]


def test_entries_that_are_no_members_are_left_out(read):
    rows = [
        NETIXLAN | {"asn": 51706},  # the exchange point itself
        NETIXLAN | {"asn": 1, "status": "deleted"},
        NETIXLAN | {"asn": 2, "operational": False},
        NETIXLAN | {"asn": 3, "ipaddr4": "8.8.8.8", "ipaddr6": None},
    ]
    table, report = read(DUMP | {"netixlan": {"data": rows}})
    assert members(table) == []
    assert report.skipped == {"status deleted": 1, "member not connected": 1}
    assert report.notes == {
        "entries of exchange points themselves": 2,
        "members outside every LAN, left out": 1,
    }


def test_the_narrowest_lan_and_the_first_name_count(read):
    table, report, _ = read("10.0.0.0/22 wide\n10.0.1.0/24 a\n10.0.1.0/24\n", "10.0.1.0/24 b\n")
    assert lans(table, "10.0.0.1", "10.0.1.1", "10.0.2.1") == ["wide", "a", "wide"]
    assert report.notes == {"LANs listed again with another name": 1}


BROKEN = {
    "0.0.0.0/0": "wider than a LAN",
    "198.18.0.0/18": "wider than a LAN",
    "2001::/20": "wider than a LAN",
    "10.0.0.1/24": "bits set beyond the prefix length",
    "10.0.0.0/33": "not a prefix",
    "10.0.0.1": "not a prefix",
    "::ffff:0:0/100": "covers IPv4-mapped space",
    "\x00\xff": "not a prefix",
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_prefixes_are_counted_and_set_aside(read, text):
    table, report, other = read(f"{text}\n10.9.0.0/24 good\n", {"data": [IXPFX | {"prefix": text}]})
    assert report.rejected == other.rejected == {BROKEN[text]: 1}
    assert report.samples[0].place == "line 1"
    assert lans(table, "10.9.0.1", "10.0.0.1") == ["good", ""]


@pytest.mark.parametrize(
    "row", [{"asn": "x"}, {"asn": 1 << 32}, {"asn": True}, {"asn": None}, {"ipaddr4": 5},
            {"ipaddr4": "1.2.3.400"}, {"ipaddr4": ["1.2.3.4"]}],
)  # fmt: skip
def test_broken_members_are_counted_and_set_aside(read, row):
    only_v4 = NETIXLAN | {"ipaddr6": None}
    table, report = read(DUMP | {"netixlan": {"data": [only_v4 | row, only_v4, "x", None]}})
    assert members(table) == [(V4, 714)]
    assert sum(report.rejected.values()) == 3
    assert report.rejected["not an entry"] == 2


def test_names_are_one_line_of_text(read):
    hostile = "<script>\x1b[31m\u202eevil\n" + "x" * MAX_NAME
    table, report = read({"data": [CAIDA_IX | {"name": hostile}]})
    (name,) = table.names
    assert name.startswith("<script>[31mevilx")
    assert len(name) == MAX_NAME
    assert set(report.notes.values()) == {1}


def test_lines_that_are_no_json_are_set_aside(read):
    text = lines(CAIDA_IX) + '{"prefixes":\n[1\n'
    table, report = read(text)
    assert lans(table, V4) == ["France-IX"]
    assert report.rejected == {"not valid JSON": 2}


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[{}]", b'{"message": "throttled"}', b"[3]", b'"x"', b"{", b"3\n",
             b"\x1f\x8b\x08", b"[[[[", json.dumps({"data": [IX]})],
)  # fmt: skip
def test_a_file_without_a_lan_is_refused(read, data):
    table, report = read(data)
    assert report.status == "rejected"
    assert report.error.startswith(report.path)
    assert table.names == ()
    assert table.find(parse_addrs([V4])).tolist() == [-1]


EMPTY = (
    b'{"ix": {"data": []}, "ixlan": {"data": []}, "ixpfx": {"data": []}, "netixlan": {"data": []}}',
    b'{"data": [], "meta": {}}',
    b"[]",
    b"prefix,name,asn\n",
    b"subnet,short_name,status\n10.1.2.0/24,A,Down\n",
)


@pytest.mark.parametrize("data", EMPTY)
def test_a_file_of_a_known_form_without_entries_is_valid(read, data):
    table, report = read(data)
    assert (report.status, report.error, report.n_records) == ("ok", "", 0)
    assert table.find(parse_addrs([V4])).tolist() == [-1]
    table, report, other = read(data, b"10.9.0.0/24 good\n")
    assert (report.status, other.status) == ("ok", "ok")
    assert lans(table, "10.9.0.1") == ["good"]


@pytest.mark.parametrize("line", ["10.8.0.0/24,a\rb,7", '10.8.0.0/24,"' + "x" * 200_000 + '",7'])
def test_a_line_that_is_no_csv_is_counted_and_set_aside(read, line):
    table, report = read(f"{line}\n10.9.0.0/24,good,8\n")
    assert report.rejected == {"not a prefix": 1}
    assert report.samples[0].place == "line 1"
    assert lans(table, "10.9.0.1", "10.8.0.1") == ["good", ""]
