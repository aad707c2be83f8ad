"""Prefix tables: what is read, and longest-prefix match against brute force."""

import bz2
import csv
import gzip
import ipaddress
import itertools
import lzma
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.errors import HostMemoryError
from pipeline.errors import UsageError
from pipeline.ingest.tables import read_prefixes
from pipeline.ingest.tables.prefixes.origins import prefixes_of
from pipeline.ingest.tables.prefixes.v4_prefixes import V4Prefixes
from pipeline.model.measured.reading import ReadReport
from tests.addresses import parse_addrs
from tests.contracts.trace_reader import mutations
from tests.real_data import real_data
from tests.soak import examples
from tests.tables import table_of_files


def read(tmp_path, *texts):
    paths, reports = [], []
    for i, text in enumerate(texts):
        path = tmp_path / f"{i}.pfx2as"
        path.write_bytes(text.encode())
        paths.append(path)
        reports.append(ReadReport(str(path)))
    return table_of_files(read_prefixes, paths, reports), reports


def lookup(table, *addrs):
    return table.lookup(parse_addrs(addrs)).tolist()


def test_the_longest_prefix_wins_and_gaps_belong_to_nobody(tmp_path):
    table, _ = read(tmp_path, "20.0.0.0\t8\t1\n20.1.0.0\t16\t2\n20.1.2.0\t24\t3\n20.1.2.3\t32\t4\n")
    assert table.n_prefixes == 4
    addrs = (
        "19.255.255.255 20.0.0.0 20.1.0.0 20.1.1.255 20.1.2.2 20.1.2.3 20.1.2.4 20.1.3.0 21.0.0.0"
    )
    assert lookup(table, *addrs.split()) == [-1, 1, 2, 2, 3, 4, 3, 2, -1]


def test_both_families_in_one_table_to_the_ends_of_the_space(tmp_path):
    text = (
        "0.0.0.0\t1\t1\n128.0.0.0\t1\t2\n2600::\t16\t3\nffff::\t16\t4\n::\t96\t5\n2600::1\t128\t6\n"
    )
    table, _ = read(tmp_path, text)
    last = ":".join(["ffff"] * 8)
    addrs = f"0.0.0.0 127.255.255.255 255.255.255.255 2600::1 2600::2 2601:: {last} ::1 0:0:0:1::"
    assert lookup(table, *addrs.split()) == [1, 1, 2, 6, 3, -1, 4, 5, -1]


def test_an_ipv6_prefix_never_routes_ipv4(tmp_path):
    table, _ = read(tmp_path, "::\t1\t64500\n::ffff:0:0\t96\t64501\n20.1.0.0\t16\t1\n")
    assert table.n_prefixes == 1
    assert lookup(table, "20.1.0.1", "20.2.0.1", "2600::1") == [1, -1, -1]


def test_multi_origins_take_the_first_and_sets_the_smallest(tmp_path):
    table, (report,) = read(
        tmp_path, "20.1.0.0 16 30_10_20\n20.2.0.0 16 9,7\n20.3.0.0 16 8,6_5\n2600:: 32 3_2\n"
    )
    assert lookup(table, "20.1.0.1", "20.2.0.1", "20.3.0.1", "2600::1") == [30, 7, 6, 3]
    assert report.n_records == 4
    assert report.notes == {"multi-origin": 2, "AS set": 2}


def test_a_prefix_of_two_origins_is_that_of_the_one_with_less_space_of_its_own(tmp_path):
    texts = ["20.1.0.0 16 1\n20.2.0.0 24 2\n", "20.3.0.0 24 1_2\n2600:: 32 1_2\n20.4.0.0 24 2_3\n"]
    for order in (texts, texts[::-1]):
        table, _ = read(tmp_path, *order)
        assert lookup(table, "20.3.0.1", "2600::1", "20.4.0.1") == [2, 2, 3]


