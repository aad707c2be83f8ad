"""Prefix tables: what is read, and longest-prefix match against brute force."""

import bz2
import gzip
import ipaddress
import lzma
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.errors import HostMemoryError
from pipeline.errors import UsageError
from pipeline.ingest.tables import read_pfx2as
from pipeline.ingest.tables.pfx2as.v4_prefixes import V4Prefixes
from pipeline.model.measured.reading import ReadReport
from tests.addresses import parse_addrs
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
    return table_of_files(read_pfx2as, paths, reports), reports


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


def test_nested_prefixes_of_an_as_count_once(tmp_path):
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


def test_the_same_prefix_with_another_origin_takes_the_smaller_in_either_order(tmp_path):
    texts = ["20.1.0.0\t16\t5\n", "20.1.0.0\t16\t3\n"]
    for order in (texts, texts[::-1]):
        table, reports = read(tmp_path, *order)
        assert lookup(table, "20.1.0.1") == [3]
        assert reports[0].notes == {"listed again with another origin": 1}


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
        ("198.51.100.0\t24\t4.603", "origin is not an AS number"),
        ("198.51.100.0\t24\t{1,2}", "origin is not an AS number"),
        ("198.51.100.0\t24\t-100", "origin is not an AS number"),
        ("198.51.100.0\t24\tAS1", "origin is not an AS number"),
        ("198.51.100.0,24,1", "not prefix, length, origin"),
        ("::\t1\t1", "covers IPv4-mapped space"),
        ("::\t64\t1", "covers IPv4-mapped space"),
        ("::ffff:0:0\t96\t1", "covers IPv4-mapped space"),
        ("::ffff:20.2.0.0\t112\t1", "covers IPv4-mapped space"),
        ("20.1.0.0\t16\t0", "origin is not an AS number"),
        ("20.1.0.0\t16\t4294967296", "origin is not an AS number"),
        ("20.1.0.0\t16\t1_", "origin is not an AS number"),
        ("20.1.0.0\t16\t1.10", "origin is not an AS number"),
        ("20.1.0.0\t16\tAS1", "origin is not an AS number"),
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
    assert table_of_files(read_pfx2as, [path], [report]).n_prefixes == 40_000
    assert (report.status, report.size_bytes) == ("ok", path.stat().st_size)
    path.write_bytes(pack(text)[:-30])
    report = ReadReport(str(path))
    table_of_files(read_pfx2as, [path], [report])
    assert report.status in ("partial", "rejected")
    assert str(path) in report.error
    assert report.error.endswith("stop before their end; copy the file again")


@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 500, b"<html>\n</html>\n", b"\x1f\x8bxx"])
def test_a_file_that_is_no_table_is_rejected_by_name_without_an_exception(tmp_path, content):
    path = tmp_path / "junk"
    path.write_bytes(content)
    report = ReadReport(str(path))
    assert table_of_files(read_pfx2as, [path], [report]).n_prefixes == 0
    assert report.status == "rejected"
    assert "junk" in report.error


def test_a_pipe_is_refused(piped):
    report = ReadReport("x")
    assert table_of_files(read_pfx2as, [piped("20.1.0.0\t16\t1\n")], [report]).n_prefixes == 0
    assert report.status == "rejected"
    assert "is a socket, pipe or device, not a file; give a regular file" in report.error


def test_a_folder_is_refused_and_a_file_requested(tmp_path):
    report = ReadReport(str(tmp_path))
    assert table_of_files(read_pfx2as, [tmp_path], [report]).n_prefixes == 0
    assert (report.status, report.error) == ("rejected", f"{tmp_path}: is a folder; give a file")


def test_a_missing_table_is_rejected_by_name(tmp_path):
    report = ReadReport(str(tmp_path / "nowhere"))
    assert table_of_files(read_pfx2as, [tmp_path / "nowhere"], [report]).n_prefixes == 0
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
    table = table_of_files(read_pfx2as, [path], [report])
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
    table_of_files(read_pfx2as, [path], [report])
    assert report.n_records == 119
    assert not report.rejected


def _dotted(number):
    return str(ipaddress.IPv4Address(number))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("; IP-ASN32-DAT file\n; Prefixes : 2\n1.0.0.0/24\t15169\n1.0.4.0/24\t56203\n", "pyasn"),
        (
            '1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."\n1.0.4.0,1.0.7.255,38803,Gtelecom\n',
            "ranges",
        ),
        ("2001::,2001::ffff,6939,HE\n", "ranges"),
    ],
)
def test_tables_of_other_tools_are_named_with_the_way_out(tmp_path, text, says):
    table, (report,) = read(tmp_path, text)
    assert table.n_prefixes == 0
    assert report.status == "rejected"
    assert says in report.error
    assert report.error.count("CAIDA") == 1
    if says == "pyasn":  # the conversion that is suggested gives this
        path = tmp_path / "0.pfx2as"
        made = report.error.partition("convert it: ")[2].replace("FILE.pfx2as", str(path) + ".new")
        subprocess.run(made.replace("FILE", str(path)), shell=True, check=True)
        table = table_of_files(read_pfx2as, [tmp_path / "0.pfx2as.new"], [ReadReport("new")])
        assert lookup(table, "1.0.0.9", "1.0.4.9", "1.0.1.1") == [15169, 56203, -1]


@pytest.mark.parametrize("error", [HostMemoryError("12 bytes needed"), MemoryError()])
def test_a_table_beyond_memory_ends_in_one_line(tmp_path, monkeypatch, error):
    def refuse(n_bytes, what):
        raise error

    monkeypatch.setattr("pipeline.ingest.tables.pfx2as.v4_prefixes.check_fits", refuse)
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