def test_nestedprefixes_of_an_as_count_once(tmp_path):
    rows = "20.0.0.0 8 1\n20.0.0.0 9 1\n30.0.0.0 8 6\n31.0.0.0 10 6\n40.0.0.0 8 1_6\n"
    table, _ = read(tmp_path, rows)
    assert lookup(table, "40.0.0.1") == [1]
    rows = "2600:: 20 1\n2600:: 21 1\n2700:: 20 6\n2800:: 22 6\n2a00:: 32 6_1\n"
    table, _ = read(tmp_path, rows)
    assert lookup(table, "2a00::1") == [1]


def test_the_family_of_a_prefix_decides_whose_space_is_less(tmp_path):
    rows = "20.0.0.0 8 1\n30.0.0.0 16 2\n2600:: 48 1\n2700:: 32 2\n40.0.0.0 8 1_2\n2a00:: 32 2_1\n"
    table, _ = read(tmp_path, rows)
    assert lookup(table, "40.0.0.1", "2a00::1") == [2, 1]


def _covered(prefixes, asn, version):
    """Addresses in the prefixes of an AS, by collapsing them."""
    nets = {ipaddress.ip_network(p) for p, origins in prefixes if origins == [asn]}
    return sum(
        net.num_addresses
        for net in ipaddress.collapse_addresses(n for n in nets if n.version == version)
    )


_near = st.builds(
    lambda v6, at, bits: ipaddress.ip_network(
        (at << (124 if v6 else 28) | (1 << 125 if v6 else 0), bits + 2), strict=False
    ),
    st.booleans(),
    st.integers(0, 7),
    st.integers(2, 6),
).filter(lambda net: int(net.network_address) > 0)


@settings(max_examples=examples(200), deadline=None)
@given(
    prefixes=st.lists(st.tuples(_near.map(str), st.sampled_from([[1], [2], [3]])), max_size=20),
    shared=st.lists(st.permutations([1, 2, 3]), min_size=2, max_size=2),
)
def test_the_origin_of_least_covered_space_is_that_of_an_independent_count(
    tmp_path_factory, prefixes, shared
):
    wanted = ["200.0.0.0/8", "3fff::/16"]
    rows = [*prefixes, *zip(wanted, shared, strict=True)]
    lines = (f"{p.replace('/', ' ')} {'_'.join(map(str, o))}\n" for p, o in rows)
    table, _ = read(tmp_path_factory.mktemp("space"), "".join(lines))
    for addr, origins, family in zip(
        ("200.0.0.1", "3fff::1"), shared, ((4, 6), (6, 4)), strict=True
    ):
        least = min(origins, key=lambda a, by=family: [_covered(prefixes, a, v) for v in by])
        assert lookup(table, addr) == [least]


@pytest.mark.parametrize("prefix", ["20.1.0.0\t16", "2600::\t32"])
def test_of_two_files_the_first_counts_and_in_one_the_smaller_origin(tmp_path, prefix):
    addr = prefix.partition("\t")[0]
    texts = [f"{prefix}\t5\n", f"{prefix}\t3\n"]
    for order, expected in ((texts, 5), (texts[::-1], 3)):
        table, reports = read(tmp_path, *order)
        assert lookup(table, addr) == [expected]
        assert reports[0].notes == {"listed again with another origin": 1}
    table, _ = read(tmp_path, "".join(texts))
    assert lookup(table, addr) == [3]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("20.1.0.0\t16", "not prefix, length, origin"),
        ("20.1.0\t16\t1", "not an address"),
        ("20.1.0.256\t32\t1", "not an address"),
        ("host\t16\t1", "not an address"),
        ("20.1.0.0\t33\t1", "not a prefix length"),
        ("2600::\t129\t1", "not a prefix length"),
        ("20.1.0.0\t-1\t1", "not a prefix length"),
        ("20.1.2.0\t16\t1", "bits set beyond the prefix length"),
        ("2600::1\t64\t1", "bits set beyond the prefix length"),
        ("0.0.0.0\t0\t1", "a default route"),
        ("::\t0\t1", "a default route"),
        ("198.051.100.0\t24\t1", "not an address"),  # 51, or octal 41
        ("192.00.2.0\t24\t1", "not an address"),
        ("198.51.100.0\t24\t4.65536", "origin is not an AS number"),
        ("198.51.100.0\t24\t{1,2", "origin is not an AS number"),
        ("198.51.100.0\t24\t-1000", "origin is not an AS number"),
        ("198.51.100.0\t24\tASN1", "origin is not an AS number"),
        ("198.51.100.0,24,1", "not prefix, length, origin"),
        ("::\t1\t1", "covers IPv4-mapped space"),
        ("::\t64\t1", "covers IPv4-mapped space"),
        ("::ffff:0:0\t96\t1", "covers IPv4-mapped space"),
        ("::ffff:20.2.0.0\t112\t1", "covers IPv4-mapped space"),
        ("20.1.0.0\t16\t0", "origin is not an AS number"),
        ("20.1.0.0\t16\t4294967296", "origin is not an AS number"),
        ("20.1.0.0\t16\t1_", "origin is not an AS number"),
        ("20.1.0.0\t16\tAS", "origin is not an AS number"),
        ("2600::\t32\t99999999999", "origin is not an AS number"),
    ],
)
def test_a_broken_line_is_counted_by_reason_and_the_rest_is_used(tmp_path, line, reason):
    text = f"# a comment\n20.2.0.0\t16\t2\r\n\n{line}\n20.3.0.0\t16\t4294967295"
    table, (report,) = read(tmp_path, text)
    assert lookup(table, "20.2.0.1", "20.3.0.1") == [2, 4294967295]
    assert dict(report.rejected) == {reason: 1}
    assert report.samples[0].place == "line 4"
    assert report.status == "ok"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_tables_are_detected_by_content_and_a_cut_one_is_partial(tmp_path, pack):
    text = "".join(f"20.{i // 256}.{i % 256}.0\t24\t{i + 1}\n" for i in range(40_000)).encode()
    path = tmp_path / "table"
    path.write_bytes(pack(text))
    report = ReadReport(str(path))
    assert table_of_files(read_prefixes, [path], [report]).n_prefixes == 40_000
    assert (report.status, report.size_bytes) == ("ok", path.stat().st_size)
    path.write_bytes(pack(text)[:-30])
    report = ReadReport(str(path))
    table_of_files(read_prefixes, [path], [report])
    assert report.status in ("partial", "rejected")
    assert str(path) in report.error
    assert report.error.endswith("stop before their end; copy the file again")


@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 500, b"<html>\n</html>\n", b"\x1f\x8bxx"])
def test_a_file_that_is_no_table_is_rejected_by_name_without_an_exception(tmp_path, content):
    path = tmp_path / "junk"
    path.write_bytes(content)
    report = ReadReport(str(path))
    assert table_of_files(read_prefixes, [path], [report]).n_prefixes == 0
    assert report.status == "rejected"
    assert "junk" in report.error


def test_a_pipe_is_refused(piped):
    report = ReadReport("x")
    assert table_of_files(read_prefixes, [piped("20.1.0.0\t16\t1\n")], [report]).n_prefixes == 0
    assert report.status == "rejected"
    assert "is a socket, pipe or device, not a file; give a regular file" in report.error


def test_a_folder_is_refused_and_a_file_requested(tmp_path):
    report = ReadReport(str(tmp_path))
    assert table_of_files(read_prefixes, [tmp_path], [report]).n_prefixes == 0
    assert (report.status, report.error) == ("rejected", f"{tmp_path}: is a folder; give a file")


def test_a_missing_table_is_rejected_by_name(tmp_path):
    report = ReadReport(str(tmp_path / "nowhere"))
    assert table_of_files(read_prefixes, [tmp_path / "nowhere"], [report]).n_prefixes == 0
    assert "nowhere" in report.error
    assert "No such file" in report.error


_V4 = st.builds(lambda n, bits: (4, n, bits), st.integers(0, 2**32 - 1), st.integers(1, 32))
_V6 = st.builds(lambda n, bits: (6, n, bits), st.integers(0, 2**128 - 1), st.integers(1, 128))
# Few distinct leading bits, so that prefixes nest.
_NESTED = st.builds(lambda n, bits: (4, n << 24, bits), st.integers(0, 255), st.integers(1, 12))


def _network(family, number, bits):
    make = ipaddress.IPv4Network if family == 4 else ipaddress.IPv6Network
    return make((number, bits), strict=False)


@settings(max_examples=examples(120), deadline=None)
@given(st.lists(st.one_of(_NESTED, _NESTED, _V4, _V6), min_size=1, max_size=25), st.data())
def test_lookup_agrees_with_brute_force(tmp_path_factory, prefixes, data):
    # IPv4 is kept in this range: an IPv6 prefix that overlaps it is rejected.
    mapped = ipaddress.ip_network("::ffff:0:0/96")
    distinct = {_network(*p) for p in prefixes}
    networks = [n for n in distinct if n.version == 4 or not n.overlaps(mapped)]
    text = "".join(f"{n.network_address}\t{n.prefixlen}\t{i + 1}\n" for i, n in enumerate(networks))
    table, _ = read(tmp_path_factory.mktemp("t"), text)
    addrs = []
    for network in networks:
        edges = int(network.network_address), int(network.broadcast_address)
        numbers = (edges[0] - 1, edges[0], edges[1], edges[1] + 1)
        addrs += [
            type(network.network_address)(number)
            for number in numbers
            if 0 <= number < 2**network.max_prefixlen
        ]
    addrs.append(ipaddress.IPv4Address(data.draw(st.integers(0, 2**32 - 1))))
    addrs = [a for a in addrs if a.version == 4 or a not in mapped]
    expected = []
    for addr in addrs:
        holding = [
            (n.prefixlen, i + 1)
            for i, n in enumerate(networks)
            if n.version == addr.version and addr in n
        ]
        expected.append(max(holding)[1] if holding else -1)
    assert table.lookup(parse_addrs(map(str, addrs))).tolist() == expected


def test_real_tables_read_whole_with_their_multi_origins(tmp_path):
    path = real_data("ip2as/RouteViewIPv4.incomplete.gz")
    report = ReadReport(str(path))
    table = table_of_files(read_prefixes, [path], [report])
    assert report.n_records == 22115
    assert not report.rejected
    assert report.notes["multi-origin"] == 117
    assert report.notes["AS set"] == 1
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    rows = [line.split("\t") for line in lines]
    nets = {(int(ipaddress.IPv4Address(a)), int(n)): origin for a, n, origin in rows}
    rng = np.random.default_rng(1)
    addrs = [int(ipaddress.IPv4Address(rows[i][0])) + 5 for i in rng.integers(0, len(rows), 300)]
    for addr, got in zip(addrs, lookup(table, *map(_dotted, addrs)), strict=True):
        expected = -1
        for bits in range(32, 0, -1):
            origin = nets.get((addr >> (32 - bits) << (32 - bits), bits))
            if origin:
                expected = min(map(int, origin.split("_")[0].split(",")))
                break
        assert got == expected


def test_the_real_ipv6_table_reads(tmp_path):
    path = real_data("ip2as/RouteViewIPv6.incomplete.gz")
    report = ReadReport(str(path))
    table_of_files(read_prefixes, [path], [report])
    assert report.n_records == 119
    assert not report.rejected


def _dotted(number):
    return str(ipaddress.IPv4Address(number))


FORMS = [
    ("1.0.0.0\t24\t15169\n1.0.4.0\t22\t56203\n2001:db8::\t32\t196608\n", "pfx2as"),
    (
        "; IP-ASN32-DAT file\n; Prefixes : 2\n1.0.0.0/24\t15169\n1.0.4.0/22\t56203\n"
        "2001:db8::/32 196608\n",
        "prefix list",
    ),
    ("1.0.0.0/24 AS15169 x y\n1.0.4.0/22 as56203\n2001:db8::/32 3.0\n", "prefix list"),
    ("prefix,origin\n1.0.0.0/24,15169\n1.0.4.0/22,AS56203\n2001:db8::/32,3.0\n", "prefix CSV"),
    ("1.0.0.0/24,15169\n1.0.4.0/22, 56203\n2001:db8::/32,196608\n", "prefix CSV"),
    (
        'asn,name,network\n15169,"Google, Inc.",1.0.0.0/24\n56203,x,"1.0.4.0/22"\n'
        "196608,,2001:db8::/32\n",
        "prefix CSV",
    ),
    ("1.0.0.0,24,15169\n1.0.4.0,22,56203\n2001:db8::,32,196608\n", "prefix CSV"),
    (
        '1.0.0.0,1.0.0.255,15169,"Google, Inc."\n1.0.4.0,1.0.7.255,56203,Gtelecom\n'
        "2001:db8::,2001:db8:ffff:ffff:ffff:ffff:ffff:ffff,196608,x\n",
        "ranges",
    ),
    (
        "1.0.0.0\t1.0.0.255\t15169\tUS\tG\n1.0.4.0\t1.0.7.255\t56203\tAU\tX Y\n"
        "2001:db8::\t2001:db8:ffff:ffff:ffff:ffff:ffff:ffff\t196608\tNone\tNone\n",
        "ranges",
    ),
    (
        "ASN,IP Prefix,Max Length,Trust Anchor\nAS15169,1.0.0.0/24,24,apnic\n"
        "AS56203,1.0.4.0/22,22,apnic\nAS196608,2001:db8::/32,32,ripe\n",
        "roas",
    ),
    (
        '{"roas": [{"asn": "AS15169", "prefix": "1.0.0.0/24", "maxLength": 24, "ta": "apnic"},'
        '{"asn": 56203, "prefix": "1.0.4.0/22", "maxLength": 24, "ta": "apnic"},\n'
        '{"prefix": "2001:db8::/32", "maxLength": 32, "asn": "AS196608", "ta": "x"}]}',
        "roas",
    ),
    (
        '{"meta": {"x": 1}, "pfx2as": [{"prefix": "1.0.0.0/24", "count": 54, "asn": 15169},'
        '{"prefix": "1.0.4.0/22", "count": 5, "asn": 56203},'
        '{"prefix":"2001:db8::/32","count":1,"asn":196608}]}',
        "bgpkit",
    ),
]


@pytest.mark.parametrize(("text", "form"), FORMS)
def test_every_form_of_a_table_gives_the_same(tmp_path, text, form):
    table, (report,) = read(tmp_path, text)
    assert (report.status, report.format, report.n_records) == ("ok", form, 3)
    assert not report.rejected + report.notes
    addrs = "1.0.0.255 1.0.1.0 1.0.4.0 1.0.7.255 1.0.8.0 2001:db8::1 2001:db9::"
    assert lookup(table, *addrs.split()) == [15169, -1, 56203, 56203, -1, 196608, -1]


@settings(max_examples=examples(150), deadline=None)
@given(data=st.data())
def test_mutated_tables_of_any_form_give_a_table_or_a_reason(tmp_path_factory, data):
    text, _ = data.draw(st.sampled_from(FORMS))
    path = tmp_path_factory.mktemp("mutated") / "table"
    path.write_bytes(data.draw(mutations(text.encode())))
    report = ReadReport(str(path))
    table = table_of_files(read_prefixes, [path], [report])
    assert (table.n_prefixes > 0) <= (report.n_records > 0)
    assert report.n_records > 0 or (report.status == "rejected" and report.error)
    assert (table.v4_first[1:] > table.v4_first[:-1]).all()


ONE_RECORD = '[{"prefix": "1.0.0.0/24", "asn": 1}, '


@pytest.mark.parametrize(
    ("text", "rejected"),
    [
        ("1.0.0.0/24 1\n20.0.0.0/8\n", "not prefix/length, origin"),
        ("1.0.0.0/24 1\n20.0.0.1/8 2\n", "bits set beyond the prefix length"),
        ("1.0.0.0/24,1\n20.0.0.0,2\n", "not a prefix length"),
        ("1.0.0.0,1.0.0.255,1\n20.0.0.9,20.0.0.8,2\n", "not a range"),
        ("1.0.0.0,1.0.0.255,1\n20.0.0.9,::1,2\n", "not a range"),
        ("1.0.0.0,1.0.0.255,1\n0.0.0.0,255.255.255.255,2\n", "a default route"),
        ("1.0.0.0,1.0.0.255,1\n::,ffff::,2\n", "covers IPv4-mapped space"),
        ("1.0.0.0,1.0.0.255,1\n20.0.0.0,20.0.0.255,0\n", "origin is not an AS number"),
        (ONE_RECORD + '{"prefix": "20.0.0.0/8"}]', "origin is not an AS number"),
        (ONE_RECORD + '{"prefix": 20, "asn": 1}]', "not an address"),
    ],
)
def test_a_broken_row_of_any_form_is_counted_and_the_rest_is_used(tmp_path, text, rejected):
    table, (report,) = read(tmp_path, text)
    assert lookup(table, "1.0.0.1", "20.0.0.1") == [1, -1]
    assert dict(report.rejected) == {rejected: 1}
    assert report.samples[0].place.split() == [report.samples[0].place.split()[0], "2"]


def test_marks_that_are_no_as_are_skipped(tmp_path):
    table, (report,) = read(tmp_path, "20.0.0.0/8 1\n30.0.0.0/8 -100\n10.0.0.0/8 -2\n")
    assert lookup(table, "20.0.0.1", "30.0.0.1") == [1, -1]
    assert report.skipped == {"marks that are no AS (below 0)": 2}


def test_most_peers_decide_and_equal_ones_are_a_multi_origin(tmp_path):
    rows = [("20.0.0.0/8", 5, 1), ("20.0.0.0/8", 6, 2), ("30.0.0.0/8", 5, 1), ("30.0.0.0/8", 7, 1)]
    rows += [("40.0.0.0/8", 5, 9), ("2600::/16", 7, 1), ("2600::/16", 5, 3)]
    records = [f'{{"prefix": "{p}", "asn": {a}, "count": {n}}}' for p, a, n in rows]
    one, other = (f"[{','.join(part)}]" for part in (records[:3], records[3:]))
    for texts in ((one, other), (other, one), (f"[{','.join(records)}]",)):
        table, _ = read(tmp_path, *texts)
        addrs = ("20.0.0.1", "30.0.0.1", "40.0.0.1", "2600::1")
        assert lookup(table, *addrs) == [6, 7, 5, 5]  # AS 5 has more space of its own than AS 7


def test_what_is_announced_counts_before_ranges_and_these_before_roas(tmp_path):
    roas = "ASN,IP Prefix,Max Length\nAS3,20.0.0.0/8,24\nAS3,21.0.0.0/8,8\nAS3,22.0.0.0/8,8\n"
    roas += "AS7,40.0.0.0/8,8\nAS3,2600::/16,32\nAS1,2700::/16,32\n"
    ranges = "20.0.0.0,21.255.255.255,2\n2600::,2600:ffff::,2\n"
    announced = "20.0.0.0 16 1\n2600:: 32 1\n2700:: 16 1\n40.0.0.0 8 5_7\n50.0.0.0 8 7\n"
    texts = {"roas": roas, "ranges": ranges, "pfx2as": announced}
    for order in itertools.permutations(texts):
        table, reports = read(tmp_path, *(texts[name] for name in order))
        addrs = ["20.0.0.1", "20.1.0.0", "21.0.0.1", "22.0.0.1", "23.0.0.1", "40.0.0.1"]
        assert lookup(table, *addrs) == [1, 2, 2, 3, -1, 7]
        assert lookup(table, "2600::1", "2600:1::", "2600:ffff::1", "2700::1") == [1, 2, 3, 1]
        by_form = dict(zip(order, reports, strict=True))
        assert by_form["roas"].notes == {"prefixes that another AS announces": 2}


@settings(max_examples=examples(80), deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 200), st.integers(0, 60)), min_size=1, max_size=8
    )
)
def test_ranges_are_cut_into_the_fewest_prefixes(ranges):
    ends = []
    for is_v4, first, n in ranges:
        base = 0xFFFF_1400_0000 if is_v4 else (0x2600 << 112) - 100  # across words, too
        ends.append((base + first, base + first + n))
    words = np.array([[divmod(end, 1 << 64) for end in pair] for pair in ends], np.uint64)
    row, start, bits = prefixes_of(words[:, 0].copy(), words[:, 1].copy())
    for i, (first, last) in enumerate(ends):
        wanted = ipaddress.summarize_address_range(
            ipaddress.IPv6Address(first), ipaddress.IPv6Address(last)
        )
        mine = row == i
        got = [(int(h) << 64) | int(low) for h, low in start[mine].tolist()]
        assert list(zip(got, bits[mine].tolist(), strict=True)) == [
            (int(net.network_address), net.prefixlen) for net in wanted
        ]


def test_a_registry_is_named_with_a_conversion_that_is_read(tmp_path):
    text = "route:      198.51.100.0/24\norigin:     AS64497\nmnt-by:     X\nsource:     RADB\n\n"
    text += "route6: 2001:db8::/32\norigin: AS64498\n"
    table, (report,) = read(tmp_path, text)
    assert (table.n_prefixes, report.status) == (0, "rejected")
    made = report.error.partition("convert them: ")[2]
    made = made.replace("FILE.txt", str(tmp_path / "new"))
    made = made.replace("FILE", str(tmp_path / "0.pfx2as"))
    subprocess.run(made, shell=True, check=True)
    table = table_of_files(read_prefixes, [tmp_path / "new"], [ReadReport("new")])
    assert lookup(table, "198.51.100.9", "2001:db8::1") == [64497, 64498]


def test_real_tables_of_other_forms_read_whole():
    path = real_data("ip2as/ipasn_20140513.dat.gz")
    report = ReadReport(str(path))
    table_of_files(read_prefixes, [path], [report])
    assert (report.n_records, dict(report.rejected)) == (512621, {})
    path = real_data("ip2as/asn-ipv6.csv.gz")
    report = ReadReport(str(path))
    table = table_of_files(read_prefixes, [path], [report])
    assert (report.n_records, dict(report.rejected)) == (103197, {})
    rng = np.random.default_rng(2)
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    for row in csv.reader(lines[i] for i in rng.integers(0, len(lines), 300)):
        assert lookup(table, row[0], row[1]) == [int(row[2])] * 2


@pytest.mark.parametrize("error", [HostMemoryError("12 bytes needed"), MemoryError()])
def test_a_table_beyond_memory_ends_in_one_line(tmp_path, monkeypatch, error):
    def refuse(n_bytes, what):
        raise error

    monkeypatch.setattr("pipeline.ingest.tables.prefixes.v4_prefixes.check_fits", refuse)
    text = "".join(f"{20 + i // 65536}.{i // 256 % 256}.{i % 256}.0 24 7\n" for i in range(70000))
    with pytest.raises(UsageError, match=r"0\.pfx2as: the prefix tables do not fit into memory at"):
        read(tmp_path, text)


@given(st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 32), st.integers(1, 5))))
@settings(max_examples=examples(60), deadline=None)
def test_ipv4_intervals_are_minimal_and_match_brute_force(rows):
    table = V4Prefixes()
    rows = [(addr >> (32 - length) << (32 - length), length, asn) for addr, length, asn in rows]
    if rows:
        table.add(*np.array(rows, np.int64).T)
    first, asn, n_prefixes, _ = table.intervals()
    assert n_prefixes == len({row[:2] for row in rows})
    assert np.all(first[1:] > first[:-1])
    assert np.all(asn[1:] != asn[:-1])
    edges = [addr + step for addr, length, _ in rows for step in (-1, 0, 1 << (32 - length))]
    for addr in {edge for edge in edges if 0 <= edge < 2**32}:
        around = [row for row in rows if row[0] <= addr < row[0] + (1 << (32 - row[1]))]
        longest = max((row[1] for row in around), default=0)
        best = min((row[2] for row in around if row[1] == longest), default=0)
        at = int(np.searchsorted(first, addr, side="right")) - 1
        assert (int(asn[at]) if at >= 0 else 0) == best
